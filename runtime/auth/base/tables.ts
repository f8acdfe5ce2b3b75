import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Columns, Kernel, Store } from '@twofold/runtime/kernel';
import type { UserId } from './ids.ts';

/**
 * Columns as SQL. `ID` stands for the type of a user's key, `COUNTED` for a key that counts up. All
 * times are milliseconds since 1970 and all hashes are base64url text, so that a row is the same on
 * SQLite and PostgreSQL. `!` stands at a column that every row fills, although it was made for null.
 */
export type Tables = Readonly<Record<string, string>>;

/** The tables with which the operator signs in, users or not. */
export const OPERATOR_TABLES = {
  auth_sessions: `
    id text primary key, user_id ID, principal text not null, salt text not null,
    gen integer not null default 0, rotated_at bigint!, created_at bigint!, last_seen_at bigint!,
    idle_expires_at bigint!, absolute_expires_at bigint!, reauth_at bigint, revoked_at bigint,
    ip text!, user_agent text!, auth_method text!, revoked_reason text, amr text,
    impersonated_by ID, name text, client text`,
  auth_revoked_tokens: `
    jti text primary key, user_id ID, reason text, exp bigint!, created_at bigint!`,
  auth_one_time_tokens: `
    hash text primary key, kind text not null, user_id ID, data text!, created_at bigint!,
    expires_at bigint!, used_at bigint, answers integer not null default 0`,
  auth_identifier_locks: `
    identifier_hash text not null, bucket text not null, recent text not null,
    lock_count integer not null, total_since_success integer not null, locked_until bigint!,
    last_failure_at bigint!, user_id ID`,
  auth_login_attempts: `
    id text primary key, ts bigint not null, kind text!, identifier_hash text,
    identifier_masked text, ip text!, user_agent text!, outcome text!, reason text,
    session_id text, request_id text!, user_id ID`,
  auth_security_events: `
    id text primary key, ts bigint not null, type text!, severity text!, ip text!, data text!,
    user_id ID`,
} as const satisfies Tables;

/** Whether the table is there without users too. */
export const isOperators = (table: string): boolean =>
  table in OPERATOR_TABLES || table === 'auth_limit_windows';

/** The tables of accounts. */
export const USER_TABLES = {
  auth_users: `
    user_id ID primary key, first_name text, last_name text, username text,
    username_key text constraint auth_users_username_key unique,
    phone text constraint auth_users_phone unique, email text,
    email_key text constraint auth_users_email_key unique, avatar_url text, locale text,
    password text, password_changed_at bigint, password_change_required_at bigint,
    verified_email text, email_verified_at bigint, last_login bigint, disabled_at bigint,
    disabled_until bigint, disabled_reason text, created_at bigint!, updated_at bigint!,
    deletion_at bigint, emptied_at bigint, role_id integer,
    tokens_valid_after bigint not null default 0, totp_sealed text, totp_step bigint,
    totp_confirmed_at bigint, totp_pending text, totp_pending_at bigint, passkey_handle text`,
  auth_identities: `
    provider text not null, subject text not null, user_id ID not null, email text,
    email_verified integer not null, created_at bigint!, last_login_at bigint`,
  auth_oauth_used_states: `
    hash text primary key, exp bigint!`,
  auth_api_keys: `
    id text primary key, name text!, prefix text!, scopes text!, created_by text,
    hash text not null unique, owner_user_id ID, organization_id ID, limit_per_min integer,
    created_at bigint!, expires_at bigint, last_used_at bigint, revoked_at bigint`,
  auth_roles: `
    id COUNTED, name text not null unique, is_system integer not null`,
  auth_permissions: `
    id COUNTED, name text not null unique`,
  auth_role_permissions: `
    role_id integer not null, permission_id integer not null`,
  auth_permission_changes: `
    id text primary key, ts bigint not null, action text!, actor_kind text!, actor_id text,
    target_kind text!, target_id text!, before text!, after text!, ip text!, request_id text!`,
  auth_webhook_endpoints: `
    id text primary key, url text!, secret_sealed text!, previous_sealed text,
    previous_until bigint, types text!, source text!, created_at bigint!, disabled_at bigint`,
  auth_webhook_deliveries: `
    id text primary key, event_id text!, endpoint_id text!, body text!, status text!,
    attempt integer not null, last_code integer, last_error text, next_at bigint!,
    created_at bigint!`,
  auth_recovery_codes: `
    user_id ID not null, selector text not null, hash text not null, created_at bigint!,
    used_at bigint`,
  auth_remembered_devices: `
    id text primary key, hash text not null unique, user_id ID not null, name text not null,
    ip text, created_at bigint!, last_used_at bigint!, expires_at bigint!`,
  // A row exists for every request, also for an address without an account, so that both take the
  // same work. `user_id` is written when the mail is sent.
  auth_email_sign_ins: `
    hash text primary key, identifier_hash text not null, user_id ID, code text, token text,
    answers integer not null default 0, created_at bigint!, expires_at bigint!, used_at bigint`,
  auth_passkeys: `
    id text primary key, user_id ID not null, name text not null, public_key text not null,
    counter bigint not null, backed_up integer not null, transports text not null,
    created_at bigint not null, last_used_at bigint`,
  auth_members: `
    organization_id ID not null, user_id ID not null, role text not null,
    created_at bigint not null`,
  auth_invitations: `
    id text primary key, organization_id ID not null, email text not null, role text not null,
    hash text not null unique, invited_by ID not null, created_at bigint not null,
    expires_at bigint not null`,
} as const satisfies Tables;

