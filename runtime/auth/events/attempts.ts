import type { Kernel } from '@twofold/runtime/kernel';
import type { Db } from '../base/tables.ts';
import type { Caller } from '../base/caller.ts';
import { ulid, type UserId } from '../base/ids.ts';
import { maskIdentifier } from '../base/identity-rules.ts';
import type { Emit, Events } from './events.ts';

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
  readonly reason?: string;
  /** HMAC of the identifier. */
  readonly identifierHash?: string | null;
  /** The identifier as it was typed. Only its masked form is stored. */
  readonly identifier?: string | null;
  readonly userId?: UserId | null;
  readonly sessionId?: string;
}

/** Adds a row to `auth_login_attempts`, and counts the attempt. */
export async function recordAttempt(
  db: Db,
  { now: clock, metrics }: Pick<Kernel, 'now' | 'metrics'>,
  caller: Caller,
  { kind, outcome, reason, identifierHash, identifier, userId, sessionId }: Attempt,
): Promise<void> {
  const now = clock();
  metrics?.counter(COUNTED).add([outcome]);
  await db
    .insertInto('auth_login_attempts')
    .values({
      id: ulid(now),
      ts: now,
      kind,
      identifier_hash: identifierHash ?? null,
      identifier_masked:
        identifier === undefined || identifier === null ? null : maskIdentifier(identifier),
      user_id: userId ?? null,
      ip: caller.ip,
      user_agent: caller.userAgent,
      outcome,
      reason: reason ?? null,
      session_id: sessionId ?? null,
      request_id: caller.requestId,
    })
    .execute();
}

/**
 * Stores a refused attempt with its event, if it has one. Both outlive a rollback of the transaction around the
 * refused call.
 */
export function noteAttempt(
  auth: Noting,
  caller: Caller,
  attempt: Attempt,
  emitted: (emit: Emit) => void = () => {},
): Promise<void> {
  return auth.store.keep(() =>
    auth.events.transact(caller, async ({ trx, emit }) => {
      await recordAttempt(trx, auth, caller, attempt);
      emitted(emit);
    }),
  );
}

interface Noting extends Pick<Kernel, 'now' | 'metrics' | 'store'> {
  readonly events: Events;
}
