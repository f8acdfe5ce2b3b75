import { type Kysely, sql } from 'kysely';
import type { AuthUser } from '@twofold/schema';
import type { Kernel } from '../module.ts';
import { fold } from './user-directory.ts';

/** Tables of the module whose rows belong to one user. */
const OWNED = [
  ['auth_users', 'user_id'],
  ['auth_sessions', 'user_id'],
  ['auth_identities', 'user_id'],
  ['auth_one_time_tokens', 'user_id'],
  ['auth_api_keys', 'owner_user_id'],
] as const;

/**
 * Ties the user table to the module's own, when the server starts: a trigger takes everything away with the user, whoever
 * deletes the row (SQLite may give a deleted key to the next user, who must not inherit a password), and an index finds
 * people by address.
 */
export async function tieUserTable({ store }: Kernel, { table, columns }: AuthUser): Promise<void> {
  await store.lock('auth-user-table', async () => {
    const email = columns.email;
    if (email)
      await store.db.schema
        .createIndex(`auth_${table}_email`)
        .ifNotExists()
        .on(table)
        .expression(fold(store, sql.ref(email)))
        .execute();
    await (store.dialect === 'postgres'
      ? createPostgresTrigger(store.db, table)
      : createSqliteTrigger(store.db, table));
  });
}

const deletions = () =>
  sql.join(
    OWNED.map(
      ([owned, column]) => sql`delete from ${sql.table(owned)} where ${sql.ref(column)} = old.id;`,
    ),
    sql` `,
  );

async function createSqliteTrigger(db: Kysely<any>, table: string): Promise<void> {
  await sql`create trigger if not exists ${sql.id(`auth_${table}_gone`)} after delete on ${sql.table(table)} begin ${deletions()} end`.execute(
    db,
  );
}

async function createPostgresTrigger(db: Kysely<any>, table: string): Promise<void> {
  const name = `auth_${table}_gone`;
  const known =
    await sql`select 1 from pg_trigger where tgname = ${name} and tgrelid = ${`"${table}"`}::regclass`.execute(
      db,
    );
  if (known.rows.length > 0) return;
  await sql`create or replace function ${sql.id(name)}() returns trigger language plpgsql as ${sql.raw('$body$')} begin ${deletions()} return old; end ${sql.raw('$body$')}`.execute(
    db,
  );
  await sql`create trigger ${sql.id(name)} after delete on ${sql.table(table)} for each row execute function ${sql.id(name)}()`.execute(
    db,
  );
}
