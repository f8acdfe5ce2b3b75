import { AppError, failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import { type Attempt, recordAttempt } from '../events/attempts.ts';
import { addressKey, callerOf } from '../requests/caller.ts';
import { lockKeyFor } from '../sign-in/identifier.ts';
import { maskIdentifier } from '../sign-in/identity-rules.ts';
import type { LockKey, Ticket } from '../sign-in/lockout.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

/** Thrown by the work of `answerUnderLockout` when the answer is wrong. */
export class WrongAnswer extends Error {}

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
  parts: AuthParts,
  attempt: CodeAttempt,
  work: () => Promise<T>,
): Promise<T> {
  const { koa, context } = attempt.call;
  const subject = addressKey(context.ip);
  await parts.limits.enforce(koa, [{ policy: 'login-failed-ip', subject, peek: true }]);
  const key = lockKeyFor(parts, koa, attempt.identifierHash);
  const ticket = await enter(parts, attempt, key);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    return await refuse(parts, attempt, key, ticket);
  } finally {
    ticket.release();
  }
}

async function enter(parts: AuthParts, attempt: CodeAttempt, key: LockKey): Promise<Ticket> {
  try {
    return await parts.lockout.enter(key, attempt.call.context.signal);
  } catch (error) {
    if (error instanceof AppError && error.status === 423)
      await note(parts, attempt, key, { outcome: 'blocked', reason: 'locked' });
    throw error;
  }
}

async function refuse(
  parts: AuthParts,
  attempt: CodeAttempt,
  key: LockKey,
  ticket: Ticket,
): Promise<never> {
  const { account, call } = attempt;
  const locked = await ticket.fail();
  await parts.limits.allows({ policy: 'login-failed-ip', subject: addressKey(call.context.ip) });
  await note(parts, attempt, key, { outcome: 'failure', reason: 'bad_code', locked });
  const caller = callerOf(call.context);
  parts.alerts.observe({ caller, identifierHash: key.identifierHash, userId: account?.id ?? null });
  throw attempt.error();
}

async function note(
  parts: AuthParts,
  { call, account, kind }: CodeAttempt,
  { identifierHash }: LockKey,
  result: {
    readonly outcome: 'failure' | 'blocked';
    readonly reason: string;
    readonly locked?: Awaited<ReturnType<Ticket['fail']>>;
  },
): Promise<void> {
  const { outcome, reason, locked } = result;
  const caller = callerOf(call.context);
  await parts.events.transact(caller, async (trx, emit) => {
    await recordAttempt(trx, parts.kernel, caller, {
      kind,
      outcome,
      reason,
      identifierHash,
      identifier: account?.email ?? null,
      userId: account?.id ?? null,
      sessionId: null,
    });
    if (outcome === 'blocked') return;
    emit('auth.login.failed', account?.id ?? null, {
      reason,
      identifier_masked: account ? maskIdentifier(account.email) : null,
    });
    if (locked?.locked)
      emit('auth.locked', account?.id ?? null, {
        until: rfc3339(locked.until),
        failures: locked.failures,
      });
  });
}
