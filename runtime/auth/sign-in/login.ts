import type { Trx } from '../tables.ts';
import type { Context as KoaContext } from 'koa';
import { asSystem, type RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { recordAttempt } from '../events/attempts.ts';
import { presentedKey } from '../requests/authenticate.ts';
import { addressKey, type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { lockKeyOf } from './identifier.ts';
import { maskIdentifier } from './identity-rules.ts';
import type { UserId } from '../ids.ts';
import type { LockKey, Ticket } from './lockout.ts';
import { hookRequest } from '../own/call-hook.ts';
import { hookUser } from '../auth-hooks.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

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
export function requireApiKey({ model }: AuthParts, context: RequestContext): void {
  if (model.requireApiKey && !presentedKey(context) && !context.values.get(FROM_AUTH_PAGE)[0])
    throw failure.unauthenticated('API key required');
}

export function toAttempt(
  parts: AuthParts,
  context: RequestContext,
  koa: KoaContext,
  email: string,
  password: string,
): PasswordAttempt {
  const key = lockKeyOf(parts, koa, email);
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
  parts: AuthParts,
  attempt: PasswordAttempt,
  admit?: (account: Account) => Promise<void>,
): Promise<Account> {
  const ticket = await enter(parts, attempt);
  try {
    const account = await parts.directory.findByEmail(parts.kernel.store.db, attempt.email);
    const right = await parts.passwords.verify(attempt.password, account?.password ?? null);
    if (!account || !right) return await refuse(parts, attempt, ticket, account);
    await admit?.(account);
    if (!waitsForCode(parts, account)) {
      const { failures } = await ticket.succeed();
      await noteSuccessAfter(parts, attempt.caller, { key: attempt.key, account, failures });
    }
    await rehash(parts, account, attempt.password);
    return account;
  } catch (error) {
    if (error instanceof AppError && error.status === 503)
      await note(parts, attempt, 'blocked', 'busy', null);
    throw error;
  } finally {
    ticket.release();
  }
}

/**
 * A right password does not delete the failures of a user who still has to give a code: somebody who
 * knows the password could otherwise guess codes without end. The last step deletes them.
 */
export const waitsForCode = ({ model }: AuthParts, { totpSince }: Account): boolean =>
  totpSince !== null && model.secondFactor.mode !== 'off';

/** Raises an alert for a sign-in that succeeds after many failures. */
export async function noteSuccessAfter(
  parts: AuthParts,
  caller: Caller,
  {
    key,
    account,
    failures,
  }: { readonly key: LockKey; readonly account: Account; readonly failures: number },
): Promise<void> {
  if (failures < SUSPICIOUS_FAILURES) return;
  await parts.alerts.raise(caller, 'alert.success_after_failures', key.identifierHash, account.id, {
    failures,
  });
}

async function enter(parts: AuthParts, attempt: PasswordAttempt): Promise<Ticket> {
  try {
    return await parts.lockout.enter(attempt.key, attempt.context.signal);
  } catch (error) {
    if (error instanceof AppError && error.status === 423)
      await note(parts, attempt, 'blocked', 'locked', null);
    if (error instanceof AppError && error.status === 503)
      await note(parts, attempt, 'blocked', 'busy', null);
    throw error;
  }
}

async function refuse(
  parts: AuthParts,
  attempt: PasswordAttempt,
  ticket: Ticket,
  account: Account | null,
): Promise<never> {
  const { keep } = parts.kernel.store;
  const { locked, until, failures } = await keep(() => ticket.fail());
  await parts.limits.allows({ policy: 'login-failed-ip', subject: addressKey(attempt.context.ip) });
  await note(parts, attempt, 'failure', 'bad_credentials', account, (emit) => {
    emit('auth.login.failed', account?.id ?? null, {
      reason: 'bad_credentials',
      identifier_masked: maskIdentifier(attempt.email),
    });
    if (locked) emit('auth.locked', account?.id ?? null, { until: rfc3339(until), failures });
  });
  if (locked && account)
    await keep(() => nameLockedUser(parts, attempt.key.identifierHash, account.id));
  parts.alerts.observe({
    caller: attempt.caller,
    identifierHash: attempt.key.identifierHash,
    userId: account?.id ?? null,
  });
  throw failure.unauthenticated('Invalid credentials');
}

/** The hash of an address cannot be read back, so the list of locked users needs the id. */
async function nameLockedUser(
  { kernel }: AuthParts,
  identifierHash: string,
  user_id: UserId,
): Promise<void> {
  await kernel.store.db
    .updateTable('auth_identifier_locks')
    .set({ user_id })
    .where('identifier_hash', '=', identifierHash)
    .execute();
}

/** Called only after a right password, so that others cannot learn the state of the account. */
export async function assertPasswordSignInAllowed(
  parts: AuthParts,
  attempt: PasswordAttempt,
  account: Account,
): Promise<void> {
  const refusal = await refusalReason(parts, attempt, account);
  if (!refusal) return;
  await note(parts, attempt, 'blocked', refusal.reason, account, (emit) =>
    emit('auth.login.failed', account.id, {
      reason: refusal.reason,
      identifier_masked: maskIdentifier(attempt.email),
    }),
  );
  throw refusal.error;
}

async function refusalReason(
  parts: AuthParts,
  attempt: PasswordAttempt,
  account: Account,
): Promise<{ reason: string; error: AppError } | null> {
  if (account.disabledAt !== null)
    return { reason: 'disabled', error: failure.forbidden('Account disabled') };
  if (account.deletionAt !== null)
    return { reason: 'deleted', error: failure.forbidden('Account deleted') };
  if (parts.model.requireVerifiedEmail && !account.emailVerified)
    return { reason: 'unverified', error: failure.forbidden('Email not verified') };
  const error = await askHook(parts, account, attempt.context);
  return error && { reason: 'hook_denied', error };
}

/**
 * Calls the hook `beforeLogin`. It fails closed: an error or a timeout refuses the login.
 *
 * @returns the error that refuses the login, or null.
 */
export async function askHook(
  { hooks, kernel, signIn }: AuthParts,
  account: Account,
  context: RequestContext,
): Promise<AppError | null> {
  if (!hooks.beforeLogin) return null;
  const profile = signIn.profile(account, account.last_login ?? kernel.now());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`beforeLogin took longer than ${HOOK_TIMEOUT} ms`)),
      HOOK_TIMEOUT,
    );
  });
  try {
    const asked = hooks.beforeLogin({
      user: hookUser(account, profile),
      request: hookRequest(context),
      ctx: asSystem(kernel, context),
    });
    await Promise.race([asked, late]);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    kernel.log.error(
      { requestId: context.id, stack: error instanceof Error ? error.stack : undefined },
      'the hook beforeLogin failed',
    );
    return failure.forbidden();
  } finally {
    clearTimeout(timer);
  }
}

