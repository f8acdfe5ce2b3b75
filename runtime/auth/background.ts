import type { Logger } from 'pino';

/** Work that a caller must learn nothing from, not even by how long it takes: it begins when the answer is on its way. */
export interface Background {
  run(work: () => Promise<void>): void;
  /** Waits for what has begun. */
  settled(): Promise<void>;
}

export function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    run: (work) => {
      const job: Promise<void> = nextTurn()
        .then(work)
        .catch((error: unknown) =>
          log.error({ stack: stackOf(error) }, 'work after an answer failed'),
        )
        .finally(() => running.delete(job));
      running.add(job);
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The answer is written in this turn of the event loop. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
