import type { Kysely, Transaction } from 'kysely';
import type { AuthModel } from '@twofold/schema';
import type { Store } from '@twofold/runtime/kernel';
import type { Caller } from './caller.ts';
import { randomToken, type UserId } from './ids.ts';
import { FIRST_GENERATION } from './refresh-token.ts';
import { createStandings, type Standings } from './standings.ts';
import { MINUTE, SECOND } from './time.ts';
import type { UserDirectory } from './user-directory.ts';

/** How somebody signed in. */
export type AuthMethod = 'password' | 'register' | 'setup' | 'host' | `oauth:${string}`;

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

export interface Sessions extends Standings {
  /** Opens a session; beyond 20 live ones of a user the oldest end. @returns the session and the ids that ended. */
  open(
    trx: Transaction<any>,
    caller: Caller,
    who: { userId: UserId | null; method: AuthMethod; lifetime?: number },
  ): Promise<{ session: Session; ended: string[] }>;
  find(db: Kysely<any>, id: string): Promise<Session | null>;
  live(db: Kysely<any>, userId: UserId | null): Promise<Session[]>;
  /** Ends sessions of a user (all but `keep`), or of the operator. @returns how many ended. */
  endAll(trx: Kysely<any>, userId: UserId | null, reason: string, keep?: string): Promise<number>;
  /** @returns whether it was live. */
  end(trx: Kysely<any>, id: string, reason: string): Promise<boolean>;
  /** Adds a token id to the blacklist until it expires by itself. `exp` in Unix seconds. */
  blacklist(
    trx: Kysely<any>,
    token: { jti: string; exp: number },
    userId: UserId | null,
    reason: string,
  ): Promise<void>;
}

/** Live sessions of one user. */
const MOST = 20;

export function createSessions(
  store: Store,
  model: AuthModel,
  directory: UserDirectory,
  now: () => number,
): Sessions {
  const liveOf = (db: Kysely<any>, userId: UserId | null) =>
    db
      .selectFrom('auth_sessions')
      .selectAll()
      .where('user_id', userId === null ? 'is' : '=', userId)
      .where('principal', '=', userId === null ? 'host' : 'user')
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now())
      .where('absolute_expires_at', '>', now());
  const revoke = (db: Kysely<any>, reason: string) =>
    db
      .updateTable('auth_sessions')
      .set({ revoked_at: now(), revoked_reason: reason })
      .where('revoked_at', 'is', null);
  const onSeen = (id: string, lastSeen: number) => {
    // Once a minute is enough to say when somebody was last here; the answer does not wait for it.
    if (now() - lastSeen > MINUTE)
      store.db
        .updateTable('auth_sessions')
        .set({ last_seen_at: now() })
        .where('id', '=', id)
        .execute()
        .catch(() => {});
  };
  const standings = createStandings({ store, directory, roles: model.roles, now, onSeen });

  return {
    open: async (trx, caller, { userId, method, lifetime }) => {
      const session = newSession(model, now(), caller, userId, method, lifetime);
      await trx.insertInto('auth_sessions').values(session).execute();
      const older =
        userId === null
          ? []
          : await liveOf(trx, userId)
              .select('id')
              .orderBy('created_at', 'desc')
              .orderBy('id')
              .offset(MOST)
              .limit(1000)
              .execute();
      const ended = older.map(({ id }) => id as string);
      if (ended.length > 0)
        await revoke(trx, 'too many sessions').where('id', 'in', ended).execute();
      return { session, ended };
    },
    check: standings.check,
    find: async (db, id) =>
      ((await db
        .selectFrom('auth_sessions')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()) as Session | undefined) ?? null,
    live: async (db, userId) =>
      (await liveOf(db, userId).orderBy('created_at', 'desc').execute()) as Session[],
    endAll: async (trx, userId, reason, keep) => {
      const query = revoke(trx, reason)
        .where('user_id', userId === null ? 'is' : '=', userId)
        .where('principal', '=', userId === null ? 'host' : 'user')
        .where('absolute_expires_at', '>', now());
      return Number(
        (await (keep ? query.where('id', '!=', keep) : query).executeTakeFirst()).numUpdatedRows,
      );
    },
    end: async (trx, id, reason) =>
      Number((await revoke(trx, reason).where('id', '=', id).executeTakeFirst()).numUpdatedRows) >
      0,
    blacklist: async (trx, { jti, exp }, userId, reason) => {
      await trx
        .insertInto('auth_revoked_tokens')
        .values({ jti, exp: exp * SECOND, user_id: userId, reason, created_at: now() })
        .onConflict((conflict) => conflict.column('jti').doNothing())
        .execute();
    },
  };
}

function newSession(
  model: AuthModel,
  now: number,
  caller: Caller,
  userId: UserId | null,
  method: AuthMethod,
  lifetime?: number,
): Session {
  // Without refresh tokens a session lives as long as the one token that it has.
  const idle = lifetime ?? (model.refresh.enabled ? model.refresh.idle : model.jwt.ttl);
  const absolute = lifetime ?? (model.refresh.enabled ? model.refresh.absolute : model.jwt.ttl);
  return {
    id: randomToken(16),
    user_id: userId,
    principal: userId === null ? 'host' : 'user',
    salt: randomToken(32),
    gen: FIRST_GENERATION,
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