/** Runs work in a transaction whose effect stays if an outer transaction is rolled back. */
const recordKept = (
  { events, kernel }: AuthParts,
  caller: Caller,
  work: (trx: Trx, emit: Emit) => Promise<void>,
): Promise<void> => kernel.store.keep(() => events.transact(caller, work));

/** Writes the attempt and its events in one transaction. */
async function note(
  parts: AuthParts,
  attempt: PasswordAttempt,
  outcome: 'failure' | 'blocked',
  reason: string,
  account: Account | null,
  events?: (emit: Emit) => void,
): Promise<void> {
  await recordKept(parts, attempt.caller, async (trx, emit) => {
    await recordAttempt(trx, parts.kernel, attempt.caller, {
      kind: 'password',
      outcome,
      reason,
      identifierHash: attempt.key.identifierHash,
      identifier: attempt.email,
      userId: account?.id ?? null,
      sessionId: null,
    });
    events?.(emit);
  });
}

/**
 * Replaces a hash of another cost while the plain password is known. If the password changes
 * meanwhile, that change is kept.
 */
async function rehash(
  { passwords, kernel }: AuthParts,
  account: Account,
  password: string,
): Promise<void> {
  if (!account.password || !passwords.outdated(account.password)) return;
  try {
    const hash = await passwords.hash(password);
    await kernel.store.db
      .updateTable('auth_users')
      .set({ password: hash })
      .where('user_id', '=', account.id)
      .where('password', '=', account.password)
      .execute();
  } catch (error) {
    // A failure here does no harm, because the next login tries again.
    kernel.log.warn(
      { reason: error instanceof Error ? error.message : 'unknown' },
      'a password was not rehashed',
    );
  }
}
