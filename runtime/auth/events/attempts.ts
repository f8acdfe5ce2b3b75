import type { Db } from '../tables.ts';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Caller } from '../requests/caller.ts';
import { ulid, type UserId } from '../ids.ts';
import { maskIdentifier } from '../sign-in/identity-rules.ts';

const COUNTED = {
  name: 'auth_attempts_total',
  help: 'Attempts to sign in',
  labels: ['outcome'],
} as const;

export type AttemptOutcome = 'success' | 'failure' | 'blocked';

/**
 * One attempt to sign in. The identifier itself is never stored, because users sometimes type their
 * password into that field.
 */
export interface Attempt {
  readonly kind: 'password' | 'host' | 'oauth' | 'api_key' | 'passkey' | 'email' | 'second_factor';
  readonly outcome: AttemptOutcome;
  readonly reason: string | null;
  /** HMAC of the identifier. */
  readonly identifierHash: string | null;
  /** The identifier as it was typed. Only its masked form is stored. */
  readonly identifier: string | null;
  readonly userId: UserId | null;
  readonly sessionId: string | null;
}

/** Adds a row to `auth_login_attempts`, and counts the attempt. */
export async function recordAttempt(
  db: Db,
  { now: clock, metrics }: Pick<Kernel, 'now' | 'metrics'>,
  caller: Caller,
  attempt: Attempt,
): Promise<void> {
  const now = clock();
  metrics?.counter(COUNTED).add([attempt.outcome]);
  await db
    .insertInto('auth_login_attempts')
    .values({
      id: ulid(now),
      ts: now,
      kind: attempt.kind,
      identifier_hash: attempt.identifierHash,
      identifier_masked: attempt.identifier === null ? null : maskIdentifier(attempt.identifier),
      user_id: attempt.userId,
      ip: caller.ip,
      user_agent: caller.userAgent,
      outcome: attempt.outcome,
      reason: attempt.reason,
      session_id: attempt.sessionId,
      request_id: caller.requestId,
    })
    .execute();
}
