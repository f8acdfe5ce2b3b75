import type { AuthMethod, Trx } from '../tables.ts';
import type { AuthModel } from '@twofold/schema';
import {
  asSystem,
  type Kernel,
  type OwnApplication,
  type RequestContext,
} from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { AccessClaims, Tokens } from './access-token.ts';
import { type Attempt, recordAttempt } from '../events/attempts.ts';
import { asUser, type Caller, callerOf } from '../requests/caller.ts';
import { type AuthHooks, hookUser } from '../auth-hooks.ts';
import { deviceKind } from '../sign-in/device-kind.ts';
import type { PassedEntry } from '../steps/entry.ts';
import type { Emit, Events } from '../events/events.ts';
import { type Extend, type Extended, runExtend } from './extend.ts';
import { randomToken } from '../ids.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { type Keys, mac } from '../secrets/keys.ts';
import { membershipsOf } from '../organizations/memberships.ts';
import { afterLogin } from '../own/call-hook.ts';
import { accessLifetime, hasRefresh, lifetimesOf } from './client.ts';
import { makeRefreshToken } from './refresh-token.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Profile } from '../users/profile.ts';
import { numericOffset, SECOND } from '../time.ts';
import type { Account, Role, UserDirectory } from '../users/user-directory.ts';

/** The login response object. */
export interface LoginObject extends Profile {
  readonly accessToken: string;
  readonly exp: number;
  readonly extend: Extended;
  readonly refreshToken?: string;
  readonly refreshExp?: number;
  /** The administrator who acts as the user. */
  readonly impersonated_by?: Account['id'];
}

/** New tokens, and the application whose cookie takes the refresh token. */
export interface IssuedLogin {
  readonly login: LoginObject;
  readonly client: string | null;
}

export interface SignIn {
  /** Opens a session for a user who has passed every step, and returns its tokens. */
  open(context: RequestContext, entry: PassedEntry): Promise<IssuedLogin>;
  /**
   * Continues the session of a reauthentication with new tokens (ASVS 7.2.4).
   *
   * @throws AppError 401 when it has ended
   */
  renew(context: RequestContext, entry: PassedEntry): Promise<IssuedLogin>;
  /** Issues new tokens for an existing session. */
  continue(
    context: RequestContext,
    account: Account,
    session: Session,
    generation: number,
  ): Promise<IssuedLogin>;
  profile(account: Account, lastLogin: number): Profile;
}

export interface SignInParts {
  readonly kernel: Kernel;
  readonly model: AuthModel;
  readonly keys: Keys;
  readonly tokens: Tokens<AccessClaims>;
  readonly sessions: Sessions;
  readonly directory: UserDirectory;
  readonly events: Events;
  readonly extend: Extend | undefined;
  readonly hooks: AuthHooks;
  readonly applications: ReadonlyMap<string, OwnApplication>;
}

export function createSignIn(parts: SignInParts): SignIn {
  const { kernel, model, events } = parts;
  const profile: SignIn['profile'] = (account, lastLogin) =>
    toProfile(account, lastLogin, model.roles !== null);

  const { organizations } = model;
  const extendFor = async (context: RequestContext, account: Account) => {
    const ctx = asSystem(kernel, context);
    return runExtend(parts.extend, account.id, {
      get db() {
        return ctx.db;
      },
      ctx,
      role: model.roles ? account.role : null,
      ...(organizations &&
        parts.extend && {
          organizations: await membershipsOf(kernel.store, organizations, account.id),
        }),
      request: { id: context.id, ip: context.ip, headers: context.headers },
    });
  };

  // `extend` runs before anything is written, because the sign-in fails when it fails.
  const extendOrNote = (context: RequestContext, entry: PassedEntry) =>
    extendFor(context, entry.account).catch(async (error: unknown) => {
      // What made the user of this entry notes it itself, because that user is rolled back.
      if (!isNew(entry)) await noteExtendFailure(parts, context, entry);
      throw error;
    });

  return {
    profile,
    open: async (context, entry) => {
      const { account } = entry;
      const extended = await extendOrNote(context, entry);
      const caller = asUser(callerOf(context), account.id);
      const news = await novelty(kernel, account, caller.ip, caller.userAgent);
      const session = await events.transact(caller, (trx, emit) =>
        openSession(parts, { context, trx, emit, caller }, entry, news),
      );
      const shown = profile(account, account.last_login ?? kernel.now());
      return buildLoginObject(parts, shown, session, session.gen, extended);
    },
    renew: async (context, entry) => {
      const { account } = entry;
      const extended = await extendOrNote(context, entry);
      const caller = asUser(callerOf(context), account.id);
      const session = await events.transact(caller, (trx, emit) =>
        renewSession(parts, { context, trx, emit, caller }, entry),
      );
      const shown = profile(account, account.last_login ?? kernel.now());
      return buildLoginObject(parts, shown, session, session.gen, extended);
    },
    continue: async (context, account, session, generation) => {
      const extended = await extendFor(context, account);
      const shown = profile(account, account.last_login ?? kernel.now());
      return buildLoginObject(parts, shown, session, generation, extended);
    },
  };
}

