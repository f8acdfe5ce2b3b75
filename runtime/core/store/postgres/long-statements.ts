import { createBoundedCache } from '../bounded-cache.ts';
import { createSemaphore } from '../transactions/semaphore.ts';

/** Statements that may take long, of which only some run at a time. */
export interface LongStatements {
  run<T>(text: string, job: () => Promise<T>): Promise<T>;
  /** How many wait for others to end. */
  readonly waiting: number;
}

/** How many run at a time. */
export interface LongPlaces {
  /** Of those that were slow the last time, or have not run yet. */
  readonly slow: number;
  /** Of those that were quick the last time. */
  readonly quick: number;
}

/** A statement that took fewer milliseconds is expected to be as quick the next time. */
export const QUICK = 20;

const TEXTS = { entries: 1000, bytes: 8_000_000 };

/** Which statements were quick the last time. One that has not run yet was not. */
export interface QuickStatements {
  has(text: string): boolean;
  took(text: string, milliseconds: number): void;
}

export function createQuickStatements(): QuickStatements {
  const wereQuick = createBoundedCache<boolean>(TEXTS);
  return {
    has: (text) => wereQuick.get(text) === true,
    took: (text, milliseconds) => {
      const isQuick = milliseconds < QUICK;
      if (isQuick !== wereQuick.get(text)) wereQuick.set(text, isQuick, 2 * text.length + 100);
    },
  };
}

/**
 * Lets statements that may take long wait for each other, so that they leave connections and
 * processors for the others. Most of them take a millisecond: two at a time would then cost a
 * request twice as much, because each answer wakes the process for itself.
 *
 * @example const long = createLongStatements({ slow: 2, quick: 4 });
 */
export function createLongStatements(places: LongPlaces): LongStatements {
  const slow = createSemaphore(places.slow);
  const quick = createSemaphore(places.quick);
  const known = createQuickStatements();
  const run = async <T>(text: string, job: () => Promise<T>) => {
    const began = performance.now();
    try {
      return await job();
    } finally {
      known.took(text, performance.now() - began);
    }
  };
  return {
    get waiting() {
      return slow.waiting + quick.waiting;
    },
    run: (text, job) => (known.has(text) ? quick : slow).run(() => run(text, job)),
  };
}
