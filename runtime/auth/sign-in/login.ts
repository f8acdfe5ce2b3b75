import type { Context as KoaContext } from 'koa';
import { asSystem, type RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { profileOf } from '../users/profile.ts';
import { noteAttempt } from '../events/attempts.ts';
import { presentedKey } from '../requests/authenticate.ts';
import { addressKey, type Caller, callerOf } from '../base/caller.ts';
import type { Emit } from '../events/events.ts';
import { lockKeyOf } from '../limits/identifier.ts';
import { maskIdentifier } from '../base/identity-rules.ts';
import type { UserId } from '../base/ids.ts';
import type { LockKey, Ticket } from '../limits/lockout.ts';
import { hookUser } from '../auth-hooks.ts';
import type { AuthState } from '../state.ts';
import { rfc3339 } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import { hookRequest } from './hooks.ts';

/** One attempt to sign in with a password. */
interface PasswordAttempt {
  readonly context: RequestContext;
  readonly koa: KoaContext;
  readonly caller: Caller;
  readonly email: string;
  readonly password: string;
  readonly key: LockKey;
}

const HOOK_TIMEOUT = 2000;
/** A success after this many failures raises an alert. */
const SUSPICIOUS_FAILURES = 5;

/** Marks requests of the module's own pages, which need no API key. */
export const FROM_AUTH_PAGE = 'auth_page';

/** @throws AppError 401 `API key required` when the manifest requires a key and none was sent. */
export function requireApiKey(auth: AuthState, context: RequestContext): void {
  if (auth.model.requireApiKey && !presentedKey(context) && !context.values.get(FROM_AUTH_PAGE)[0])
    throw failure.unauthenticated('API key required');
}

export function toAttempt(
  auth: AuthState,
  context: RequestContext,
  koa: KoaContext,
  email: string,
  password: string,
): PasswordAttempt {
  const key = lockKeyOf(auth, koa, email);
  return { context, koa, caller: callerOf(context), email, password, key };
}

/**
 * Compares the password under the lockout. All failures take the same time and give the same
 * response.
 *
 * @param admit Called after a right password and before the failures are deleted. It refuses by
 * throwing.
 * @throws AppError 401, 423, 503
 */
export async function checkPassword(
  auth: AuthState,
  attempt: PasswordAttempt,
  admit?: (account: Account) => Promise<void>,
): Promise<Account> {
  const ticket = await enter(auth, attempt);
  try {
    const account = await auth.directory.findByEmail(auth.db, attempt.email);
    const right = await auth.passwords.verify(attempt.password, account?.password ?? null);
    if (!account || !right) return await refuse(auth, attempt, ticket, account);
    await admit?.(account);
    if (!waitsForCode(auth, account)) {
      const { failures } = await ticket.succeed();
      await noteSuccessAfter(auth, attempt.caller, { key: attempt.key, account, failures });
    }
    await rehash(auth, account, attempt.password);
    return account;
  } catch (error) {
    if (error instanceof AppError && error.status === 503)
      await note(auth, attempt, { outcome: 'blocked', reason: 'busy' });
    throw error;
  } finally {
    ticket.release();
  }
}

/**
 * A right password does not delete the failures of a user who still has to give a code: somebody who
 * knows the password could otherwise guess codes without end. The last step deletes them.
 */
export const waitsForCode = (auth: AuthState, { totpSince }: Account): boolean =>
  totpSince !== null && auth.model.secondFactor.mode !== 'off';

/** Raises an alert for a sign-in that succeeds after many failures. */
export async function noteSuccessAfter(
  auth: AuthState,
  caller: Caller,
  {
    key,
    account,
    failures,
  }: { readonly key: LockKey; readonly account: Account; readonly failures: number },
): Promise<void> {
  if (failures < SUSPICIOUS_FAILURES) return;
  await auth.alerts.raise(caller, 'alert.success_after_failures', key.identifierHash, account.id, {
    failures,
  });
}

async function enter(auth: AuthState, attempt: PasswordAttempt): Promise<Ticket> {
  try {
    return await auth.lockout.enter(attempt.key, attempt.context.signal);
  } catch (error) {
    await noteBlocked(auth, attempt, error);
    throw error;
  }
}

/** Notes an attempt that met a lock, or too many others. */
async function noteBlocked(
  auth: AuthState,
  attempt: PasswordAttempt,
  error: unknown,
): Promise<void> {
  const status = error instanceof AppError ? error.status : 0;
  if (status !== 423 && status !== 503) return;
  await note(auth, attempt, { outcome: 'blocked', reason: status === 423 ? 'locked' : 'busy' });
}

async function refuse(
  auth: AuthState,
  attempt: PasswordAttempt,
  ticket: Ticket,
  account: Account | null,
): Promise<never> {
  const { keep } = auth.store;
  const reason = 'bad_credentials';
  const { locked, until, failures } = await keep(() => ticket.fail());
  await auth.limits.allows({ policy: 'login-failed-ip', subject: addressKey(attempt.context.ip) });
  await note(auth, attempt, { outcome: 'failure', reason, account }, (emit) => {
    emit('auth.login.failed', account?.id ?? null, {
      reason,
      identifier_masked: maskIdentifier(attempt.email),
    });
    if (locked) emit('auth.locked', account?.id ?? null, { until: rfc3339(until), failures });
  });
  if (locked && account)
    await keep(() => nameLockedUser(auth, attempt.key.identifierHash, account.id));
  auth.alerts.observe({
    caller: attempt.caller,
    identifierHash: attempt.key.identifierHash,
    userId: account?.id ?? null,
  });
  throw failure.unauthenticated('Invalid credentials');
}

/** The hash of an address cannot be read back, so the list of locked users needs the id. */
async function nameLockedUser(
  auth: AuthState,
  identifierHash: string,
  user_id: UserId,
): Promise<void> {
  await auth.db
    .updateTable('auth_identifier_locks')
    .set({ user_id })
    .where('identifier_hash', '=', identifierHash)
    .execute();
}

/** Called only after a right password, so that others cannot learn the state of the account. */
export async function assertPasswordSignInAllowed(
  auth: AuthState,
  attempt: PasswordAttempt,
  account: Account,
): Promise<void> {
  const refusal = await refusalReason(auth, attempt, account);
  if (!refusal) return;
  await note(auth, attempt, { outcome: 'blocked', reason: refusal.reason, account }, (emit) =>
    emit('auth.login.failed', account.id, {
      reason: refusal.reason,
      identifier_masked: maskIdentifier(attempt.email),
    }),
  );
  throw refusal.error;
}

async function refusalReason(
  auth: AuthState,
  attempt: PasswordAttempt,
  account: Account,
): Promise<{ reason: string; error: AppError } | null> {
  if (account.disabledAt !== null)
    return { reason: 'disabled', error: failure.forbidden('Account disabled') };
  if (account.deletionAt !== null)
    return { reason: 'deleted', error: failure.forbidden('Account deleted') };
  if (auth.model.requireVerifiedEmail && !account.emailVerified)
    return { reason: 'unverified', error: failure.forbidden('Email not verified') };
  const error = await askHook(auth, account, attempt.context);
  return error && { reason: 'hook_denied', error };
}

/**
 * Calls the hook `beforeLogin`. It fails closed: an error or a timeout refuses the login.
 *
 * @returns the error that refuses the login, or null.
 */
export async function askHook(
  auth: AuthState,
  account: Account,
  context: RequestContext,
): Promise<AppError | null> {
  if (!auth.hooks.beforeLogin) return null;
  const profile = profileOf(auth, account);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`beforeLogin took longer than ${HOOK_TIMEOUT} ms`)),
      HOOK_TIMEOUT,
    );
  });
  try {
    const asked = auth.hooks.beforeLogin({
      user: hookUser(account, profile),
      request: hookRequest(context),
      ctx: asSystem(auth, context),
    });
    await Promise.race([asked, late]);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    auth.log.error(
      { requestId: context.id, stack: error instanceof Error ? error.stack : undefined },
      'the hook beforeLogin failed',
    );
    return failure.forbidden();
  } finally {
    clearTimeout(timer);
  }
}

