import { sql } from 'kysely';
import { type AuthModel, type IdKind, indexName, type Organizations } from '@twofold/schema';
import {
  columnTypes,
  createFoldedIndex,
  type Dialect,
  type Kernel,
  LAST_OWNER,
  type Store,
} from '@twofold/runtime/kernel';
import type { Db } from '../base/tables.ts';
import { isLastFirst } from './memberships.ts';
import { createOrderIndexes, createSearchIndexes, searchKeys } from './user-indexes.ts';
import { quotedIn, tableIn } from './adopted-table.ts';
import { otherOwner, type OwnerTable, wasOwner } from './owners.ts';
import { LOCK_RIGHTS } from './permissions.ts';
import { IDENTITY_FOLDS } from './user-directory.ts';

/** Tables of the module whose rows are deleted with their user. */
export const OWNED_TABLES = [
  ['auth_users', 'user_id'],
  ['auth_sessions', 'user_id'],
  ['auth_identities', 'user_id'],
  ['auth_passkeys', 'user_id'],
  ['auth_one_time_tokens', 'user_id'],
  ['auth_api_keys', 'owner_user_id'],
  ['auth_members', 'user_id'],
  ['auth_invitations', 'invited_by'],
  ['auth_recovery_codes', 'user_id'],
  ['auth_remembered_devices', 'user_id'],
  ['auth_email_sign_ins', 'user_id'],
] as const;

/**
 * Connects the user table to the module's tables when the server starts. One trigger deletes the
 * data of a user together with the user's row, also when SQL deletes the row directly: SQLite may
 * give the deleted key to the next user, who must not inherit a password. Another trigger keeps the
 * last owner. The unique indexes of addresses, usernames and phone numbers come from the project's
 * migrations; a table without migrations gets them here.
 */
export async function tieUserTable(
  { store, project }: Kernel,
  { user, roles, organizations }: AuthModel,
): Promise<void> {
  // The server never changes the structure of a database that another program made.
  if (project.unmanaged) return;
  const { table } = user;
  const place = tableIn(store.dialect, user);
  const inSql = quotedIn(store.dialect, user);
  const first = roles?.first ?? null;
  const softDelete = project.entities.find(({ name }) => name === user.entity)?.softDelete;
  const owners = first === null ? null : { table: inSql, softDelete, first };
  const create = store.dialect === 'postgres' ? createPostgresTrigger : createSqliteTrigger;
  await store.lock('auth-user-table', async () => {
    if (user.entity === null) await createUsers(store.db, table, project.ids);
    await indexIdentities(store, user);
    await createSearchIndexes(store.db, place, searchKeys({ ...user, table: place }));
    if (user.entity !== null || (await hasTimes(store, table)))
      await createOrderIndexes(store.db, place, { ...user, table: place });
    // Earlier versions created this index. The unique index replaces it.
    await store.db.schema.dropIndex(`auth_${table}_email`).ifExists().execute();
    const refuse = refusalOf(store.dialect, owners, organizations);
    const gone = { name: `auth_${table}_gone`, event: 'delete', refuse, deletes: deletions };
    await create(store.db, inSql, gone);
    if (softDelete) await create(store.db, inSql, softDeleteTrigger(table, softDelete, refuse));
    if (organizations)
      await create(
        store.db,
        quotedIn(store.dialect, organizations),
        organizationGone(organizations),
      );
  });
}

/**
 * When a trigger refuses a delete: for the last owner of the server, and for the last member with
 * the first role of an organization.
 */
function refusalOf(
  dialect: Dialect,
  place: OwnerTable | null,
  organizations: Organizations | undefined,
): UserTrigger['refuse'] {
  if (!organizations) return place && { where: wasOwner(place), unless: otherOwner(place) };
  const first = isLastFirst(dialect, organizations, 'old.id');
  if (!place) return { where: first, unless: 'false' };
  const owner = wasOwner(place);
  return {
    where: `(${owner} or ${first})`,
    unless: `(not ${first} and (not ${owner} or ${otherOwner(place)}))`,
  };
}

/**
 * Removes memberships and invitations with their organization. Its key may be used again, and a new
 * organization must not inherit members.
 */
const organizationGone = ({ table }: Organizations): UserTrigger => ({
  name: `auth_${table}_gone`,
  event: 'delete',
  refuse: null,
  deletes: ['auth_members', 'auth_invitations', 'auth_api_keys']
    .map((owned) => `delete from "${owned}" where organization_id = old.id;`)
    .join(' '),
});

