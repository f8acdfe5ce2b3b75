import { AppError } from '../errors.ts';

/** Events that wait for a slow reader; more than this end its subscription. */
const WAITING = 1000;

/**
 * Turns a listener into an iterator. `start` is given a function that adds a value, and returns one that ends it.
 *
 * @throws AppError `SLOW_READER`, out of the iterator, when too many values wait.
 */
export function createEventQueue<T>(
  start: (push: (value: T) => void) => () => void,
): AsyncIterableIterator<T> {
  const values: T[] = [];
  let wake: (() => void) | undefined;
  let state: 'open' | 'done' | 'overflowed' = 'open';
  const isWaiting = () => values.length === 0 && state === 'open';
  const stop = start((value) => {
    if (values.length < WAITING) values.push(value);
    else end('overflowed');
    wake?.();
  });
  function end(how: 'done' | 'overflowed'): void {
    if (state !== 'open') return;
    state = how;
    stop();
    wake?.();
  }
  const queue: AsyncIterableIterator<T> = {
    next: async () => {
      while (isWaiting()) await new Promise<void>((resolve) => (wake = resolve));
      if (state === 'overflowed')
        throw new AppError(503, 'SLOW_READER', 'too many events wait to be read');
      const value = state === 'open' ? values.shift() : undefined;
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    },
    return: async () => {
      end('done');
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => queue,
  };
  return queue;
}
