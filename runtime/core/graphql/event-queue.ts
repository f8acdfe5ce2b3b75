import { slowReader, WAITING_BYTES } from './slow-reader.ts';

export interface EventSource<T> {
  /** Starts the source, which calls `push` for each value. @returns a function that stops it */
  start(push: (value: T) => void): () => void;
  /** Bytes that a queued value takes. */
  sizeOf(value: T): number;
}

/**
 * Turns a listener into an iterator.
 *
 * @throws AppError `SLOW_READER`, out of the iterator, when queued values exceed `WAITING_BYTES`.
 */
export function createEventQueue<T>({ start, sizeOf }: EventSource<T>): AsyncIterableIterator<T> {
  let values: { readonly value: T; readonly size: number }[] = [];
  let bytes = 0;
  let wake: (() => void) | undefined;
  let state: 'open' | 'done' | 'overflowed' = 'open';
  const isWaiting = () => values.length === 0 && state === 'open';
  const stop = start((value) => {
    const size = sizeOf(value);
    bytes += size;
    if (values.length === 0 || bytes <= WAITING_BYTES) values.push({ value, size });
    else end('overflowed');
    wake?.();
  });
  function end(how: 'done' | 'overflowed'): void {
    if (state !== 'open') return;
    state = how;
    values = [];
    stop();
    wake?.();
  }
  const queue: AsyncIterableIterator<T> = {
    next: async () => {
      while (isWaiting()) await new Promise<void>((resolve) => (wake = resolve));
      if (state === 'overflowed') throw slowReader();
      const first = values.shift();
      if (!first) return { done: true, value: undefined };
      bytes -= first.size;
      return { done: false, value: first.value };
    },
    return: async () => {
      end('done');
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => queue,
  };
  return queue;
}
