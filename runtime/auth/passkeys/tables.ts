import { columnTypes } from '@twofold/runtime/kernel';
import type { AuthUser, IdKind } from '@twofold/schema';
import type { Kysely } from 'kysely';
import { createAdministration } from '../admin/tables.ts';

/**
 * Creates `auth_passkeys`, what administration needs, and the column with the random name of a user
 * in authenticators.
 */
export async function createPasskeys(db: Kysely<any>, user: AuthUser, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', type.id, (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', type.bigint, (column) => column.notNull())
    .addColumn('backed_up', 'integer', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('created_at', type.bigint, (column) => column.notNull())
    .addColumn('last_used_at', type.bigint)
    .execute();
  await db.schema.createIndex('auth_passkeys_user').on('auth_passkeys').column('user_id').execute();
  await db.schema.alterTable('auth_users').addColumn('passkey_handle', 'text').execute();
  await createAdministration(db, user, ids);
}
