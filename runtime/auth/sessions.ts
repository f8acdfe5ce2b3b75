import type { Kysely, Transaction } from 'kysely';
import type { AuthModel } from '@twofold/schema';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { randomToken, type UserId } from './ids.ts';
import { MINUTE, SECOND } from './time.ts';
import type { UserDirectory } from './user-directory.ts';

/** How somebody signed in. */
export type AuthMethod = 'password' | 'register' | 'host' | `oauth:${string}`;

/** A row of `auth_sessions`. */
export interface Session {
  readonly id: string;
  readonly user_id: UserId | null;
  readonly principal: 'user' | 'host';
  readonly salt: string;
  readonly gen: number;
  readonly rotated_at: number;
  readonly created_at: number;
  readonly last_seen_at: number;
  readonly idle_expires_at: number;
  readonly absolute_expires_at: number;
  readonly ip: string;
  readonly user_agent: string;
  readonly auth_method: AuthMethod;
  readonly reauth_at: number | null;
  readonly revoked_at: number | null;
}

/** What the store says of the session behind a token. */
export interface Standing {
  readonly userId: UserId | null;
  readonly principal: 'user' | 'host';
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly permissions: readonly string[];
}

/** What a token claims of its session. */
export interface SessionClaim {
  readonly sid: string;
  readonly jti: string;
  /** Unix seconds. */
  readonly iat: number;
  readonly userId: UserId | null;
}

export interface Sessions {
  /** Opens a session; beyond 20 live ones of a user the oldest end. @returns the session and the ids that ended. */
  open(trx: Transaction<any>, caller: Caller, who: { userId: UserId | null; method: AuthMethod; lifetime?: number }): Promise<{ session: Session; ended: string[] }>;
  /** Asks the store, in one prepared statement, whether a token still counts. */
  check(claim: SessionClaim): Promise<Standing | null>;
  find(db: Kysely<any>, id: string): Promise<Session | null>;
  live(db: Kysely<any>, userId: UserId | null): Promise<Session[]>;
  /** Ends sessions of a user (all but `keep`), or of the operator. @returns how many ended. */
  endAll(trx: Kysely<any>, userId: UserId | null, reason: string, keep?: string): Promise<number>;
  /** @returns whether it was live. */
  end(trx: Kysely<any>, id: string, reason: string): Promise<boolean>;
  /** Adds a token id to the blacklist until it expires by itself. `exp` in Unix seconds. */
  blacklist(trx: Kysely<any>, token: { jti: string; exp: number }, userId: UserId | null, reason: string): Promise<void>;
}

/** Live sessions of one user. */
const MOST = 20;

export function createSessions(store: Store, model: AuthModel, directory: UserDirectory, now: () => number): Sessions {
  const statement = checkStatement(store, directory, model.roles !== null);
  const liveOf = (db: Kysely<any>, userId: UserId | null) =>
    db
      .selectFrom('auth_sessions')
      .selectAll()
      .where('user_id', userId === null ? 'is' : '=', userId)
      .where('principal', '=', userId === null ? 'host' : 'user')
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now())
      .where('absolute_expires_at', '>', now());
  const revoke = (db: Kysely<any>, reason: string) => db.updateTable('auth_sessions').set({ revoked_at: now(), revoked_reason: reason }).where('revoked_at', 'is', null);
  const seen = (id: string) => store.db.updateTable('auth_sessions').set({ last_seen_at: now() }).where('id', '=', id).execute();

  return {
    open: async (trx, caller, { userId, method, lifetime }) => {
      const session = newSession(model, now(), caller, userId, method, lifetime);
      await trx.insertInto('auth_sessions').values(session).execute();
      const older = userId === null ? [] : await liveOf(trx, userId).select('id').orderBy('created_at', 'desc').orderBy('id').offset(MOST).limit(1000).execute();
      const ended = older.map(({ id }) => id as string);
      if (ended.length > 0) await revoke(trx, 'too many sessions').where('id', 'in', ended).execute();
      return { session, ended };
    },
    check: async (claim) => {
      const [row] = await store.query<CheckRow>(statement, [claim.sid, now(), now(), claim.jti, claim.iat]);
      if (!row || row.user_id !== claim.userId) return null;
      // Once a minute is enough to say when somebody was last here; the answer does not wait for it.
      if (now() - row.last_seen_at > MINUTE) seen(claim.sid).catch(() => {});
      return {
        userId: row.user_id,
        principal: row.principal,
        role: row.role_id && row.role_name ? { id: row.role_id, name: row.role_name } : null,
        permissions: row.permissions ? row.permissions.split('\n') : [],
      };
    },
    find: async (db, id) => ((await db.selectFrom('auth_sessions').selectAll().where('id', '=', id).executeTakeFirst()) as Session | undefined) ?? null,
    live: async (db, userId) => (await liveOf(db, userId).orderBy('created_at', 'desc').execute()) as Session[],
    endAll: async (trx, userId, reason, keep) => {
      const query = revoke(trx, reason).where('user_id', userId === null ? 'is' : '=', userId).where('principal', '=', userId === null ? 'host' : 'user').where('absolute_expires_at', '>', now());
      return Number((await (keep ? query.where('id', '!=', keep) : query).executeTakeFirst()).numUpdatedRows);
    },
    end: async (trx, id, reason) => Number((await revoke(trx, reason).where('id', '=', id).executeTakeFirst()).numUpdatedRows) > 0,
    blacklist: async (trx, { jti, exp }, userId, reason) => {
      await trx
        .insertInto('auth_revoked_tokens')
        .values({ jti, exp: exp * SECOND, user_id: userId, reason, created_at: now() })
        .onConflict((conflict) => conflict.column('jti').doNothing())
        .execute();
    },
  };
}

