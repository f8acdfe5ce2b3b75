import type { AuthModel } from '@twofold/schema';
import type { Store } from '@twofold/runtime/kernel';
import type { AuthMethod, Db, RowOf, Trx } from '../base/tables.ts';
import type { Caller } from '../base/caller.ts';
import { randomToken, type UserId } from '../base/ids.ts';
import { MINUTE, rfc3339, SECOND } from '../base/time.ts';
import type { UserDirectory } from '../users/user-directory.ts';
import { FIRST_GENERATION } from './refresh-token.ts';
import { createSessionCheck, type SessionCheck } from './session-check.ts';

/**
 * A way in which a user has proved their identity, as `amr` of a session lists it: `pwd`, `otp`,
 * `hwk` and `user` of RFC 8176; `fed` a provider, `email` a mail, `recovery` a recovery code,
 * `remembered` a remembered device.
 */
export type Amr = 'pwd' | 'otp' | 'hwk' | 'user' | 'fed' | 'email' | 'recovery' | 'remembered';

/**
 * `name` is the one that its owner gave it, `impersonated_by` the administrator who acts as the user
 * in it, `client` the application of the server's own origin that it was opened for. `amr` has the
 * factors, with spaces between them, and is null in sessions of earlier versions.
 */
export type Session = RowOf<'auth_sessions'>;

/** The factors of a session. In earlier versions a password was the only one. */
export const amrOf = ({ amr }: Pick<Session, 'amr'>): readonly Amr[] =>
  amr === null ? ['pwd'] : (amr.split(' ').filter(Boolean) as Amr[]);

/** The lifetime of a session in milliseconds: without a refresh, and in total. */
export interface Lifetimes {
  readonly idle: number;
  readonly absolute: number;
}

export interface NewSession {
  readonly userId: UserId | null;
  readonly method: AuthMethod;
  readonly amr?: readonly Amr[];
  /** The lifetimes of the session, in place of those of the manifest. */
  readonly lifetimes?: Lifetimes;
  readonly client?: string;
  /** The administrator who will act as the user. Such a session never has a proof. */
  readonly impersonatedBy?: UserId;
}

/** Maximum number of live sessions of one user. */
const MAX_SESSIONS = 20;

export interface SessionOptions {
  readonly store: Store;
  readonly model: AuthModel;
  /** Null where only the operator signs in. */
  readonly directory: UserDirectory | null;
  readonly now: () => number;
}

/** Sessions in `auth_sessions`, and the token blacklist. A user id of null means the operator. */
export class Sessions {
  readonly check: SessionCheck;
  readonly #options: SessionOptions;

  constructor(options: SessionOptions) {
    const { store, model, directory, now } = options;
    this.#options = options;
    const onSeen = (id: string, lastSeen: number) => this.#noteUse(id, lastSeen);
    this.check = createSessionCheck({
      store,
      directory,
      roles: model.roles,
      organizations: model.organizations,
      now,
      onSeen,
    });
  }

  /**
   * Opens a session. When a user has more than 20, the oldest ones end.
   *
   * @returns the session and the ids of the sessions that ended.
   */
  async open(
    trx: Trx,
    caller: Caller,
    { userId, method, amr = ['pwd'], lifetimes, client, impersonatedBy }: NewSession,
  ): Promise<{ session: Session; ended: string[] }> {
    const { model, now } = this.#options;
    const session = { ...newSession(model, now(), lifetimes), ...ownerOf(userId) };
    const { ip, userAgent: user_agent } = caller;
    const acting = impersonatedBy === undefined ? null : { reauth_at: null };
    const row = {
      ...session,
      ...acting,
      ip,
      user_agent,
      auth_method: method,
      amr: amr.join(' '),
      name: null,
      impersonated_by: impersonatedBy ?? null,
      client: client ?? null,
    };
    await trx.insertInto('auth_sessions').values(row).execute();
    const ended = userId === null || acting ? [] : await this.#beyondMost(trx, userId);
    if (ended.length > 0)
      await this.#revoke(trx, 'too many sessions').where('id', 'in', ended).execute();
    return { session: row, ended };
  }

