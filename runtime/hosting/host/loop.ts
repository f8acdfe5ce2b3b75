import { setTimeout as sleep } from 'node:timers/promises';

/** A task that is repeated until it is stopped. */
export interface Loop {
  start(): void;
  /** Waits for the work that is running now. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** Milliseconds before each run. */
  readonly pause: () => number;
  readonly work: () => void | Promise<void>;
  /** Called with the error of a run; the loop continues. */
  readonly onError: (error: Error) => void;
}

/**
 * @example
 * const loop = createLoop({ pause: () => 1000, work: look, onError: (error) => log.warn(error) });
 */
export function createLoop({ pause, work, onError }: LoopOptions): Loop {
  const abort = new AbortController();
  const { signal } = abort;
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    for (;;) {
      await sleep(pause(), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await work();
      } catch (error) {
        onError(error as Error);
      }
    }
  };
  return {
    start: () => void (running = run()),
    async stop() {
      abort.abort();
      await running;
    },
  };
}
