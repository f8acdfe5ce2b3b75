import { type Kysely, sql } from 'kysely';
import { indexName, type AuthModel } from '@twofold/schema';
import { type Kernel, LAST_OWNER, type Store, createFoldedIndex } from '@twofold/runtime/kernel';
import { otherOwner, wasOwner } from './owners.ts';
import { LOCK_RIGHTS } from './permissions.ts';
import { FOLDS } from './user-directory.ts';

/** Tables of the module whose rows belong to one user. */
const OWNED = [
  ['auth_users', 'user_id'],
  ['auth_sessions', 'user_id'],
  ['auth_identities', 'user_id'],
  ['auth_one_time_tokens', 'user_id'],
  ['auth_api_keys', 'owner_user_id'],
] as const;

/**
 * Ties the user table to the module's own, when the server starts: a trigger removes what belongs
 * to a user together with the row, however the row is deleted (SQLite may give a deleted key to the
 * next user, who must not inherit a password), and another keeps the last owner. The unique indexes
 * of addresses, usernames and phone numbers come from the project's migrations; a table without
 * migrations gets them here.
 */
export async function tieUserTable(
  { store, project }: Kernel,
  { user, roles }: AuthModel,
): Promise<void> {
  const { table } = user;
  const first = roles?.first ?? null;
  const softDelete = project.entities.find(({ name }) => name === user.entity)?.softDelete;
  const place = first === null ? null : { table, softDelete, first };
  const create = store.dialect === 'postgres' ? createPostgresTrigger : createSqliteTrigger;
  await store.lock('auth-user-table', async () => {
    await indexIdentities(store, user);
    // An index of earlier versions, which the unique one replaces.
    await store.db.schema.dropIndex(`auth_${table}_email`).ifExists().execute();
    const refuse = place && { where: wasOwner(place), unless: otherOwner(place) };
    const gone = { name: `auth_${table}_gone`, event: 'delete', refuse, deletes: true };
    await create(store.db, table, gone);
    if (softDelete) await create(store.db, table, removal(table, softDelete, refuse));
  });
}

function removal(table: string, column: string, refuse: UserTrigger['refuse']): UserTrigger {
  const removed = `old."${column}" is null and new."${column}" is not null`;
  return {
    name: `auth_${table}_removed`,
    event: `update of "${column}"`,
    refuse: refuse && { ...refuse, where: `${removed} and ${refuse.where}` },
    deletes: false,
  };
}

async function indexIdentities(store: Store, { table, columns }: AuthModel['user']): Promise<void> {
  for (const attribute of ['email', 'username', 'phone'] as const) {
    const column = columns[attribute];
    const name = column && indexName(table, [column, 'identity'], true);
    if (name && !(await hasIndex(store, name)))
      await createFoldedIndex(store.db, { name, table, column, fold: FOLDS[attribute] });
  }
}

async function hasIndex({ db, dialect }: Store, name: string): Promise<boolean> {
  const { rows } = await (
    dialect === 'postgres'
      ? sql`select 1 from pg_class where relkind = 'i' and relname = ${name} and pg_table_is_visible(oid)`
      : sql`select 1 from sqlite_master where type = 'index' and name = ${name}`
  ).execute(db);
  return rows.length > 0;
}

/** A trigger after a change of one row of the user table. */
interface UserTrigger {
  readonly name: string;
  readonly event: string;
  /**
   * SQL: the change of an owner's row is refused unless there is another owner. Null: no role is
   * the first.
   */
  readonly refuse: { readonly where: string; readonly unless: string } | null;
  /** Whether the rows of the module go with the user's. */
  readonly deletes: boolean;
}

const deletions = OWNED.map(
  ([owned, column]) => `delete from "${owned}" where "${column}" = old.id;`,
).join(' ');

async function createSqliteTrigger(
  db: Kysely<any>,
  table: string,
  { name, event, refuse, deletes }: UserTrigger,
): Promise<void> {
  const refusal = refuse
    ? `select raise(abort, '${LAST_OWNER}') where ${refuse.where} and not ${refuse.unless};`
    : 'select 1;';
  const text = `trigger "${name}" after ${event} on "${table}" begin ${refusal} ${deletes ? deletions : ''} end`;
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where type = 'trigger' and name = ${name}`.execute(db);
  if (rows[0]?.sql.toLowerCase() === `create ${text}`.toLowerCase()) return;
  await sql`drop trigger if exists ${sql.id(name)}`.execute(db);
  await sql.raw(`create ${text}`).execute(db);
}

/**
 * The function is made anew at every start, as the manifest may name another role; the trigger
 * itself only once.
 */
async function createPostgresTrigger(
  db: Kysely<any>,
  table: string,
  { name, event, refuse, deletes }: UserTrigger,
): Promise<void> {
  // Of two owners who are deleted at once, the second one waits here and then sees that the first
  // is gone.
  const refusal = refuse
    ? `if ${refuse.where} then ${LOCK_RIGHTS}; if not ${refuse.unless} then raise exception '${LAST_OWNER}'; end if; end if;`
    : '';
  await sql
    .raw(
      `create or replace function "${name}"() returns trigger language plpgsql as $body$ begin ${refusal} ${deletes ? deletions : ''} return null; end $body$`,
    )
    .execute(db);
  const known =
    await sql`select 1 from pg_trigger where tgname = ${name} and tgrelid = ${`"${table}"`}::regclass`.execute(
      db,
    );
  if (known.rows.length > 0) return;
  await sql
    .raw(
      `create trigger "${name}" after ${event} on "${table}" for each row execute function "${name}"()`,
    )
    .execute(db);
}
