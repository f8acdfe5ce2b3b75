import { type Migration, columnTypes, createFoldedIndex, dialectOf } from '@twofold/runtime/kernel';
import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { AuthUser, IdKind } from '@twofold/schema';
import { createAccountColumns } from './account/tables.ts';
import { createListIndexes } from './admin/tables.ts';
import { createWindows } from './limits/window-tables.ts';
import { createOrganizations } from './organizations/tables.ts';
import { createPasskeys } from './passkeys/tables.ts';
import { createSecondFactors } from './second-factor/tables.ts';

/**
 * Migrations of the module's own tables. All times are milliseconds since 1970 in a `bigint` and
 * all hashes are base64url text, so that a row is the same on SQLite and PostgreSQL.
 */
export function authMigrations(user: AuthUser, ids: IdKind): Migration[] {
  return [
    { name: 'auth/0001_accounts', up: (db) => createAccounts(db, ids) },
    { name: 'auth/0002_sessions', up: (db) => createSessions(db, ids) },
    { name: 'auth/0003_limits', up: createLimits },
    { name: 'auth/0004_management', up: (db) => createManagement(db, ids) },
    { name: 'auth/0005_events', up: (db) => createEvents(db, ids) },
    { name: 'auth/0006_phone_numbers', up: indexPhones },
    { name: 'auth/0007_leases', up: createWindows },
    { name: 'auth/0008_second_factors', up: (db) => createSecondFactors(db, ids) },
    { name: 'auth/0010_passkeys', up: (db) => createPasskeys(db, user, ids) },
    { name: 'auth/0011_account', up: createAccountColumns },
    { name: 'auth/0012_organizations', up: (db) => createOrganizations(db, ids) },
    { name: 'auth/0013_session_clients', up: addSessionClient },
    {
      name: 'auth/0014_user_order',
      up: (db) => createListIndexes(db, user),
    },
    { name: 'auth/0015_delivery_order', up: indexDeliveries },
  ];
}

/** Creates `auth_users`, with the data of a user that their own table does not have. */
async function createAccounts(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_users')
    .addColumn('user_id', type.id, (column) => column.primaryKey())
    .$call(
      textColumns(
        'first_name',
        'last_name',
        'username',
        'username_key',
        'phone',
        'email',
        'email_key',
        'avatar_url',
        'password',
        'verified_email',
      ),
    )
    .$call(
      timeColumns(
        db,
        'last_login',
        'email_verified_at',
        'password_changed_at',
        'disabled_at',
        'created_at',
        'updated_at',
      ),
    )
    .addColumn('role_id', 'integer')
    .addColumn('tokens_valid_after', type.bigint, (column) => column.notNull().defaultTo(0))
    .addUniqueConstraint('auth_users_username_key', ['username_key'])
    .addUniqueConstraint('auth_users_phone', ['phone'])
    .addUniqueConstraint('auth_users_email_key', ['email_key'])
    .execute();
}

