/** Work that failed, and when to try each piece again, after longer and longer pauses. */
export interface Retries {
  /** Whether to try this now: it has not failed before, or its pause is over. */
  due(key: string): boolean;
  /** Whether at least one failed piece is to be tried now. */
  anyDue(): boolean;
  /**
   * Notes a failure. The pause is at most `most` milliseconds. @returns whether to log it: it is
   * the first failure, or it has another reason than the last one.
   */
  failed(key: string, reason: string, most?: number): boolean;
  done(key: string): void;
  /** Forgets the keys that no longer exist. */
  keep(exists: (key: string) => boolean): void;
  /** Makes all of them due now, because the cause of the failures may be gone. */
  hurry(): void;
}

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60 * 60_000;

interface FailedAttempt {
  readonly reason: string;
  readonly pause: number;
  readonly at: number;
}

/**
 * @example
 * const retries = createRetries(Date.now);
 * if (retries.due(tag)) await engine.untag(tag).then(() => retries.done(tag));
 */
export function createRetries(now: () => number): Retries {
  const all = new Map<string, FailedAttempt>();
  return {
    due: (key) => (all.get(key)?.at ?? 0) <= now(),
    anyDue: () => [...all.values()].some(({ at }) => at <= now()),
    failed(key, reason, most = LONGEST_PAUSE) {
      const before = all.get(key);
      const pause = Math.min(most, before ? 2 * before.pause : FIRST_PAUSE);
      all.set(key, { reason, pause, at: now() + pause });
      return before?.reason !== reason;
    },
    done: (key) => void all.delete(key),
    keep(exists) {
      for (const key of all.keys()) if (!exists(key)) all.delete(key);
    },
    hurry() {
      for (const [key, { reason }] of all) all.set(key, { reason, pause: FIRST_PAUSE, at: 0 });
    },
  };
}
