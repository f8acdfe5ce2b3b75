import type { Organizations } from '@twofold/schema';
import {
  type Dialect,
  hasScope,
  type Membership,
  SCOPE,
  type Store,
} from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { rowsIn } from '../users/adopted-table.ts';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { digest, randomToken, ulid, type UserId } from '../base/ids.ts';
import { sameText } from '../secrets/keys.ts';
import { membershipList, type MembershipRow, toMemberships } from '../users/memberships.ts';
import { permissionList, type RolesModel, splitPermissions } from '../users/permissions.ts';
import { MINUTE } from '../base/time.ts';

/** A live key that a request was sent with. */
export interface KnownKey {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly userId: UserId | null;
  readonly limitPerMinute: number | null;
  /**
   * The organizations of its user, or the one that the key is bound to. Absent when the project has
   * none.
   */
  readonly organizations?: readonly Membership[];
  /** Whether the key is bound to one organization. */
  readonly bound?: boolean;
}

/** A row of `auth_api_keys`, without its hash. */
export interface ApiKeyRow extends Omit<RowOf<'auth_api_keys'>, 'hash' | 'scopes'> {
  readonly scopes: readonly string[];
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly userId: UserId | null;
  readonly limitPerMinute: number | null;
  readonly createdBy: string;
  /** The organization that the key is bound to, if there is one. */
  readonly organizationId?: number | string | null;
}

/** The key of the setting `API_KEY`: it has every scope and cannot be revoked through the API. */
export const ROOT_KEY: KnownKey = { id: 'root', scopes: ['*'], userId: null, limitPerMinute: null };

/** @throws AppError 400 when a scope is not `area:action`, `area:*`, `*:read` or `*`. */
export function checkScopes(scopes: readonly string[]): readonly string[] {
  if (!scopes.every((scope) => SCOPE.test(scope)))
    throw failure.invalid('scopes must be like posts:read, posts:*, *:read or *');
  return [...new Set(scopes)].sort();
}

export interface ApiKeyOptions {
  readonly store: Store;
  /**
   * The user table and the SQL condition for a live row: a deleted owner has no valid key. Null
   * where only the operator signs in: the key of the setting is the only one then.
   */
  readonly directory: { readonly rows: string; readonly live: string } | null;
  /** The setting `API_KEY`. */
  readonly rootKey: string | null;
  readonly roles: RolesModel;
  /** Whether a user's key may have a scope that the user's role does not name. */
  readonly isFree: (scope: string) => boolean;
  readonly organizations: Organizations | undefined;
  readonly now: () => number;
}

/** API keys in `auth_api_keys`. Only the hash of a key is stored. */
export class ApiKeys {
  readonly #options: ApiKeyOptions;
  readonly #rootDigest: string | null;
  readonly #statement: string | null;

  constructor(options: ApiKeyOptions) {
    this.#options = options;
    this.#rootDigest = options.rootKey === null ? null : digest(options.rootKey);
    this.#statement = keyStatement(options);
  }

