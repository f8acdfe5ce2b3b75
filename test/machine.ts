import { createHash } from 'node:crypto';

/** Milliseconds that the piece of work below takes on a quiet machine of 2026. */
const QUIET = 80;

/**
 * How many times longer than on a quiet machine a known piece of work took just now; at least 1. What a test gives a
 * server to answer in is a multiple of it.
 *
 * @example
 * const TIME = 400 * slowness();
 */
export function slowness(): number {
  const start = performance.now();
  let text = 'work';
  for (let round = 0; round < 40_000; round += 1)
    text = createHash('sha256').update(text).digest('hex');
  return Math.max(1, Math.ceil((performance.now() - start) / QUIET));
}
