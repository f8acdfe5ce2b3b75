import { AsyncLocalStorage } from 'node:async_hooks';

const committed = new AsyncLocalStorage<true>();

/**
 * Runs work that follows a commit. What it reads and writes is not ended when the client goes away:
 * the rows are stored already, and what belongs to them would be lost.
 */
export const runAfterCommit = <T>(work: () => T): T => committed.run(true, work);

/** Whether the running code was called by `runAfterCommit`. */
export const isAfterCommit = (): boolean => committed.getStore() === true;