function note(
  auth: AuthState,
  { key, email, caller }: PasswordAttempt,
  { account = null, ...attempt }: Noted,
  emitted?: (emit: Emit) => void,
): Promise<void> {
  const { identifierHash } = key;
  const who = { identifierHash, identifier: email, userId: account?.id ?? null };
  return noteAttempt(auth, caller, { kind: 'password', ...attempt, ...who }, emitted);
}

interface Noted {
  readonly outcome: 'failure' | 'blocked';
  readonly reason: string;
  readonly account?: Account | null;
}

/**
 * Replaces a hash of another cost while the plain password is known. If the password changes
 * meanwhile, that change is kept.
 */
async function rehash(auth: AuthState, account: Account, password: string): Promise<void> {
  if (!account.password || !auth.passwords.outdated(account.password)) return;
  try {
    const hash = await auth.passwords.hash(password);
    await auth.db
      .updateTable('auth_users')
      .set({ password: hash })
      .where('user_id', '=', account.id)
      .where('password', '=', account.password)
      .execute();
  } catch (error) {
    // A failure here does no harm, because the next login tries again.
    auth.log.warn(
      { reason: error instanceof Error ? error.message : 'unknown' },
      'a password was not rehashed',
    );
  }
}

/** @throws AppError 403 */
export async function assertSignInAllowed(
  auth: AuthState,
  context: RequestContext,
  account: Account,
): Promise<void> {
  if (account.disabledAt !== null) throw failure.forbidden('Account disabled');
  if (account.deletionAt !== null) throw failure.forbidden('Account deleted');
  if (auth.model.requireVerifiedEmail && !account.emailVerified)
    throw failure.forbidden('Email not verified');
  const refusal = await askHook(auth, account, context);
  if (refusal) throw refusal;
}