const isNew = ({ goal }: PassedEntry) => goal.kind === 'session' && goal.status === 201;

/** Adds an attempt that stays if a transaction around the sign-in is rolled back. */
function noteExtendFailure(
  parts: SignInParts,
  context: RequestContext,
  entry: PassedEntry,
): Promise<void> {
  const { kernel } = parts;
  const caller = asUser(callerOf(context), entry.account.id);
  return kernel.store.keep(() =>
    recordAttempt(kernel.store.db, kernel, caller, {
      ...attemptOf(parts, entry),
      outcome: 'failure',
      reason: 'extend_failed',
      sessionId: null,
    }),
  );
}

/** A transaction of a sign-in. */
interface Opening {
  readonly context: RequestContext;
  readonly trx: Trx;
  readonly emit: Emit;
  readonly caller: Caller;
}

async function openSession(
  parts: SignInParts,
  { context, trx, emit, caller }: Opening,
  entry: PassedEntry,
  news: Readonly<Record<string, unknown>>,
): Promise<Session> {
  const { account, method, amr } = entry;
  const now = parts.kernel.now();
  // The update waits for a running password reset, so that the row read after it contains the
  // result of that reset.
  await parts.directory.update(trx, account.id, { last_login: now });
  await assertSameAccount(parts, trx, account);
  await entry.writes?.(trx, emit);
  const client = entry.goal.kind === 'session' ? (entry.goal.client ?? null) : null;
  const lifetimes = lifetimesOf(parts, client);
  const opened = await parts.sessions.open(trx, caller, {
    userId: account.id,
    method,
    amr,
    ...(client !== null && { client }),
    ...(lifetimes && { lifetimes }),
  });
  const shown = toProfile(account, account.last_login ?? now, parts.model.roles !== null);
  await afterLogin(parts, context, hookUser(account, shown));
  await recordAttempt(trx, parts.kernel, caller, {
    ...attemptOf(parts, entry),
    outcome: 'success',
    reason: null,
    sessionId: opened.session.id,
  });
  for (const id of opened.ended)
    emit('auth.session_ended', account.id, { session_id: id, reason: 'too many sessions' });
  const session_id = opened.session.id;
  emit('auth.login.succeeded', account.id, { method, amr, session_id, ...news });
  return opened.session;
}

async function renewSession(
  parts: SignInParts,
  { trx, emit, caller }: Opening,
  entry: PassedEntry,
): Promise<Session> {
  const { account, goal, amr } = entry;
  await assertSameAccount(parts, trx, account);
  await entry.writes?.(trx, emit);
  const id = goal.kind === 'reauthenticate' ? goal.sessionId : '';
  const session = await parts.sessions.renew(trx, { id, userId: account.id, amr }, (client) =>
    lifetimesOf(parts, client),
  );
  if (!session) throw failure.unauthenticated();
  await recordAttempt(trx, parts.kernel, caller, {
    ...attemptOf(parts, entry),
    outcome: 'success',
    reason: 'reauthenticated',
    sessionId: session.id,
  });
  return session;
}

