/** Milliseconds. A transaction that waits for nothing but the database takes less. */
const SHORT = 2;
const RUNS = 8;

/** What is known of a function from its last transactions. */
export interface Pace {
  /** Whether the next one will probably be short too. */
  readonly short: boolean;
  /** Adds a transaction that was open for so many milliseconds. */
  add(milliseconds: number): void;
}

/**
 * Foresees whether a transaction is short enough to share a commit with others, which then wait for
 * its end: its last eight were.
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
