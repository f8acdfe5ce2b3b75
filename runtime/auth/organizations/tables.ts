import { columnTypes, dialectOf } from '@twofold/runtime/kernel';
import { type Kysely, sql } from 'kysely';
import type { IdKind } from '@twofold/schema';

/**
 * Creates the tables of memberships and invitations, and the column of keys that are bound to one.
 */
export async function createOrganizations(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  const members = db.schema
    .createTable('auth_members')
    .addColumn('organization_id', type.id, (column) => column.notNull())
    .addColumn('user_id', type.id, (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('created_at', type.bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('auth_members_pkey', ['organization_id', 'user_id']);
  // `without rowid` saves one of two index searches on every request with a token.
  await (dialectOf(db) === 'sqlite' ? members.modifyEnd(sql`without rowid`) : members).execute();
  await db.schema
    .createIndex('auth_members_user')
    .on('auth_members')
    .columns(['user_id', 'organization_id'])
    .execute();
  await db.schema
    .createTable('auth_invitations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', type.id, (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('invited_by', type.id, (column) => column.notNull())
    .addColumn('created_at', type.bigint, (column) => column.notNull())
    .addColumn('expires_at', type.bigint, (column) => column.notNull())
    .addUniqueConstraint('auth_invitations_address', ['organization_id', 'email'])
    .execute();
  await db.schema.alterTable('auth_api_keys').addColumn('organization_id', type.id).execute();
}
