import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.ts';

/** Bytes that may wait for one subscriber: unsent text in its connection, and unread changes. */
export const WAITING_BYTES = 1_048_576;
/** Milliseconds within which a reader with more than that waiting must read some of it. */
const READ_WITHIN = 2000;
const CHECK_EVERY = 20;

export const slowReader = () =>
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
