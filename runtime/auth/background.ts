import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@twofold/runtime/kernel';

/**
 * Work that a caller must learn nothing from, not even by how long it takes: it begins some time
 * after the answer.
 */
export interface Background {
  run(work: () => Promise<void>): void;
  /** Waits for what has begun. */
  settled(): Promise<void>;
}

export function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    run: (work) => {
      const job: Promise<void> = pause()
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

/**
 * A pause of 100 to 300 ms. Work that follows an answer directly competes with the answer itself
 * for the processor and the disk: answers for known addresses took 5.4 ms where others took 3.1.
 * The random part keeps requests that are sent one after another from meeting the work at a known
 * moment.
 */
const pause = () => sleep(100 + Math.random() * 200);

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
