import { failure } from '@twofold/runtime/errors';
import { type Call, koaOf } from '@twofold/runtime/http';
import type { Credentialed, RequestContext } from '@twofold/runtime/kernel';
import type { LoginObject } from '../sessions/issue-tokens.ts';
import { advance } from '../sign-in/advance.ts';
import { type AccountChange, disabling, enable } from '../admin/users.ts';
import { addressKey, asUser, callerOf } from '../base/caller.ts';
import type { FlowCalls } from '../requests/flow-calls.ts';
import {
  type EndOptions,
  endSessions,
  type KeptAccess,
  logOut,
  replacePassword,
} from '../sign-in/ended-access.ts';
import { storedUserId, type UserId } from '../base/ids.ts';
import { askHook, checkPassword, toAttempt } from '../sign-in/login.ts';
import type { AuthState } from '../state.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import { refuseImpersonation } from '../requests/authority.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { recogniseToken } from '../requests/credentials.ts';
import type { AuthMethod } from '../base/tables.ts';
import { type Identity, setIdentity } from './identity.ts';

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

/** The flows as a request calls them, and without limits, for code that no request calls. */
export interface OwnCalls {
  readonly limited: FlowCalls;
  readonly free: FlowCalls;
}

/** Makes `ctx.auth` of a context. */
export function createAuthApi(
  auth: AuthState,
  { limited, free }: OwnCalls,
): (context: RequestContext) => Auth {
  const call = async (context: RequestContext, flow: string, body: Body) => {
    const { koa, attached } = koaOf(context);
    return (attached ? limited : free).call(flow, { koa, context }, { body });
  };
  return (context) => ({
    register: async (body) => {
      const { status, body: login } = await call(context, 'POST /api/auth/register', body);
      return status === 201 ? toOwn(login) : null;
    },
    login: async (body) => toOwn((await call(context, 'POST /api/auth/login', body)).body),
    refresh: async (body) => toOwn((await call(context, 'POST /api/auth/refresh', body)).body),
    issue: (userId, { method = 'own' } = {}) => issue(auth, context, userId, method),
    verify: async (accessToken) => recogniseToken(auth, accessToken),
    invalidateExtend: async (userId) =>
      auth.directory.update(auth.db, storedUserId(userId), { tokens_valid_after: auth.now() }),
    setIdentity: async (userId, identity) =>
      setIdentity(auth, context, await accountOf(auth, userId), identity),
    ...passwords(auth, context, limited),
    ...sessions(auth, context),
  });
}

/** Where a step is left to do, there is no id yet. */
function toOwn(answer: unknown): OwnLogin {
  const login = answer as LoginObject;
  return 'id' in login ? { ...login, id: String(login.id) } : (login as unknown as OwnLogin);
}

async function issue(
  auth: AuthState,
  context: RequestContext,
  userId: UserId,
  method: string,
): Promise<OwnLogin> {
  const account = await accountOf(auth, userId);
  if (isClosed(account)) throw failure.forbidden('Account disabled');
  const refusal = await askHook(auth, account, context);
  if (refusal) throw refusal;
  const { koa } = koaOf(context);
  const call = { context, koa, body: {} } as unknown as Call;
  const goal = { kind: 'session', status: 200 } as const;
  const entry = { account, method: method as AuthMethod, amr: [], goal };
  return toOwn((await advance(auth, call, entry)).body);
}

async function accountOf(auth: AuthState, userId: UserId): Promise<Account> {
  const account = await auth.directory.find(auth.db, storedUserId(userId));
  if (!account) throw failure.notFound('User not found');
  return account;
}

function passwords(
  auth: AuthState,
  context: RequestContext,
  calls: FlowCalls,
): Pick<Auth, 'changePassword' | 'setPassword'> {
  return {
    changePassword: async (userId, body) => {
      const { current_password, new_password, keep } = calls.checked(
        'POST /api/auth/change-password',
        body,
      );
      const { koa, attached } = koaOf(context);
      const limit = { policy: 'auth-ip', subject: addressKey(context.ip) };
      if (attached) await auth.limits.enforce(koa, [limit]);
      refuseImpersonation(context);
      if (current_password === undefined) throw failure.badRequest('current_password is required');
      const account = await accountOf(auth, userId);
      await checkPassword(auth, toAttempt(auth, context, koa, account.email, current_password));
      await store(auth, context, account, {
        password: new_password,
        reason: 'password changed',
        ...(keep && { keep }),
        ...ownSession(context, account.id),
      });
    },
    setPassword: async (userId, password) =>
      store(auth, context, await accountOf(auth, userId), { password, reason: 'password set' }),
  };
}

/** The session of the caller, which a change of their own password keeps. */
function ownSession({ principal }: RequestContext, userId: UserId): { session?: string } {
  return principal.kind === 'user' && principal.id === userId && principal.sessionId
    ? { session: principal.sessionId }
    : {};
}

async function store(
  auth: AuthState,
  context: RequestContext,
  account: Account,
  { password, ...ending }: EndOptions & { readonly password: string },
): Promise<void> {
  const stale = ending.session === undefined;
  const replace = await replacePassword(auth, account, password, { ...ending, stale });
  await auth.events.transact(asUser(callerOf(context), account.id), replace);
}

function sessions(
  auth: AuthState,
  context: RequestContext,
): Pick<Auth, 'logout' | 'logoutAll' | 'disable' | 'enable'> {
  const change = async (userId: UserId, work: AccountChange) => {
    const account = await accountOf(auth, userId);
    await auth.events.transact(callerOf(context), (each) => work(account, each));
  };
  return {
    logout: async () => {
      const { principal } = context;
      if (principal.kind !== 'user' || !principal.sessionId) throw failure.unauthenticated();
      await logOut(auth, context);
      clearRefreshCookie(auth, koaOf(context).koa);
    },
    logoutAll: async (given) => {
      const userId = storedUserId(given);
      await auth.events.transact(asUser(callerOf(context), userId), (each) =>
        endSessions(auth, each, userId, 'logout everywhere'),
      );
    },
    disable: (userId) => change(userId, disabling(auth)),
    enable: (userId) => change(userId, (...args) => enable(auth, ...args)),
  };
}
