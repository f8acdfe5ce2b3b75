import { failure } from '../../errors.ts';

/** A fixed number of permits, granted in the order of the requests. */
export interface Semaphore {
  /**
   * Resolves with the function that releases the permit; calling it twice has no further effect.
   *
   * @param signal ends the wait, which then rejects with the signal's reason.
   * @throws AppError 503 with `Retry-After: 1` when too many wait already.
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** Takes a permit without waiting; undefined when none is free. */
  tryAcquire(): (() => void) | undefined;
  /** Runs the job while holding a permit. @throws AppError as `acquire` does */
  run<T>(job: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Whether all permits are taken. */
  readonly held: boolean;
  /** How many requests wait for a permit. */
  readonly waiting: number;
}

/** A semaphore with one permit. */
export type Mutex = Semaphore;

/** @example const release = await mutex.acquire(); try { … } finally { release(); } */
export const createMutex = (): Mutex => createSemaphore(1);

/**
 * Limits how many jobs run at a time. For example, it keeps bcrypt from filling libuv's thread
 * pool, which files and DNS use too.
 *
 * @param queue how many may wait.
 * @example
 * const semaphore = createSemaphore(2, 64);
 * await semaphore.run(() => bcrypt.compare(password, hash));
 */
export function createSemaphore(places: number, queue = Infinity): Semaphore {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const releaser = () => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    };
  };
  const tryAcquire = () => {
    if (taken >= places) return undefined;
    taken += 1;
    return releaser();
  };
  const acquire = async (signal?: AbortSignal) => {
    const release = tryAcquire();
    if (release) return release;
    if (waiting.length >= queue)
      throw failure.unavailable(undefined, { headers: { 'Retry-After': '1' } });
    return new Promise<() => void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', cancel);
        resolve(releaser());
      };
      const cancel = () => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      waiting.push(enter);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  };
  return {
    get held() {
      return taken >= places;
    },
    get waiting() {
      return waiting.length;
    },
    tryAcquire,
    acquire,
    run: async (job, signal) => {
      const release = await acquire(signal);
      try {
        return await job();
      } finally {
        release();
      }
    },
  };
}