/** Creates the user table of a schema without a type for users. */
export async function createUsers(db: Kysely<any>, table: string, ids: IdKind): Promise<void> {
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

/**
 * Unique index of phone numbers that ignores spaces, dashes and parentheses. Used when the entity
 * has no column for them.
 */
const indexPhones = (db: Kysely<any>): Promise<void> =>
  createFoldedIndex(db, {
    name: 'auth_users_phone_key',
    table: 'auth_users',
    column: 'phone',
    fold: 'digits',
  });

async function createSessions(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', type.id)
    .addColumn('principal', 'text', (column) => column.notNull())
    .addColumn('salt', 'text', (column) => column.notNull())
    .addColumn('gen', 'integer', (column) => column.notNull().defaultTo(0))
    .$call(
      timeColumns(
        db,
        'rotated_at',
        'created_at',
        'last_seen_at',
        'idle_expires_at',
        'absolute_expires_at',
        'reauth_at',
        'revoked_at',
      ),
    )
    .$call(textColumns('ip', 'user_agent', 'auth_method', 'revoked_reason'))
    .$call(withoutRowid(db))
    .execute();
  await db.schema
    .createIndex('auth_sessions_user')
    .on('auth_sessions')
    .columns(['user_id', 'revoked_at'])
    .execute();
  await db.schema
    .createTable('auth_revoked_tokens')
    .addColumn('jti', 'text', (column) => column.primaryKey())
    .addColumn('user_id', type.id)
    .addColumn('reason', 'text')
    .$call(timeColumns(db, 'exp', 'created_at'))
    .$call(withoutRowid(db))
    .execute();
  await db.schema
    .createTable('auth_one_time_tokens')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('user_id', type.id)
    .addColumn('data', 'text')
    .$call(timeColumns(db, 'created_at', 'expires_at', 'used_at'))
    .execute();
  await db.schema
    .createIndex('auth_one_time_tokens_user')
    .on('auth_one_time_tokens')
    .columns(['user_id', 'kind'])
    .execute();
}

/** The application of the server's own origin that a session was opened for. */
const addSessionClient = (db: Kysely<any>): Promise<void> =>
  db.schema.alterTable('auth_sessions').addColumn('client', 'text').execute();

async function createLimits(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('auth_identifier_locks')
    .addColumn('identifier_hash', 'text', (column) => column.notNull())
    .addColumn('bucket', 'text', (column) => column.notNull())
    .addColumn('recent', 'text', (column) => column.notNull())
    .addColumn('lock_count', 'integer', (column) => column.notNull())
    .addColumn('total_since_success', 'integer', (column) => column.notNull())
    .$call(timeColumns(db, 'locked_until', 'last_failure_at'))
    .addPrimaryKeyConstraint('auth_identifier_locks_pkey', ['identifier_hash', 'bucket'])
    .execute();
}

async function createManagement(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  await db.schema
    .createTable('auth_identities')
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('user_id', type.id, (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('email_verified', 'integer', (column) => column.notNull())
    .$call(timeColumns(db, 'created_at', 'last_login_at'))
    .addPrimaryKeyConstraint('auth_identities_pkey', ['provider', 'subject'])
    .execute();
  await db.schema
    .createIndex('auth_identities_user')
    .on('auth_identities')
    .column('user_id')
    .execute();
  await db.schema
    .createTable('auth_oauth_used_states')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .$call(timeColumns(db, 'exp'))
    .execute();
  await db.schema
    .createTable('auth_api_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(textColumns('name', 'prefix', 'scopes', 'created_by'))
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('owner_user_id', type.id)
    .addColumn('limit_per_min', 'integer')
    .$call(timeColumns(db, 'created_at', 'expires_at', 'last_used_at', 'revoked_at'))
    .execute();
  await db.schema
    .createTable('auth_roles')
    .addColumn('id', columnTypes(db, 'integer').key)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('is_system', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('auth_permissions')
    .addColumn('id', columnTypes(db, 'integer').key)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .execute();
  await db.schema
    .createTable('auth_role_permissions')
    .addColumn('role_id', 'integer', (column) => column.notNull())
    .addColumn('permission_id', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('auth_role_permissions_pkey', ['role_id', 'permission_id'])
    .execute();
}

async function createEvents(db: Kysely<any>, ids: IdKind): Promise<void> {
  const type = columnTypes(db, ids);
  const log = (table: string) =>
    db.schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('ts', type.bigint, (column) => column.notNull());
  await log('auth_login_attempts')
    .$call(
      textColumns(
        'kind',
        'identifier_hash',
        'identifier_masked',
        'ip',
        'user_agent',
        'outcome',
        'reason',
        'session_id',
        'request_id',
      ),
    )
    .addColumn('user_id', type.id)
    .execute();
  await db.schema
    .createIndex('auth_login_attempts_time')
    .on('auth_login_attempts')
    .column('ts')
    .execute();
  await db.schema
    .createIndex('auth_login_attempts_ip')
    .on('auth_login_attempts')
    .columns(['ip', 'ts'])
    .execute();
  await db.schema
    .createIndex('auth_login_attempts_identifier')
    .on('auth_login_attempts')
    .columns(['identifier_hash', 'ts'])
    .execute();
  await log('auth_permission_changes')
    .$call(
      textColumns(
        'action',
        'actor_kind',
        'actor_id',
        'target_kind',
        'target_id',
        'before',
        'after',
        'ip',
        'request_id',
      ),
    )
    .execute();
  await log('auth_security_events')
    .$call(textColumns('type', 'severity', 'ip', 'data'))
    .addColumn('user_id', type.id)
    .execute();
  await db.schema
    .createTable('auth_webhook_endpoints')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(textColumns('url', 'secret_sealed', 'previous_sealed', 'types', 'source'))
    .$call(timeColumns(db, 'previous_until', 'created_at', 'disabled_at'))
    .execute();
  await db.schema
    .createTable('auth_webhook_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(textColumns('event_id', 'endpoint_id', 'body', 'status', 'last_error'))
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('last_code', 'integer')
    .$call(timeColumns(db, 'next_at', 'created_at'))
    .execute();
  await db.schema
    .createIndex('auth_webhook_deliveries_due')
    .on('auth_webhook_deliveries')
    .columns(['status', 'next_at'])
    .execute();
}

/** The deliveries of one endpoint, newest first. */
const indexDeliveries = (db: Kysely<any>): Promise<void> =>
  db.schema
    .createIndex('auth_webhook_deliveries_endpoint')
    .on('auth_webhook_deliveries')
    .columns(['endpoint_id', 'id'])
    .execute();

/** `without rowid` saves one of two index searches on every request with a token. */
const withoutRowid =
  (db: Kysely<any>) =>
  (builder: Builder): Builder =>
    dialectOf(db) === 'sqlite' ? builder.modifyEnd(sql`without rowid`) : builder;

type Builder = CreateTableBuilder<any, any>;

const textColumns =
  (...names: string[]) =>
  (builder: Builder): Builder =>
    names.reduce((table, name) => table.addColumn(name, 'text'), builder);

const timeColumns =
  (db: Kysely<any>, ...names: string[]) =>
  (builder: Builder): Builder =>
    names.reduce((table, name) => table.addColumn(name, columnTypes(db).bigint), builder);