  /**
   * Lets a session go on under a new id and new secrets: every token that was made before is
   * invalid. Of two calls at once one succeeds.
   *
   * @returns the session, or null when it has ended.
   */
  async renew(
    trx: Trx,
    { id, userId, amr }: { id: string; userId: UserId; amr: readonly Amr[] },
    lifetimesOf: (client: string | null) => Lifetimes | undefined,
  ): Promise<Session | null> {
    const { model, now } = this.#options;
    const before = await this.find(trx, id);
    const renewed = newSession(model, now(), lifetimesOf(before?.client ?? null));
    const { created_at: _opened, absolute_expires_at: _limit, ...fresh } = renewed;
    const factors = new Set([...amrOf(before ?? { amr: null }), ...amr]);
    const row = await trx
      .updateTable('auth_sessions')
      .set({ ...fresh, amr: [...factors].join(' ') })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now())
      .where('absolute_expires_at', '>', now())
      .returningAll()
      .executeTakeFirst();
    return row ?? null;
  }

  /** Adds a factor to a session that continues. */
  async addFactors(trx: Db, id: string, amr: readonly Amr[]): Promise<void> {
    const before = await this.find(trx, id);
    const factors = new Set([...amrOf(before ?? { amr: null }), ...amr]);
    await trx
      .updateTable('auth_sessions')
      .set({ amr: [...factors].join(' ') })
      .where('id', '=', id)
      .execute();
  }

  async find(db: Db, id: string): Promise<Session | null> {
    const row = await db
      .selectFrom('auth_sessions')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row ?? null;
  }

  async live(db: Db, userId: UserId | null): Promise<Session[]> {
    return this.#liveOf(db, userId).orderBy('created_at', 'desc').execute();
  }

  /** Ends all sessions of a user or the operator, except `keep`. @returns how many ended. */
  async endAll(trx: Db, userId: UserId | null, reason: string, keep?: string): Promise<number> {
    const { user_id, principal } = ownerOf(userId);
    let query = this.#revoke(trx, reason)
      .where('user_id', user_id === null ? 'is' : '=', user_id)
      .where('principal', '=', principal)
      .where('absolute_expires_at', '>', this.#options.now());
    if (keep) query = query.where('id', '!=', keep);
    if (userId !== null) await this.endImpersonations(trx, userId, reason);
    return Number((await query.executeTakeFirst()).numUpdatedRows);
  }

  /** Ends the sessions in which this user acts as another one. */
  async endImpersonations(trx: Db, by: UserId, reason: string): Promise<void> {
    await this.#revoke(trx, reason).where('impersonated_by', '=', by).execute();
  }

  /** Ends one session. @returns whether it was live. */
  async end(trx: Db, id: string, reason: string): Promise<boolean> {
    const query = this.#revoke(trx, reason).where('id', '=', id);
    return Number((await query.executeTakeFirst()).numUpdatedRows) > 0;
  }

  async setName(db: Db, id: string, name: string | null): Promise<void> {
    await db.updateTable('auth_sessions').set({ name }).where('id', '=', id).execute();
  }

  /** Adds a token id to the blacklist until it expires by itself. `exp` in Unix seconds. */
  async blacklist(
    trx: Db,
    { jti, exp }: { readonly jti: string; readonly exp: number },
    userId: UserId | null,
    reason: string,
  ): Promise<void> {
    const created_at = this.#options.now();
    await trx
      .insertInto('auth_revoked_tokens')
      .values({ jti, exp: exp * SECOND, user_id: userId, reason, created_at })
      .onConflict((conflict) => conflict.column('jti').doNothing())
      .execute();
  }

  #revoke(db: Db, reason: string) {
    return db
      .updateTable('auth_sessions')
      .set({ revoked_at: this.#options.now(), revoked_reason: reason })
      .where('revoked_at', 'is', null);
  }

  #liveOf(db: Db, userId: UserId | null) {
    const { user_id, principal } = ownerOf(userId);
    const now = this.#options.now();
    return db
      .selectFrom('auth_sessions')
      .selectAll()
      .where('user_id', user_id === null ? 'is' : '=', user_id)
      .where('principal', '=', principal)
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now)
      .where('absolute_expires_at', '>', now);
  }

  async #beyondMost(trx: Trx, userId: UserId): Promise<string[]> {
    const older = await this.#liveOf(trx, userId)
      .select('id')
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .offset(MAX_SESSIONS)
      .limit(1000)
      .execute();
    return older.map(({ id }) => id);
  }

  /** Writes the time of last use at most once a minute. The response does not wait for it. */
  #noteUse(id: string, lastSeen: number): void {
    const { store, now } = this.#options;
    if (now() - lastSeen <= MINUTE) return;
    store.db
      .updateTable('auth_sessions')
      .set({ last_seen_at: now() })
      .where('id', '=', id)
      .execute()
      .catch(() => {});
  }
}

const ownerOf = (userId: UserId | null) => ({
  user_id: userId,
  principal: userId === null ? ('host' as const) : ('user' as const),
});

function newSession(model: AuthModel, now: number, lifetimes?: Lifetimes) {
  // Without refresh tokens a session lives as long as its only access token.
  const { idle, absolute } =
    lifetimes ??
    (model.refresh.enabled ? model.refresh : { idle: model.jwt.ttl, absolute: model.jwt.ttl });
  return {
    id: randomToken(16),
    salt: randomToken(32),
    gen: FIRST_GENERATION,
    rotated_at: now,
    created_at: now,
    last_seen_at: now,
    idle_expires_at: now + (lifetimes ? idle : Math.max(idle, model.jwt.ttl)),
    absolute_expires_at: now + absolute,
    reauth_at: now,
    revoked_at: null,
    revoked_reason: null,
  };
}

/** A session as its owner sees it. */
export const sessionView = (session: Session, current: string) => ({
  id: session.id,
  name: session.name,
  created_at: rfc3339(session.created_at),
  last_seen_at: rfc3339(session.last_seen_at),
  ip: session.ip,
  user_agent: session.user_agent,
  auth_method: session.auth_method,
  client: session.client,
  amr: amrOf(session),
  current: session.id === current,
  impersonated_by: session.impersonated_by,
});
