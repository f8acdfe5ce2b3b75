import type { Kysely } from 'kysely';
import { columnTypes } from '@twofold/runtime/kernel';

/**
 * The columns of a user's own account, and the indexes by which the export and the purge of deleted
 * accounts find their rows.
 */
export async function createAccountColumns(db: Kysely<any>): Promise<void> {
  const { bigint } = columnTypes(db, 'integer');
  for (const [name, type] of [
    ['locale', 'text'],
    ['deletion_at', bigint],
    ['emptied_at', bigint],
  ] as const)
    await db.schema.alterTable('auth_users').addColumn(name, type).execute();
  await db.schema.alterTable('auth_sessions').addColumn('name', 'text').execute();
  await db.schema
    .createIndex('auth_users_deletion')
    .on('auth_users')
    .column('deletion_at')
    .where('deletion_at', 'is not', null)
    .execute();
  for (const [table, ...columns] of [
    ['auth_login_attempts', 'user_id', 'id'],
    ['auth_security_events', 'user_id', 'id'],
    ['auth_api_keys', 'owner_user_id'],
  ] as const)
    await db.schema.createIndex(`${table}_user`).on(table).columns(columns).execute();
}
