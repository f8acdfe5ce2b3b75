import type { Asker } from '../../store/bounds.ts';

/** Running statements that commit by themselves, by the request that waits for them. */
const RUNNING = new WeakMap<Asker, Promise<unknown>>();

/**
 * Notes a write that is not undone when the time limit is reached: only its end tells whether it
 * was done.
 */
export function noteCommit(asker: Asker, written: Promise<unknown>): void {
  RUNNING.set(asker, written);
  const forget = () => void RUNNING.delete(asker);
  written.then(forget, forget);
}

/** The write of a request that may be done or not; undefined when none is running. */
export const runningCommit = (asker: Asker): Promise<unknown> | undefined => RUNNING.get(asker);
