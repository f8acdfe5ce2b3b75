import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.ts';

export interface EventSource<T> {
  /**
   * Starts the source, which calls `push` for each value, and `fail` when it has none any more.
   *
   * @returns a function that stops it
   */
  start(push: (value: T) => void, fail: (error: Error) => void): () => void;
  /** Bytes that a queued value takes. */
  sizeOf(value: T): number;
}

/**
 * Turns a listener into an iterator.
 *
 * @throws AppError `SLOW_READER`, out of the iterator, when queued values exceed `WAITING_BYTES`; the
 * error of a source that fails.
 */
export function createEventQueue<T>({ start, sizeOf }: EventSource<T>): AsyncIterableIterator<T> {
  let values: { readonly value: T; readonly size: number }[] = [];
  let bytes = 0;
  let wake: (() => void) | undefined;
  let state: 'open' | 'done' | Error = 'open';
  const isWaiting = () => values.length === 0 && state === 'open';
  let stop: (() => void) | undefined;
  stop = start((value) => {
    const size = sizeOf(value);
    bytes += size;
    if (values.length === 0 || bytes <= WAITING_BYTES) values.push({ value, size });
    else end(slowReader());
    wake?.();
  }, end);
  if (state !== 'open') stop();
  function end(how: 'done' | Error): void {
    if (state !== 'open') return;
    state = how;
    values = [];
    stop?.();
    wake?.();
  }
  const queue: AsyncIterableIterator<T> = {
    next: async () => {
      while (isWaiting()) await new Promise<void>((resolve) => (wake = resolve));
      if (state instanceof Error) throw state;
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

/** Bytes that may wait for one subscriber: unsent text in its connection, and unread changes. */
export const WAITING_BYTES = 1_048_576;
/** Milliseconds within which a reader with more than that waiting must read some of it. */
const READ_WITHIN = 2000;
const CHECK_EVERY = 20;

const slowReader = () =>
  new AppError(503, 'SLOW_READER', `more than ${WAITING_BYTES} bytes of events wait to be read`);

/**
 * Resolves when the next event may be sent: when at most `WAITING_BYTES` wait. It waits for a slow
 * reader as long as that one keeps reading.
 *
 * @param waiting bytes that were written and that the network has not taken yet.
 * @throws AppError `SLOW_READER` when nothing was read for `READ_WITHIN`.
 */
export async function roomToSend(waiting: () => number): Promise<void> {
  let least = waiting();
  let until = performance.now() + READ_WITHIN;
  while (least > WAITING_BYTES) {
    await delay(CHECK_EVERY, undefined, { ref: false });
    const now = waiting();
    if (now < least) {
      least = now;
      until = performance.now() + READ_WITHIN;
    } else if (performance.now() > until) throw slowReader();
  }
}
