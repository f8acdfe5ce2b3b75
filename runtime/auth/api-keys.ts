import type { Kysely, Transaction } from 'kysely';
import { SCOPE, type Store, hasScope } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { digest, randomToken, ulid, type UserId } from './ids.ts';
import { sameText } from './keys.ts';
import { permissionList, type RolesModel, splitPermissions } from './permissions.ts';
import { MINUTE } from './time.ts';

/** A key as a request presents it, found and live. */
export interface KnownKey {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly userId: UserId | null;
  readonly limitPerMinute: number | null;
}

/** A row of `auth_api_keys`, without its hash. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly owner_user_id: UserId | null;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
  readonly limit_per_min: number | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly userId: UserId | null;
  readonly limitPerMinute: number | null;
  readonly createdBy: string;
}

export interface ApiKeys {
  /** The key behind the text of a header, or null: wrong, expired or revoked alike. */
  authenticate(text: string): Promise<KnownKey | null>;
  create(
    trx: Transaction<any>,
    key: NewApiKey,
  ): Promise<{ readonly row: ApiKeyRow; readonly key: string }>;
  list(db: Kysely<any>): Promise<ApiKeyRow[]>;
  /** The live keys that act for a user, oldest first. */
  ofUser(db: Kysely<any>, userId: UserId): Promise<ApiKeyRow[]>;
  find(db: Kysely<any>, id: string): Promise<ApiKeyRow>;
  /** Ends a key now, or at `at`. */
  expire(trx: Kysely<any>, id: string, at: number): Promise<void>;
  setScopes(trx: Kysely<any>, id: string, scopes: readonly string[]): Promise<void>;
  setName(trx: Kysely<any>, id: string, name: string): Promise<void>;
}

/** The key of the setting `API_KEY`: it has every scope and cannot be revoked here. */
export const ROOT_KEY: KnownKey = { id: 'root', scopes: ['*'], userId: null, limitPerMinute: null };

/** @throws AppError 400 when a scope is not `area:action`, `area:*`, `*:read` or `*`. */
export function checkScopes(scopes: readonly string[]): readonly string[] {
  if (!scopes.every((scope) => SCOPE.test(scope)))
    throw failure.invalid('scopes must be like posts:read, posts:*, *:read or *');
  return [...new Set(scopes)].sort();
}

export interface ApiKeyOptions {
  readonly store: Store;
  /** Tells which rows of the user table count: a key dies with its owner. */
  readonly directory: { readonly table: string; readonly live: string };
  /** The setting `API_KEY`. */
  readonly rootKey: string | null;
  readonly roles: RolesModel;
  /** Whether a user's key may have a scope that the user's role does not name. */
  readonly isFree: (scope: string) => boolean;
  readonly now: () => number;
}

export function createApiKeys(options: ApiKeyOptions): ApiKeys {
  const { store, rootKey, now } = options;
  const rootDigest = rootKey === null ? null : digest(rootKey);
  const statement = keyStatement(options);
  const used = (id: string) =>
    store.db
      .updateTable('auth_api_keys')
      .set({ last_used_at: now() })
      .where('id', '=', id)
      .execute();
  return {
    authenticate: async (text) => {
      const hash = digest(text);
      if (rootDigest !== null && sameText(hash, rootDigest)) return ROOT_KEY;
      const [row] = await store.query<Record<string, any>>(statement, [hash]);
      if (
        !row ||
        row['revoked_at'] !== null ||
        (row['expires_at'] !== null && row['expires_at'] <= now())
      )
        return null;
      if (row['owner_user_id'] !== null && (row['owner'] === null || row['disabled_at'] !== null))
        return null;
      if (now() - (row['last_used_at'] ?? 0) > MINUTE) used(row['id']).catch(() => {});
      return {
        id: row['id'],
        scopes: liveScopes(options, row),
        userId: row['owner_user_id'],
        limitPerMinute: row['limit_per_min'],
      };
    },
    create: async (trx, { name, scopes, expiresAt, userId, limitPerMinute, createdBy }) => {
      const prefix = randomToken(6);
      const key = `gk_${prefix}_${randomToken(32)}`;
      const row = {
        id: `key_${ulid(now())}`,
        name,
        prefix,
        scopes: JSON.stringify(scopes),
        owner_user_id: userId,
        created_by: createdBy,
        created_at: now(),
        expires_at: expiresAt,
        last_used_at: null,
        revoked_at: null,
        limit_per_min: limitPerMinute,
      };
      await trx
        .insertInto('auth_api_keys')
        .values({ ...row, hash: digest(key) })
        .execute();
      return { row: { ...row, scopes }, key };
    },
    list: async (db) => (await rows(db).execute()).map(toRow),
    ofUser: async (db, userId) =>
      (
        await rows(db)
          .where('owner_user_id', '=', userId)
          .where('revoked_at', 'is', null)
          .where((where) =>
            where.or([where('expires_at', 'is', null), where('expires_at', '>', now())]),
          )
          .execute()
      ).map(toRow),
    find: async (db, id) => {
      const row = await db
        .selectFrom('auth_api_keys')
        .select(COLUMNS)
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row) throw failure.notFound('API key not found');
      return toRow(row);
    },
    expire: async (trx, id, at) =>
      void (await trx
        .updateTable('auth_api_keys')
        .set(at <= now() ? { revoked_at: now() } : { expires_at: at })
        .where('id', '=', id)
        .execute()),
    setScopes: async (trx, id, scopes) =>
      void (await trx
        .updateTable('auth_api_keys')
        .set({ scopes: JSON.stringify(scopes) })
        .where('id', '=', id)
        .execute()),
    setName: async (trx, id, name) =>
      void (await trx.updateTable('auth_api_keys').set({ name }).where('id', '=', id).execute()),
  };
}

const rows = (db: Kysely<any>) =>
  db.selectFrom('auth_api_keys').select(COLUMNS).orderBy('created_at').orderBy('id');

/** A key by its hash, with whether its owner may still act and what the owner's role holds. */
function keyStatement({ store: { dialect }, directory, roles }: ApiKeyOptions): string {
  const permissions = roles ? permissionList(dialect, roles) : 'null';
  return `select k.id, k.scopes, k.owner_user_id, k.limit_per_min, k.expires_at, k.revoked_at, k.last_used_at, u.id as owner, a.disabled_at, ${permissions} as permissions
    from auth_api_keys k left join "${directory.table}" u on u.id = k.owner_user_id${directory.live} left join auth_users a on a.user_id = u.id
      left join auth_roles r on r.id = a.role_id
    where k.hash = ${dialect === 'postgres' ? '$1' : '?'}`;
}

/** A user's key has, of its scopes, those that are free and those that the user's role has now; the others are void. */
function liveScopes({ isFree }: ApiKeyOptions, row: Record<string, any>): readonly string[] {
  const scopes = JSON.parse(row['scopes']) as readonly string[];
  if (row['owner_user_id'] === null) return scopes;
  const permissions = splitPermissions(row['permissions']);
  return scopes.filter((scope) => isFree(scope) || hasScope(permissions, scope));
}

const COLUMNS = [
  'id',
  'name',
  'prefix',
  'scopes',
  'owner_user_id',
  'created_by',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
  'limit_per_min',
] as const;

function toRow(row: Record<string, any>): ApiKeyRow {
  return { ...row, scopes: JSON.parse(row['scopes']) } as ApiKeyRow;
}
