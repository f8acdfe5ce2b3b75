/** What could not be done, and when each is tried again: soon at first, then less and less often. */
export interface Retries {
  /** Whether this one is to be tried now: it never failed, or its time has come. */
  due(key: string): boolean;
  /** Whether one of those that failed is to be tried now. */
  anyDue(): boolean;
  /** It is tried again after `most` milliseconds at the latest. @returns whether that is news: it did not fail before, or for another reason. */
  failed(key: string, reason: string, most?: number): boolean;
  done(key: string): void;
  /** Forgets those that are no longer there to be tried. */
  keep(exists: (key: string) => boolean): void;
  /** The reason for the failures may be gone: all are tried at once. */
  hurry(): void;
}

const FIRST = 1000;
const LAST = 60 * 60_000;

interface FailedAttempt {
  readonly reason: string;
  readonly pause: number;
  readonly at: number;
}

/**
 * @example
 * const retries = createRetries(Date.now);
 * if (retries.due(tag)) await engine.untag(tag).then(() => retries.done(tag), (error) => retries.failed(tag, error.message));
 */
export function createRetries(now: () => number): Retries {
  const all = new Map<string, FailedAttempt>();
  return {
    due: (key) => (all.get(key)?.at ?? 0) <= now(),
    anyDue: () => [...all.values()].some(({ at }) => at <= now()),
    failed(key, reason, most = LAST) {
      const before = all.get(key);
      const pause = Math.min(most, before ? 2 * before.pause : FIRST);
      all.set(key, { reason, pause, at: now() + pause });
      return before?.reason !== reason;
    },
    done: (key) => void all.delete(key),
    keep(exists) {
      for (const key of all.keys()) if (!exists(key)) all.delete(key);
    },
    hurry() {
      for (const [key, { reason }] of all) all.set(key, { reason, pause: FIRST, at: 0 });
    },
  };
}