interface CheckRow {
  readonly user_id: UserId | null;
  readonly principal: 'user' | 'host';
  readonly last_seen_at: number;
  /** These three only where the manifest has roles. */
  readonly role_id?: number | null;
  readonly role_name?: string | null;
  readonly permissions?: string | null;
}

/**
 * The session behind a token, if it counts: alive, not blacklisted, its user there and enabled, the token not older than
 * `tokens_valid_after`. `iat` has whole seconds, so one of the same second is judged by when the session was opened or last
 * rotated: a sign-in right after a logout-all works, every older token does not.
 *
 * Parameters: session, now, now, token id, `iat`.
 */
function checkStatement({ dialect }: Store, { table, live }: UserDirectory, roles: boolean): string {
  const [sid, idle, absolute, jti, iat] = dialect === 'postgres' ? ['$1', '$2', '$3', '$4', '$5'] : ['?', '?', '?', '?', '?'];
  const names = dialect === 'postgres' ? `string_agg(p.name, chr(10))` : `group_concat(p.name, char(10))`;
  const permissions = `(select ${names} from auth_role_permissions rp join auth_permissions p on p.id = rp.permission_id where rp.role_id = r.id)`;
  return `select s.user_id, s.principal, s.last_seen_at${roles ? `, r.id as role_id, r.name as role_name, ${permissions} as permissions` : ''}
    from auth_sessions s
    left join "${table}" u on u.id = s.user_id${live}
    left join auth_users a on a.user_id = u.id${roles ? '\n    left join auth_roles r on r.id = a.role_id' : ''}
    where s.id = ${sid} and s.revoked_at is null and s.idle_expires_at > ${idle} and s.absolute_expires_at > ${absolute}
      and not exists (select 1 from auth_revoked_tokens t where t.jti = ${jti})
      and (s.principal = 'host' or (u.id is not null and a.disabled_at is null
        and (a.tokens_valid_after = 0 or (${iat} >= a.tokens_valid_after / 1000 and s.rotated_at >= a.tokens_valid_after))))`;
}

function newSession(model: AuthModel, now: number, caller: Caller, userId: UserId | null, method: AuthMethod, lifetime?: number): Session {
  // Without refresh tokens a session lives as long as the one token that it has.
  const idle = lifetime ?? (model.refresh.enabled ? model.refresh.idle : model.jwt.ttl);
  const absolute = lifetime ?? (model.refresh.enabled ? model.refresh.absolute : model.jwt.ttl);
  return {
    id: randomToken(16),
    user_id: userId,
    principal: userId === null ? 'host' : 'user',
    salt: randomToken(32),
    gen: 0,
    rotated_at: now,
    created_at: now,
    last_seen_at: now,
    idle_expires_at: now + Math.max(idle, model.jwt.ttl),
    absolute_expires_at: now + absolute,
    ip: caller.ip,
    user_agent: caller.userAgent,
    auth_method: method,
    reauth_at: now,
    revoked_at: null,
  };
}
