import { failure, InternalError } from '@twofold/runtime/errors';
import { type BoundRoute, type Call, createChecks, koaOf } from '@twofold/runtime/http';
import type { Credentialed, RequestContext } from '@twofold/runtime/kernel';
import { advance } from '../steps/advance.ts';
import { type Change, disabling, enable } from '../admin/users.ts';
import { addressKey, asUser, callerOf } from '../requests/caller.ts';
import { endAccess, type KeptAccess } from '../sessions/ended-access.ts';
import { storedUserId, type UserId } from '../ids.ts';
import { askHook, checkPassword, toAttempt } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import { assertStillOpen } from '../steps/reauthentication.ts';
import { refuseImpersonation } from '../users/authority.ts';
import type { LoginObject } from '../sessions/sign-in.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { validator } from '../validator.ts';
import { type Identity, setIdentity } from './identity.ts';
import { recogniseToken } from './credentials.ts';
import type { AuthMethod } from '../tables.ts';

type Body = Readonly<Record<string, unknown>>;

/** The login object in the project's own code, where the ids of rows are text. */
export type OwnLogin = Omit<LoginObject, 'id'> & { readonly id: string };

/**
 * `ctx.auth`: sign-in from code of the project's own. Bodies, checks, limits, events and texts are
 * those of the endpoints; a refusal is an `AppError` with their status.
 *
 * @example const login = await ctx.auth.login({ email, password });
 */
export interface Auth {
  /**
   * Null when no session is opened: under `enumeration: strict`, or before the address is verified.
   */
  register(body: Body): Promise<OwnLogin | null>;
  login(body: Body): Promise<OwnLogin>;
  refresh(body: Body): Promise<OwnLogin>;
  /** Opens a session for a user whom the caller has recognised in another way. */
  issue(userId: UserId, options?: { readonly method?: string }): Promise<OwnLogin>;
  /** The user of an access token, as credentials return it; null when it is not valid. */
  verify(accessToken: string): Promise<Credentialed | null>;
  /**
   * Ends all other sessions, and what `keep` does not name.
   *
   * @throws AppError 401 for a wrong `current_password`
   */
  changePassword(userId: UserId, body: PasswordChange): Promise<void>;
  /** Like `changePassword`, but without the old password. All sessions end. */
  setPassword(userId: UserId, password: string): Promise<void>;
  /**
   * Changes what a user signs in with: checked and unique as at registration. A new address is not
   * verified; it gets the mail that verifies it, and the old one a mail about the change.
   *
   * @throws AppError 400, 409 when another user has it
   */
  setIdentity(userId: UserId, identity: Identity): Promise<void>;
  /** Ends the session of the caller. */
  logout(): Promise<void>;
  logoutAll(userId: UserId): Promise<void>;
  disable(userId: UserId): Promise<void>;
  enable(userId: UserId): Promise<void>;
  /** Ends the user's access tokens after data of `extend` has changed. */
  invalidateExtend(userId: UserId): Promise<void>;
}

/** The body of a change of the password. */
export interface PasswordChange {
  readonly current_password: string;
  readonly new_password: string;
  /** The access that goes on; absent: API keys and foreign identities end. */
  readonly keep?: readonly KeptAccess[];
}

/** The bound routes, and the same ones without limits for code that no request calls. */
export interface AuthRoutes {
  readonly limited: readonly BoundRoute[];
  readonly free: () => readonly BoundRoute[];
}

/** Makes `ctx.auth` of a context. */
export function createAuthApi(
  parts: AuthParts,
  routes: AuthRoutes,
): (context: RequestContext) => Auth {
  const call = createCalls(routes);
  return (context) => ({
    register: async (body) => {
      const { status, body: login } = await call(context, 'register', body);
      return status === 201 ? toOwn(login) : null;
    },
    login: async (body) => toOwn((await call(context, 'login', body)).body),
    refresh: async (body) => toOwn((await call(context, 'refresh', body)).body),
    issue: (userId, { method = 'own' } = {}) => issue(parts, context, userId, method),
    verify: async (accessToken) => recogniseToken(parts, accessToken),
    invalidateExtend: async (userId) =>
      parts.directory.update(parts.kernel.store.db, storedUserId(userId), {
        tokens_valid_after: parts.kernel.now(),
      }),
    setIdentity: async (userId, identity) =>
      setIdentity(parts, context, await accountOf(parts, userId), identity),
    ...passwords(parts, context, call.checked),
    ...sessions(parts, context),
  });
}

/** Where a step is left to do, there is no id yet. */
function toOwn(answer: unknown): OwnLogin {
  const login = answer as LoginObject;
  return 'id' in login ? { ...login, id: String(login.id) } : (login as unknown as OwnLogin);
}

