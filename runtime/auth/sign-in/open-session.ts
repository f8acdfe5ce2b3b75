import { asSystem, type RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { Change } from '../events/events.ts';
import { type IssuedLogin, issueTokens, type LiveSession } from '../sessions/issue-tokens.ts';
import type { AuthState } from '../state.ts';
import type { AuthMethod, Trx } from '../base/tables.ts';
import { type Attempt, noteAttempt, recordAttempt } from '../events/attempts.ts';
import { asUser, type Caller, callerOf, deviceKind } from '../base/caller.ts';
import { hookUser } from '../auth-hooks.ts';
import { runExtend } from '../sessions/extend.ts';
import { identifierOf } from '../limits/identifier.ts';
import { membershipsOf } from '../users/memberships.ts';
import { lifetimesOf } from '../sessions/client.ts';
import type { Session } from '../sessions/sessions.ts';
import { profileOf } from '../users/profile.ts';
import type { Account } from '../users/user-directory.ts';
import type { PassedEntry } from './entry.ts';
import { afterLogin } from './hooks.ts';

/** Opens a session for a user who has passed every step, and returns its tokens. */
export async function openSession(
  auth: AuthState,
  context: RequestContext,
  entry: PassedEntry,
): Promise<IssuedLogin> {
  const { account } = entry;
  const extended = await extendOrNote(auth, context, entry);
  const caller = asUser(callerOf(context), account.id);
  const news = await novelty(auth, account, caller);
  const session = await auth.events.transact(caller, (change) =>
    storeSession(auth, { ...change, context }, entry, news),
  );
  return issueTokens(auth, account, { current: session, generation: session.gen }, extended);
}

/**
 * Continues the session of a reauthentication with new tokens (ASVS 7.2.4).
 *
 * @throws AppError 401 when it has ended
 */
export async function renewSession(
  auth: AuthState,
  context: RequestContext,
  entry: PassedEntry,
): Promise<IssuedLogin> {
  const { account } = entry;
  const extended = await extendOrNote(auth, context, entry);
  const caller = asUser(callerOf(context), account.id);
  const session = await auth.events.transact(caller, (change) => storeRenewal(auth, change, entry));
  return issueTokens(auth, account, { current: session, generation: session.gen }, extended);
}

/** Issues new tokens for an existing session. */
export async function continueSession(
  auth: AuthState,
  context: RequestContext,
  account: Account,
  session: LiveSession,
): Promise<IssuedLogin> {
  return issueTokens(auth, account, session, await extendFor(auth, context, account));
}

async function extendFor(auth: AuthState, context: RequestContext, account: Account) {
  const { organizations, roles } = auth.model;
  const { extend } = auth.hooks;
  const ctx = asSystem(auth, context);
  return runExtend(extend, account.id, {
    get db() {
      return ctx.db;
    },
    ctx,
    role: roles ? account.role : null,
    ...(organizations &&
      extend && { organizations: await membershipsOf(auth.store, organizations, account.id) }),
    request: { id: context.id, ip: context.ip, headers: context.headers },
  });
}

/** `extend` runs before anything is written, because the sign-in fails when it fails. */
async function extendOrNote(auth: AuthState, context: RequestContext, entry: PassedEntry) {
  try {
    return await extendFor(auth, context, entry.account);
  } catch (error) {
    // What made the user of this entry notes it itself, because that user is rolled back.
    if (!isNew(entry)) await noteExtendFailure(auth, context, entry);
    throw error;
  }
}

const isNew = ({ goal }: PassedEntry) => goal.kind === 'session' && goal.status === 201;

/** Adds an attempt that stays if a transaction around the sign-in is rolled back. */
function noteExtendFailure(
  auth: AuthState,
  context: RequestContext,
  entry: PassedEntry,
): Promise<void> {
  const caller = asUser(callerOf(context), entry.account.id);
  return noteAttempt(auth, caller, {
    ...attemptOf(auth, entry),
    outcome: 'failure',
    reason: 'extend_failed',
  });
}

/** A transaction of a sign-in. */
interface Opening extends Change {
  readonly context: RequestContext;
}

async function storeSession(
  auth: AuthState,
  change: Opening,
  entry: PassedEntry,
  news: Readonly<Record<string, unknown>>,
): Promise<Session> {
  const { context, trx, emit, caller } = change;
  const { account, method, amr } = entry;
  const now = auth.now();
  // The update waits for a running password reset, so that the row read after it contains the
  // result of that reset.
  await auth.directory.update(trx, account.id, { last_login: now });
  await assertSameAccount(auth, trx, account);
  await entry.writes?.(change);
  const client = entry.goal.kind === 'session' ? (entry.goal.client ?? null) : null;
  const lifetimes = lifetimesOf(auth, client);
  const opened = await auth.sessions.open(trx, caller, {
    userId: account.id,
    method,
    amr,
    ...(client !== null && { client }),
    ...(lifetimes && { lifetimes }),
  });
  await afterLogin(auth, context, hookUser(account, profileOf(auth, account)));
  await recordAttempt(trx, auth, caller, {
    ...attemptOf(auth, entry),
    outcome: 'success',
    sessionId: opened.session.id,
  });
  for (const id of opened.ended)
    emit('auth.session_ended', account.id, { session_id: id, reason: 'too many sessions' });
  const session_id = opened.session.id;
  emit('auth.login.succeeded', account.id, { method, amr, session_id, ...news });
  return opened.session;
}

async function storeRenewal(auth: AuthState, change: Change, entry: PassedEntry): Promise<Session> {
  const { trx, caller } = change;
  const { account, goal, amr } = entry;
  await assertSameAccount(auth, trx, account);
  await entry.writes?.(change);
  const id = goal.kind === 'reauthenticate' ? goal.sessionId : '';
  const session = await auth.sessions.renew(trx, { id, userId: account.id, amr }, (client) =>
    lifetimesOf(auth, client),
  );
  if (!session) throw failure.unauthenticated();
  await recordAttempt(trx, auth, caller, {
    ...attemptOf(auth, entry),
    outcome: 'success',
    reason: 'reauthenticated',
    sessionId: session.id,
  });
  return session;
}

/** The row of a sign-in in the log of attempts, for success and failure. */
export const attemptOf = (
  auth: AuthState,
  { account, method }: Pick<PassedEntry, 'account' | 'method'>,
) => ({
  kind: attemptKind(method),
  identifierHash: identifierOf(auth, account.email),
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
async function assertSameAccount(auth: AuthState, trx: Trx, account: Account): Promise<void> {
  const current = await auth.directory.find(trx, account.id);
  const same =
    current?.passwordChangedAt === account.passwordChangedAt &&
    current.totpSince === account.totpSince;
  if (!same) throw failure.unauthenticated('Invalid credentials');
  if (current.deletionAt !== null) throw failure.forbidden('Account deleted');
}

/** Number of different user agents, newest first, that a sign-in is compared with. */
const MAX_COMPARED_AGENTS = 200;

/** Whether IP address and browser are new for this user. On a first login neither is. */
async function novelty(
  { db }: AuthState,
  account: Account,
  { ip, userAgent }: Caller,
): Promise<{ new_ip: boolean; new_device: boolean }> {
  if (account.last_login === null) return { new_ip: false, new_device: false };
  const sessions = db
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
