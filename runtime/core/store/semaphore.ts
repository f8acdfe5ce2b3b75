import { failure } from '../errors.ts';

/** Lets a fixed number of jobs run at once and a bounded number wait. */
export interface Semaphore {
  /** @throws AppError 503 with `Retry-After: 1` when the queue is full. */
  run<T>(job: () => Promise<T>): Promise<T>;
}

/**
 * Keeps bcrypt from filling libuv's thread pool, which it shares with files and DNS.
 *
 * @example
 * const semaphore = createSemaphore(2, 64);
 * await semaphore.run(() => bcrypt.compare(password, hash));
 */
export function createSemaphore(width: number, queue: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  const enter = () => {
    if (running < width) return void (running += 1);
    if (waiting.length >= queue)
      throw failure.unavailable(undefined, { headers: { 'Retry-After': '1' } });
    return new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return {
    run: async (job) => {
      await enter();
      try {
        return await job();
      } finally {
        leave();
      }
    },
  };
}
