import { failure } from '../errors.ts';

/** A fixed number of places, taken in the order in which they are asked for. */
export interface Semaphore {
  /**
   * Resolves with the function that gives the place back; calling it twice does nothing.
   *
   * @param signal ends the waiting: it rejects with the signal's reason.
   * @throws AppError 503 with `Retry-After: 1` when too many wait already.
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** The same at once; undefined when every place is taken. */
  tryAcquire(): (() => void) | undefined;
  /** Runs the job in a place of its own. @throws AppError as `acquire` */
  run<T>(job: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Whether every place is taken. */
  readonly held: boolean;
}

/** One place. */
export type Mutex = Semaphore;

/** @example const release = await mutex.acquire(); try { … } finally { release(); } */
export const createMutex = (): Mutex => createSemaphore(1);

/**
 * For one, it keeps bcrypt from filling libuv's thread pool, which it shares with files and DNS.
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
