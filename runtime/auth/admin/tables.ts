import { columnTypes } from '@twofold/runtime/kernel';
import type { AuthUser, IdKind } from '@twofold/schema';
import type { Kysely } from 'kysely';
import { createSearchIndexes, searchKeys } from './search-keys.ts';
import { createOrderIndexes } from './user-order.ts';

/**
 * Adds the columns of administration to users, sessions and locks, and the indexes of the search.
 */
export async function createAdministration(
  db: Kysely<any>,
  user: AuthUser,
  ids: IdKind,
): Promise<void> {
  const type = columnTypes(db, ids);
  const { schema } = db;
  const users = schema.alterTable('auth_users');
  await users.addColumn('disabled_until', type.bigint).execute();
  await users.addColumn('disabled_reason', 'text').execute();
  await users.addColumn('password_change_required_at', type.bigint).execute();
  await schema.alterTable('auth_sessions').addColumn('impersonated_by', type.id).execute();
  await schema
    .createIndex('auth_sessions_impersonator')
    .on('auth_sessions')
    .column('impersonated_by')
    .where('impersonated_by', 'is not', null)
    .execute();
  await schema.alterTable('auth_identifier_locks').addColumn('user_id', type.id).execute();
  await schema
    .createIndex('auth_identifier_locks_user')
    .on('auth_identifier_locks')
    .column('user_id')
    .execute();
  const own = searchKeys(user).filter(({ table }) => table === 'auth_users');
  await createSearchIndexes(db, 'auth_users', own);
}

/** Adds the indexes that the list of users needs: of its orders, of roles and of disabled users. */
export async function createListIndexes(db: Kysely<any>, user: AuthUser): Promise<void> {
  await createOrderIndexes(db, 'auth_users', user);
  const index = (name: string) => db.schema.createIndex(`auth_users_${name}`).on('auth_users');
  await index('role').column('role_id').execute();
  await index('disabled').column('disabled_at').where('disabled_at', 'is not', null).execute();
}