function softDeleteTrigger(
  table: string,
  column: string,
  refuse: UserTrigger['refuse'],
): UserTrigger {
  const removed = `old."${column}" is null and new."${column}" is not null`;
  return {
    name: `auth_${table}_removed`,
    event: `update of "${column}"`,
    refuse: refuse && { ...refuse, where: `${removed} and ${refuse.where}` },
    deletes: '',
  };
}

async function indexIdentities(store: Store, user: AuthModel['user']): Promise<void> {
  const { table, columns } = user;
  for (const attribute of ['email', 'username', 'phone'] as const) {
    const column = columns[attribute];
    const name = column && indexName(table, [column, 'identity'], true);
    if (name && !(await hasIndex(store, name)))
      await createFoldedIndex(store.db, {
        name,
        table: tableIn(store.dialect, user),
        column,
        fold: IDENTITY_FOLDS[attribute],
      });
  }
}

/** Creates the user table of a schema without a type for users. */
export async function createUsers(db: Db, table: string, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('id', type.key)
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .addColumn('updated_at', type.timestamp, (column) => column.notNull())
    .execute();
}

/** Whether the table has our time columns. A table that is left from a removed type has others. */
async function hasTimes({ db }: Store, table: string): Promise<boolean> {
  const tables = await db.introspection.getTables();
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  return columns.some(({ name }) => name === 'created_at');
}

async function hasIndex({ db, dialect }: Store, name: string): Promise<boolean> {
  const { rows } = await (
    dialect === 'postgres'
      ? sql`select 1 from pg_class where relkind = 'i' and relname = ${name} and pg_table_is_visible(oid)`
      : sql`select 1 from sqlite_master where type = 'index' and name = ${name}`
  ).execute(db);
  return rows.length > 0;
}

/** A trigger for changes of a row of the user table. */
interface UserTrigger {
  readonly name: string;
  readonly event: string;
  /**
   * SQL conditions: refuse the change of a row that matches `where` unless `unless` holds. Null
   * when the manifest has no first role.
   */
  readonly refuse: { readonly where: string; readonly unless: string } | null;
  /** SQL that deletes the rows of the module. */
  readonly deletes: string;
}

const deletions = OWNED_TABLES.map(
  ([owned, column]) => `delete from "${owned}" where "${column}" = old.id;`,
).join(' ');

async function createSqliteTrigger(
  db: Db,
  table: string,
  { name, event, refuse, deletes }: UserTrigger,
): Promise<void> {
  const refusal = refuse
    ? `select raise(abort, '${LAST_OWNER}') where ${refuse.where} and not ${refuse.unless};`
    : 'select 1;';
  const text = `trigger "${name}" after ${event} on ${table} begin ${refusal} ${deletes} end`;
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where type = 'trigger' and name = ${name}`.execute(db);
  if (rows[0]?.sql.toLowerCase() === `create ${text}`.toLowerCase()) return;
  await sql`drop trigger if exists ${sql.id(name)}`.execute(db);
  await sql.raw(`create ${text}`).execute(db);
}

/**
 * The function is replaced at every start, because the manifest may name another role. The trigger
 * is created only once.
 */
async function createPostgresTrigger(
  db: Db,
  table: string,
  { name, event, refuse, deletes }: UserTrigger,
): Promise<void> {
  // When two owners are deleted at once, the second deletion waits here and then sees that the
  // first owner is gone.
  const refusal = refuse
    ? `if ${refuse.where} then ${LOCK_RIGHTS}; if not ${refuse.unless} then raise exception '${LAST_OWNER}'; end if; end if;`
    : '';
  await sql
    .raw(
      `create or replace function "${name}"() returns trigger language plpgsql as $body$ begin ${refusal} ${deletes} return null; end $body$`,
    )
    .execute(db);
  const known =
    await sql`select 1 from pg_trigger where tgname = ${name} and tgrelid = ${table}::regclass`.execute(
      db,
    );
  if (known.rows.length > 0) return;
  await sql
    .raw(
      `create trigger "${name}" after ${event} on ${table} for each row execute function "${name}"()`,
    )
    .execute(db);
}

/** Checks for SQLSTATE 23503 and 23001, or the message of SQLite. */
export function isForeignKeyViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    code === '23503' || code === '23001' || /FOREIGN KEY constraint failed/.test(String(message))
  );
}