/** Primary keys of several columns. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  auth_identifier_locks: ['identifier_hash', 'bucket'],
  auth_identities: ['provider', 'subject'],
  auth_role_permissions: ['role_id', 'permission_id'],
  auth_recovery_codes: ['user_id', 'selector'],
  auth_members: ['organization_id', 'user_id'],
};

/** On SQLite, `without rowid` saves one of two index searches on every request with a token. */
export const WITHOUT_ROWID = new Set(['auth_sessions', 'auth_revoked_tokens', 'auth_members']);

/** `sparse`: an index over the rows that have a value. */
export type Index = readonly [
  table: string,
  name: string,
  columns: readonly string[],
  sparse?: 'sparse',
];

export const OPERATOR_INDEXES: readonly Index[] = [
  ['auth_sessions', 'user', ['user_id', 'revoked_at']],
  ['auth_sessions', 'impersonator', ['impersonated_by'], 'sparse'],
  ['auth_one_time_tokens', 'user', ['user_id', 'kind']],
  ['auth_identifier_locks', 'user', ['user_id']],
  ['auth_login_attempts', 'time', ['ts']],
  ['auth_login_attempts', 'ip', ['ip', 'ts']],
  ['auth_login_attempts', 'identifier', ['identifier_hash', 'ts']],
  ['auth_login_attempts', 'user', ['user_id', 'id']],
  ['auth_security_events', 'user', ['user_id', 'id']],
];

export const USER_INDEXES: readonly Index[] = [
  ['auth_users', 'role', ['role_id']],
  ['auth_users', 'disabled', ['disabled_at'], 'sparse'],
  ['auth_users', 'deletion', ['deletion_at'], 'sparse'],
  ['auth_identities', 'user', ['user_id']],
  ['auth_api_keys', 'user', ['owner_user_id']],
  ['auth_webhook_deliveries', 'due', ['status', 'next_at']],
  ['auth_webhook_deliveries', 'endpoint', ['endpoint_id', 'id']],
  ['auth_remembered_devices', 'user', ['user_id']],
  ['auth_email_sign_ins', 'identifier', ['identifier_hash']],
  ['auth_passkeys', 'user', ['user_id']],
  ['auth_members', 'user', ['user_id', 'organization_id']],
];

type OfAuth = typeof OPERATOR_TABLES & typeof USER_TABLES;

/** How a user signed in. */
export type AuthMethod =
  | 'password'
  | 'register'
  | 'setup'
  | 'passkey'
  | 'impersonation'
  | 'email'
  | 'host'
  | `oauth:${string}`;

/** The tables of the module, as queries know them. */
export type AuthTables = {
  readonly [Name in keyof OfAuth]: Columns<OfAuth[Name], { ID: UserId }>;
} & {
  readonly auth_sessions: { principal: 'user' | 'host'; auth_method: AuthMethod };
  readonly auth_webhook_endpoints: { source: 'manifest' | 'admin' };
  readonly auth_webhook_deliveries: { status: 'pending' | 'delivered' | 'failed' };
  /** As it is on SQLite. */
  readonly auth_limit_windows: { key: string; hits: string; expires_at: number };
};

export type Db = Kysely<AuthTables>;
export type Trx = Transaction<AuthTables>;

/** The same database, for tables of the project and for names that are only known at run time. */
export type AnyDb = Kysely<any>;

/** The store, whose queries know these tables. */
export interface AuthStore extends Store {
  readonly db: Db;
  transaction<T>(
    work: (trx: Trx) => Promise<T>,
    options?: Parameters<Store['transaction']>[1],
  ): Promise<T>;
}

export interface AuthKernel extends Kernel {
  readonly store: AuthStore;
}

/** A row of one of the tables. */
export type RowOf<Name extends keyof AuthTables> = Selectable<AuthTables[Name]>;