function createCalls({ limited, free }: AuthRoutes) {
  const checks = createChecks(validator);
  const routeOf = (routes: readonly BoundRoute[], id: string) => {
    const route = routes.find(({ spec }) => spec.id === id);
    if (!route) throw new InternalError(`ctx.auth.${id} needs auth: in the manifest`);
    return route;
  };
  const bodyOf = ({ spec: { body } }: BoundRoute, given: object) =>
    body?.kind === 'json' ? checks.body(body.schema)(given) : given;
  const call = async (context: RequestContext, id: string, given: Body) => {
    const { koa, attached } = koaOf(context);
    const route = routeOf(attached ? limited : free(), id);
    const body = bodyOf(route, given);
    return route.handle({ route: route.spec, params: {}, query: {}, body, context, koa });
  };
  /** The body, if the route accepts it. @throws AppError 400 */
  const checked: Checked = (id, given) => bodyOf(routeOf(limited, id), given) as typeof given;
  return Object.assign(call, { checked });
}

type Checked = <Given extends object>(id: string, given: Given) => Given;

async function issue(
  parts: AuthParts,
  context: RequestContext,
  userId: UserId,
  method: string,
): Promise<OwnLogin> {
  const account = await accountOf(parts, userId);
  if (isClosed(account)) throw failure.forbidden('Account disabled');
  const refusal = await askHook(parts, account, context);
  if (refusal) throw refusal;
  const { koa } = koaOf(context);
  const call = { context, koa, body: {} } as unknown as Call;
  const goal = { kind: 'session', status: 200 } as const;
  const entry = { account, method: method as AuthMethod, amr: [], goal };
  return toOwn((await advance(parts, call, entry)).body);
}

async function accountOf({ directory, kernel }: AuthParts, userId: UserId): Promise<Account> {
  const account = await directory.find(kernel.store.db, storedUserId(userId));
  if (!account) throw failure.notFound('User not found');
  return account;
}

function passwords(
  parts: AuthParts,
  context: RequestContext,
  checked: Checked,
): Pick<Auth, 'changePassword' | 'setPassword'> {
  return {
    changePassword: async (userId, body) => {
      const { current_password, new_password, keep } = checked('changePassword', body);
      const { koa, attached } = koaOf(context);
      const limit = { policy: 'auth-ip', subject: addressKey(context.ip) };
      if (attached) await parts.limits.enforce(koa, [limit]);
      refuseImpersonation(context);
      if (current_password === undefined) throw failure.badRequest('current_password is required');
      const account = await accountOf(parts, userId);
      await checkPassword(parts, toAttempt(parts, context, koa, account.email, current_password));
      await store(parts, context, account, {
        password: new_password,
        reason: 'password changed',
        ...(keep && { keep }),
        ...ownSession(context, account.id),
      });
    },
    setPassword: async (userId, password) =>
      store(parts, context, await accountOf(parts, userId), { password, reason: 'password set' }),
  };
}

/** The session of the caller, which a change of their own password keeps. */
function ownSession({ principal }: RequestContext, userId: UserId): { session?: string } {
  return principal.kind === 'user' && principal.id === userId && principal.sessionId
    ? { session: principal.sessionId }
    : {};
}

interface NewPassword {
  readonly password: string;
  readonly reason: string;
  readonly session?: string;
  readonly keep?: readonly KeptAccess[];
}

async function store(
  parts: AuthParts,
  context: RequestContext,
  account: Account,
  { password, ...ending }: NewPassword,
): Promise<void> {
  const { policy, passwords: hashing, events, directory, kernel } = parts;
  await policy.assert(password, account);
  const hash = await hashing.hash(password);
  const caller = asUser(callerOf(context), account.id);
  const now = kernel.now();
  await events.transact(caller, async (trx, emit) => {
    await directory.update(trx, account.id, {
      password: hash,
      password_changed_at: now,
      ...(ending.session === undefined && { tokens_valid_after: now }),
    });
    // A reset that was under way has ended the session of the caller, and its password stays.
    if (ending.session !== undefined) await assertStillOpen(parts, trx, ending.session);
    const ended = await endAccess(parts, { trx, emit, caller }, account, ending);
    emit('password.changed', account.id, { ...ended });
  });
}

function sessions(
  parts: AuthParts,
  context: RequestContext,
): Pick<Auth, 'logout' | 'logoutAll' | 'disable' | 'enable'> {
  const { events, kernel, directory } = parts;
  const change = async (userId: UserId, work: Change) => {
    const account = await accountOf(parts, userId);
    const caller = callerOf(context);
    await events.transact(caller, (trx, emit) => work(account, trx, emit, caller));
  };
  return {
    logout: async () => {
      const { principal } = context;
      if (principal.kind !== 'user' || !principal.sessionId) throw failure.unauthenticated();
      await events.transact(callerOf(context), async (trx, emit) => {
        if (await parts.sessions.end(trx, principal.sessionId, 'logout'))
          emit('auth.logout', principal.id, { session_id: principal.sessionId });
      });
      clearRefreshCookie(parts, koaOf(context).koa);
    },
    logoutAll: async (given) => {
      const userId = storedUserId(given);
      await events.transact(asUser(callerOf(context), userId), async (trx, emit) => {
        const revoked = await parts.sessions.endAll(trx, userId, 'logout everywhere');
        await directory.update(trx, userId, { tokens_valid_after: kernel.now() });
        emit('auth.logout_all', userId, { revoked });
      });
    },
    disable: (userId) => change(userId, disabling(parts)),
    enable: (userId) => change(userId, (...args) => enable(parts, ...args)),
  };
}
