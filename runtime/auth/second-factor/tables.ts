import { columnTypes } from '@twofold/runtime/kernel';
import type { IdKind } from '@twofold/schema';
import type { Kysely } from 'kysely';

/** Columns that say which second factor a user has. `totp_step` is the last step that was used. */
const USER_COLUMNS = [
  ['totp_sealed', 'text'],
  ['totp_step', 'bigint'],
  ['totp_confirmed_at', 'bigint'],
  ['totp_pending', 'text'],
  ['totp_pending_at', 'bigint'],
] as const;

export async function createSecondFactors(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  for (const [name, kind] of USER_COLUMNS)
    await db.schema
      .alterTable('auth_users')
      .addColumn(name, kind === 'text' ? 'text' : type.bigint)
      .execute();
  await db.schema.alterTable('auth_sessions').addColumn('amr', 'text').execute();
  await db.schema
    .alterTable('auth_one_time_tokens')
    .addColumn('answers', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('auth_recovery_codes')
    .addColumn('user_id', type.id, (column) => column.notNull())
    .addColumn('selector', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('created_at', type.bigint)
    .addColumn('used_at', type.bigint)
    .addPrimaryKeyConstraint('auth_recovery_codes_pkey', ['user_id', 'selector'])
    .execute();
  await createDevices(db, ids);
  await createEmailSignIns(db, ids);
}

async function createDevices(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_remembered_devices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', type.id, (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('ip', 'text')
    .addColumn('created_at', type.bigint)
    .addColumn('last_used_at', type.bigint)
    .addColumn('expires_at', type.bigint)
    .execute();
  await db.schema
    .createIndex('auth_remembered_devices_user')
    .on('auth_remembered_devices')
    .column('user_id')
    .execute();
}

/**
 * Sign-ins by mail. A row exists for every request, also for an address without an account, so that
 * both take the same work. `user_id` is written when the mail is sent.
 */
async function createEmailSignIns(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_email_sign_ins')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('identifier_hash', 'text', (column) => column.notNull())
    .addColumn('user_id', type.id)
    .addColumn('code', 'text')
    .addColumn('token', 'text')
    .addColumn('answers', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', type.bigint)
    .addColumn('expires_at', type.bigint)
    .addColumn('used_at', type.bigint)
    .execute();
  await db.schema
    .createIndex('auth_email_sign_ins_identifier')
    .on('auth_email_sign_ins')
    .column('identifier_hash')
    .execute();
}
