import type { AuthModel } from '@twofold/schema';
import { DAY } from '../base/time.ts';

/** Failed logins of one identifier in one bucket. Times are milliseconds since 1970. */
export interface LockState {
  /** Failures that count towards the next lock. */
  readonly recent: readonly number[];
  readonly lockedUntil: number;
  readonly lockCount: number;
  readonly totalSinceSuccess: number;
  readonly lastFailureAt: number;
}

export type LockOptions = AuthModel['lockout'];

export const UNLOCKED: LockState = {
  recent: [],
  lockedUntil: 0,
  lockCount: 0,
  totalSinceSuccess: 0,
  lastFailureAt: 0,
};

/**
 * The time until which logins are refused, or null. After `hardAfter` failures without a success,
 * the identifier stays locked until the password is reset by mail or the account is unlocked.
 */
export function lockedUntil(state: LockState, options: LockOptions, now: number): number | null {
  if (state.totalSinceSuccess >= options.hardAfter) return Math.max(state.lockedUntil, now + DAY);
  return state.lockedUntil > now ? state.lockedUntil : null;
}

/** The number of further failures until the lock. So many passwords may be compared at once. */
export function placesLeft(state: LockState, options: LockOptions, now: number): number {
  return Math.min(
    options.attempts - inWindow(state, options, now).length,
    options.hardAfter - state.totalSinceSuccess,
  );
}

/**
 * The state after one more failure. The last failure that the window allows locks the identifier,
 * and each further lock is longer. During a lock, failures neither count nor extend it. After a day
 * without a failure the lock length starts again.
 */
export function afterFailure(state: LockState, options: LockOptions, now: number): LockState {
  if (lockedUntil(state, options, now) !== null) return state;
  const lockCount =
    now - Math.max(state.lastFailureAt, state.lockedUntil) >= DAY ? 0 : state.lockCount;
  const recent = [...inWindow(state, options, now), now];
  const next = {
    recent,
    lockedUntil: 0,
    lockCount,
    totalSinceSuccess: state.totalSinceSuccess + 1,
    lastFailureAt: now,
  };
  if (recent.length < options.attempts) return next;
  const duration = Math.min(options.max, options.duration * options.factor ** lockCount);
  return { ...next, recent: [], lockedUntil: now + duration, lockCount: lockCount + 1 };
}

function inWindow({ recent }: LockState, { window }: LockOptions, now: number): readonly number[] {
  return recent.filter((at) => at > now - window);
}
