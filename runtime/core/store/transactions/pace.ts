/** Milliseconds. A transaction that waits for nothing but the database takes less. */
const SHORT = 2;
const RUNS = 8;

/** What the last transactions of a function show about its speed. */
export interface Pace {
  /** Whether the next transaction will probably be short too. */
  readonly short: boolean;
  /** Adds a transaction that was open for so many milliseconds. */
  add(milliseconds: number): void;
}

/**
 * Predicts whether a transaction is short enough to share a commit with others, which then wait for
 * its end. It predicts so if the last eight were short.
 */
export function createPace(): Pace {
  let inARow = 0;
  return {
    get short() {
      return inARow >= RUNS;
    },
    add: (milliseconds) => {
      inARow = milliseconds < SHORT ? Math.min(inARow + 1, RUNS) : 0;
    },
  };
}

/** Runs the work of a transaction and adds its time to the pace. */
export async function timed(pace: Pace, work: () => Promise<void>): Promise<void> {
  const since = performance.now();
  try {
    await work();
  } finally {
    pace.add(performance.now() - since);
  }
}