  /** Returns the key with this text, or null when it is unknown, expired or revoked. */
  async authenticate(text: string): Promise<KnownKey | null> {
    const { store, now } = this.#options;
    const hash = digest(text);
    if (this.#rootDigest !== null && sameText(hash, this.#rootDigest)) return ROOT_KEY;
    if (this.#statement === null) return null;
    const [row] = await store.query<FoundKey>(this.#statement, [hash]);
    if (!row || !isLive(row, now())) return null;
    if (now() - (row.last_used_at ?? 0) > MINUTE) this.#noteUse(row.id);
    return {
      id: row.id,
      scopes: liveScopes(this.#options, row),
      userId: row.owner_user_id,
      limitPerMinute: row.limit_per_min,
      ...(this.#options.organizations && {
        organizations: organizationsOf(row),
        bound: row.organization_id !== null,
      }),
    };
  }

  async create(
    trx: Trx,
    { name, scopes, expiresAt, userId, limitPerMinute, createdBy, organizationId }: NewApiKey,
  ): Promise<{ readonly row: ApiKeyRow; readonly key: string }> {
    const now = this.#options.now();
    const prefix = randomToken(6);
    const key = `gk_${prefix}_${randomToken(32)}`;
    const row: ApiKeyRow = {
      id: `key_${ulid(now)}`,
      name,
      prefix,
      scopes,
      owner_user_id: userId,
      created_by: createdBy,
      created_at: now,
      expires_at: expiresAt,
      last_used_at: null,
      revoked_at: null,
      limit_per_min: limitPerMinute,
      organization_id: organizationId ?? null,
    };
    const values = { ...row, scopes: JSON.stringify(scopes), hash: digest(key) };
    await trx.insertInto('auth_api_keys').values(values).execute();
    return { row, key };
  }

  /** All keys, or those that act for one user, oldest first. */
  async list(db: Db, userId?: UserId): Promise<ApiKeyRow[]> {
    const all = rows(db);
    const wanted = userId === undefined ? all : all.where('owner_user_id', '=', userId);
    return (await wanted.execute()).map(toRow);
  }

  /** The live keys that act for a user, oldest first. */
  async ofUser(db: Db, userId: UserId): Promise<ApiKeyRow[]> {
    const now = this.#options.now();
    const live = rows(db)
      .where('owner_user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]));
    return (await live.execute()).map(toRow);
  }

  async find(db: Db, id: string): Promise<ApiKeyRow> {
    const row = await rows(db).where('id', '=', id).executeTakeFirst();
    if (!row) throw failure.notFound('API key not found');
    return toRow(row);
  }

  /** Ends a key now, or at `at`. */
  async expire(trx: Db, id: string, at: number): Promise<void> {
    const now = this.#options.now();
    await set(trx, id, at <= now ? { revoked_at: now } : { expires_at: at });
  }

  async setScopes(trx: Db, id: string, scopes: readonly string[]): Promise<void> {
    await set(trx, id, { scopes: JSON.stringify(scopes) });
  }

  async setName(trx: Db, id: string, name: string): Promise<void> {
    await set(trx, id, { name });
  }

  /** The response does not wait for this write, and losing a time of last use does no harm. */
  #noteUse(id: string): void {
    const { store, now } = this.#options;
    set(store.db, id, { last_used_at: now() }).catch(() => {});
  }
}

/** What `keyStatement` selects. */
type FoundKey = RowOf<'auth_api_keys'> &
  Pick<RowOf<'auth_users'>, 'disabled_at' | 'disabled_until' | 'deletion_at'> & {
    readonly owner: UserId | null;
    readonly permissions: string | null;
    readonly organizations: string | readonly MembershipRow[] | null;
  };

/** A key that acts for a user is valid only while that user is enabled. */
function isLive(row: FoundKey, now: number): boolean {
  if (row.revoked_at !== null) return false;
  if (row.expires_at !== null && row.expires_at <= now) return false;
  const isEnabled = row.disabled_at === null || (row.disabled_until ?? Infinity) <= now;
  return (
    row.owner_user_id === null || (row.owner !== null && isEnabled && row.deletion_at === null)
  );
}

const set = (db: Db, id: string, values: Record<string, unknown>) =>
  db.updateTable('auth_api_keys').set(values).where('id', '=', id).execute();

const rows = (db: Db) =>
  db.selectFrom('auth_api_keys').selectAll().orderBy('created_at').orderBy('id');

/** SQL that finds a key by its hash, with its owner's state and the permissions of their role. */
function keyStatement({ store, directory, roles, organizations }: ApiKeyOptions): string | null {
  if (directory === null) return null;
  const { dialect } = store;
  const member = organizations ? membershipList(dialect, organizations, 'k.owner_user_id') : 'null';
  const permissions = roles ? permissionList(dialect, roles) : 'null';
  return `select k.id, k.scopes, k.owner_user_id, k.limit_per_min, k.expires_at, k.revoked_at, k.last_used_at, u.id as owner, a.disabled_at, a.disabled_until, a.deletion_at, ${permissions} as permissions, k.organization_id, ${member} as organizations
    from auth_api_keys k left join ${directory.rows} u on u.id = k.owner_user_id${directory.live} left join auth_users a on a.user_id = u.id
      left join auth_roles r on r.id = a.role_id
    where k.hash = ${dialect === 'postgres' ? '$1' : '?'}${ofLiveOrganization(dialect, organizations)}`;
}

/**
 * Whether the organization of a bound key still exists. A trigger of the table ends such keys, too.
 */
function ofLiveOrganization(dialect: Dialect, organizations: Organizations | undefined): string {
  if (!organizations?.softDelete) return '';
  const { softDelete } = organizations;
  const rows = rowsIn(dialect, organizations, ['id', softDelete]);
  return ` and (k.organization_id is null or exists (select 1 from ${rows} o where o.id = k.organization_id and o."${softDelete}" is null))`;
}

/**
 * The organizations in which a key may act. A key that is bound to an organization acts only in
 * that one, and if it has a user, only while this user is a member of it.
 */
function organizationsOf(row: FoundKey): readonly Membership[] {
  const bound = row.organization_id;
  if (row.owner_user_id === null) return bound === null ? [] : [{ id: bound, role: null }];
  const list = row.organizations ?? [];
  const all = toMemberships(typeof list === 'string' ? JSON.parse(list) : list);
  return bound === null ? all : all.filter(({ id }) => id === bound);
}

/**
 * A key of a user keeps only the scopes that are free (`isFree`) and those that the user's role has
 * now. Its other scopes have no effect.
 */
function liveScopes({ isFree }: ApiKeyOptions, row: FoundKey): readonly string[] {
  const scopes = JSON.parse(row.scopes) as readonly string[];
  if (row.owner_user_id === null) return scopes;
  const permissions = splitPermissions(row.permissions);
  return scopes.filter((scope) => isFree(scope) || hasScope(permissions, scope));
}

const toRow = ({ hash: _hash, ...row }: RowOf<'auth_api_keys'>): ApiKeyRow => ({
  ...row,
  scopes: JSON.parse(row.scopes) as string[],
});