/** The row of a sign-in in the log of attempts, for success and failure. */
export const attemptOf = (
  { keys }: Pick<SignInParts, 'keys'>,
  { account, method }: Pick<PassedEntry, 'account' | 'method'>,
) => ({
  kind: attemptKind(method),
  identifierHash: mac(keys.derived('identifier'), emailKey(account.email)),
  identifier: account.email,
  userId: account.id,
});

function attemptKind(method: AuthMethod): Attempt['kind'] {
  if (method.startsWith('oauth:')) return 'oauth';
  return method === 'passkey' || method === 'email' ? method : 'password';
}

/**
 * Refuses a sign-in during which the password was changed, TOTP was switched on or off, or the
 * account was deleted.
 *
 * @throws AppError 401, 403
 */
async function assertSameAccount(
  { directory }: SignInParts,
  trx: Trx,
  account: Account,
): Promise<void> {
  const current = await directory.find(trx, account.id);
  const same =
    current?.passwordChangedAt === account.passwordChangedAt &&
    current.totpSince === account.totpSince;
  if (!same) throw failure.unauthenticated('Invalid credentials');
  if (current.deletionAt !== null) throw failure.forbidden('Account deleted');
}

function toProfile(account: Account, lastLogin: number, withRole: boolean): Profile {
  const role: Role | null = withRole ? account.role : null;
  return {
    id: account.id,
    first_name: account.first_name,
    last_name: account.last_name,
    username: account.username,
    phone: account.phone,
    email: account.email,
    ...(role && { role_id: role.id, role_name: role.name }),
    avatar_url: account.avatar_url,
    last_login: numericOffset(lastLogin),
  };
}

function buildLoginObject(
  parts: SignInParts,
  profile: Profile,
  session: Session,
  generation: number,
  extend: Extended,
): IssuedLogin {
  const { kernel, keys, tokens } = parts;
  const { client } = session;
  const iat = Math.floor(kernel.now() / SECOND);
  const acting =
    session.impersonated_by === null ? null : { impersonated_by: session.impersonated_by };
  const exp = acting
    ? Math.floor(session.absolute_expires_at / SECOND)
    : iat + Math.floor(accessLifetime(parts, client) / SECOND);
  // Without `jti`, two logins of one user in the same second would get the same token, and logging
  // one out would end both.
  const accessToken = tokens.sign({
    user_id: profile.id,
    exp,
    extend,
    iat,
    jti: randomToken(16),
    sid: session.id,
    ...acting,
  });
  const base = { ...profile, accessToken, exp, extend, ...acting };
  if (!hasRefresh(parts, client) || acting) return { login: base, client };
  const refreshToken = makeRefreshToken(keys, session.id, generation, session.salt);
  return { login: { ...base, refreshToken, refreshExp: refreshExpiry(session) }, client };
}

/** The expiry of the newest refresh token of a session, in Unix seconds. */
export const refreshExpiry = (session: Session): number =>
  Math.floor(Math.min(session.idle_expires_at, session.absolute_expires_at) / SECOND);

/** Number of different user agents, newest first, that a sign-in is compared with. */
const MAX_COMPARED_AGENTS = 200;

/** Whether IP address and browser are new for this user. On a first login neither is. */
async function novelty(
  { store }: Kernel,
  account: Account,
  ip: string,
  userAgent: string,
): Promise<{ new_ip: boolean; new_device: boolean }> {
  if (account.last_login === null) return { new_ip: false, new_device: false };
  const sessions = store.db
    .selectFrom('auth_sessions')
    .where('user_id', '=', account.id)
    .where('impersonated_by', 'is', null);
  const address = await sessions.select('id').where('ip', '=', ip).limit(1).executeTakeFirst();
  const agents = await sessions
    .select('user_agent')
    .groupBy('user_agent')
    .orderBy((fields) => fields.fn.max('created_at'), 'desc')
    .limit(MAX_COMPARED_AGENTS)
    .execute();
  const seen = agents.map(({ user_agent }) => user_agent as string);
  const known =
    seen.includes(userAgent) || seen.some((agent) => deviceKind(agent) === deviceKind(userAgent));
  return { new_ip: address === undefined, new_device: !known };
}
