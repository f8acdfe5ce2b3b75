import type { Transaction } from 'kysely';
import type { AuthModel } from '@twofold/schema';
import type { Kernel, RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { AccessClaims, Tokens } from './access-token.ts';
import { recordAttempt } from './attempts.ts';
import { asUser, callerOf } from './caller.ts';
import { deviceKind } from './device-kind.ts';
import type { Events } from './events.ts';
import { type Extend, type Extended, runExtend } from './extend.ts';
import { randomToken } from './ids.ts';
import type { Keys } from './keys.ts';
import { makeRefreshToken } from './refresh-token.ts';
import type { AuthMethod, Session, Sessions } from './sessions.ts';
import { numericOffset, SECOND } from './time.ts';
import type { Account, Role, UserDirectory } from './user-directory.ts';

/** The signed-in user in API responses. */
export interface Profile {
  readonly id: Account['id'];
  readonly first_name: string;
  readonly last_name: string;
  readonly username: string;
  readonly phone: string;
  readonly email: string;
  readonly role_id?: number;
  readonly role_name?: string;
  readonly avatar_url: string;
  readonly last_login: string;
}

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

export interface SignIn {
  /** Opens a session for a user who has proved their identity, and returns its tokens. */
  open(
    context: RequestContext,
    account: Account,
    method: AuthMethod,
    extra?: OpenExtra,
  ): Promise<LoginObject>;
  /** Issues new tokens for an existing session. */
  continue(
    context: RequestContext,
    account: Account,
    session: Session,
    generation: number,
  ): Promise<LoginObject>;
  profile(account: Account, lastLogin: number): Profile;
}

export interface OpenExtra {
  /** HMAC of the identifier, for the attempts log. */
  readonly identifierHash?: string;
  readonly kind?: 'password' | 'oauth' | 'passkey';
  /** Further writes in the same transaction. */
  readonly within?: (trx: Transaction<any>) => Promise<void>;
  /** Called with the stored session before the tokens are made. */
  readonly onOpened?: (session: Session) => void;
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
}

export function createSignIn(parts: SignInParts): SignIn {
  const { kernel, model, sessions, directory, events } = parts;
  const profile: SignIn['profile'] = (account, lastLogin) =>
    toProfile(account, lastLogin, model.roles !== null);

  const extendFor = (context: RequestContext, account: Account) =>
    runExtend(parts.extend, account.id, {
      db: kernel.store.db,
      role: model.roles ? account.role : null,
      request: { id: context.id, ip: context.ip, headers: context.headers },
    });

  return {
    profile,
    open: async (context, account, method, extra = {}) => {
      const now = kernel.now();
      const caller = asUser(callerOf(context), account.id);
      // `extend` runs before anything is written, because the sign-in fails when it fails.
      const extended = await extendFor(context, account).catch(async (error: unknown) => {
        await recordAttempt(kernel.store.db, now, caller, {
          ...attemptOf(account, extra),
          outcome: 'failure',
          reason: 'extend_failed',
          sessionId: null,
        });
        throw error;
      });
      const news = await novelty(kernel, account, caller.ip, caller.userAgent);
      const session = await events.transact(caller, async (trx, emit) => {
        // The update waits for a running password reset, so that the row read after it contains the
        // result of that reset.
        await directory.update(trx, account.id, { last_login: now });
        await assertSamePassword(parts, trx, account);
        const opened = await sessions.open(trx, caller, { userId: account.id, method });
        await extra.within?.(trx);
        await recordAttempt(trx, now, caller, {
          ...attemptOf(account, extra),
          outcome: 'success',
          reason: null,
          sessionId: opened.session.id,
        });
        for (const id of opened.ended)
          emit('auth.session_ended', account.id, { session_id: id, reason: 'too many sessions' });
        emit('auth.login.succeeded', account.id, {
          method,
          session_id: opened.session.id,
          ...news,
        });
        return opened.session;
      });
      extra.onOpened?.(session);
      const shown = profile(account, account.last_login ?? now);
      return buildLoginObject(parts, shown, session, session.gen, extended);
    },
    continue: async (context, account, session, generation) => {
      const extended = await extendFor(context, account);
      const shown = profile(account, account.last_login ?? kernel.now());
      return buildLoginObject(parts, shown, session, generation, extended);
    },
  };
}

/** The row of a sign-in in the log of attempts, for success and failure. */
const attemptOf = ({ id, email }: Account, { kind, identifierHash }: OpenExtra) => ({
  kind: kind ?? ('password' as const),
  identifierHash: identifierHash ?? null,
  identifier: email,
  userId: id,
});

/** Refuses a sign-in during which the password was changed or the account deleted. @throws AppError 401, 403 */
async function assertSamePassword(
  { directory }: SignInParts,
  trx: Transaction<any>,
  account: Account,
): Promise<void> {
  const current = await directory.find(trx, account.id);
  if (!current || current.passwordChangedAt !== account.passwordChangedAt)
    throw failure.unauthenticated('Invalid credentials');
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
  { kernel, model, keys, tokens }: SignInParts,
  profile: Profile,
  session: Session,
  generation: number,
  extend: Extended,
): LoginObject {
  const iat = Math.floor(kernel.now() / SECOND);
  const acting =
    session.impersonated_by === null ? null : { impersonated_by: session.impersonated_by };
  const exp = acting
    ? Math.floor(session.absolute_expires_at / SECOND)
    : iat + Math.floor(model.jwt.ttl / SECOND);
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
  if (!model.refresh.enabled || acting) return base;
  return {
    ...base,
    refreshToken: makeRefreshToken(keys, session.id, generation, session.salt),
    refreshExp: Math.floor(Math.min(session.idle_expires_at, session.absolute_expires_at) / SECOND),
  };
}

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
