import { randomInt } from 'node:crypto';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import { mac, sameText } from '../secrets/keys.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { WrongAnswer } from '../second-factor/recovery-codes.ts';
import { type Attempt, noteAttempt } from '../events/attempts.ts';
import type { Emit } from '../events/events.ts';
import { addressKey, callerOf } from '../base/caller.ts';
import { lockKeyFor } from '../limits/identifier.ts';
import { maskIdentifier } from '../base/identity-rules.ts';
import type { LockKey, Ticket } from '../limits/lockout.ts';
import { rfc3339 } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import type { HeldTicket } from './tickets.ts';

export const invalidCode = () => failure.unauthenticated('Invalid code');

/** One answer to a step, or to a mail. */
export interface CodeAttempt {
  readonly call: Call;
  readonly identifierHash: string;
  /** Null for an address without an account. Its answers are counted in the same way. */
  readonly account: Pick<Account, 'id' | 'email'> | null;
  readonly kind: Attempt['kind'];
  /** The error for a wrong answer. */
  readonly error: () => AppError;
}

/**
 * Runs `work` under the lockout of the address. A wrong answer counts as a wrong password does, so
 * that codes cannot be guessed on and on.
 *
 * @throws AppError the attempt's own for a wrong answer, 423, 429, 503
 */
export async function answerUnderLockout<T>(
  auth: AuthState,
  attempt: CodeAttempt,
  work: () => Promise<T>,
): Promise<T> {
  const { koa, context } = attempt.call;
  const subject = addressKey(context.ip);
  await auth.limits.enforce(koa, [{ policy: 'login-failed-ip', subject, peek: true }]);
  const key = lockKeyFor(auth, koa, attempt.identifierHash);
  const ticket = await enter(auth, attempt, key);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    return await refuse(auth, attempt, ticket);
  } finally {
    ticket.release();
  }
}

async function enter(auth: AuthState, attempt: CodeAttempt, key: LockKey): Promise<Ticket> {
  try {
    return await auth.lockout.enter(key, attempt.call.context.signal);
  } catch (error) {
    if (error instanceof AppError && error.status === 423)
      await note(auth, attempt, { outcome: 'blocked', reason: 'locked' });
    throw error;
  }
}

async function refuse(auth: AuthState, attempt: CodeAttempt, ticket: Ticket): Promise<never> {
  const { account, call, identifierHash } = attempt;
  const { locked, until, failures } = await ticket.fail();
  await auth.limits.allows({ policy: 'login-failed-ip', subject: addressKey(call.context.ip) });
  const reason = 'bad_code';
  const userId = account?.id ?? null;
  await note(auth, attempt, { outcome: 'failure', reason }, (emit) => {
    const identifier_masked = account ? maskIdentifier(account.email) : null;
    emit('auth.login.failed', userId, { reason, identifier_masked });
    if (locked) emit('auth.locked', userId, { until: rfc3339(until), failures });
  });
  auth.alerts.observe({ caller: callerOf(call.context), identifierHash, userId });
  throw attempt.error();
}

function note(
  auth: AuthState,
  { call, account, kind, identifierHash }: CodeAttempt,
  result: Pick<Attempt, 'outcome' | 'reason'>,
  emitted?: (emit: Emit) => void,
): Promise<void> {
  const who = { identifierHash, identifier: account?.email ?? null, userId: account?.id ?? null };
  return noteAttempt(auth, callerOf(call.context), { kind, ...result, ...who }, emitted);
}

/** A code of six digits. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** How a code is stored. A plain hash of six digits could be reversed. */
export function sealCode(auth: AuthState, purpose: string, code: string): string {
  return mac(auth.keys.derived('mail-code'), `${purpose}|${code}`);
}

/** The subject of a reauthentication's code, which binds it to the user. */
export const reauthenticationOf = (userId: UserId): string => `reauthentication|${userId}`;

/** Whether a code is the one that was mailed for a ticket. */
export function isMailedCode(
  auth: AuthState,
  { code: stored, entry }: HeldTicket,
  given: unknown,
): boolean {
  const code = String(given).replaceAll(/\s/g, '');
  return stored !== null && isSealedCode(auth, reauthenticationOf(entry.account.id), code, stored);
}

/** Whether `sealCode` made the value from this code, with the current secret or an earlier one. */
export function isSealedCode(
  auth: AuthState,
  purpose: string,
  code: string,
  sealed: string,
): boolean {
  return auth.keys
    .derivedAll('mail-code')
    .some((key) => sameText(mac(key, `${purpose}|${code}`), sealed));
}
