import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';

/** The name of a database that only one process can see. */
export const MEMORY = ':memory:';

/**
 * Across processes, a lock is SQLite's own on a file beside the database: it is released when the
 * process ends in any way.
 */
export async function withFileLock<T>(
  file: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  if (file === MEMORY) return work();
  const lock = open(file, name);
  try {
    while (!take(lock)) await sleep(25);
    return await work();
  } finally {
    lock.close();
  }
}

/** Takes the lock if it is free. @returns what releases it; null when another holder has it. */
export function tryFileLock(file: string, name: string): (() => void) | null {
  if (file === MEMORY) return () => {};
  const lock = open(file, name);
  if (take(lock)) return () => lock.close();
  lock.close();
  return null;
}

const open = (file: string, name: string) =>
  new DatabaseSync(`${file}.${name.replaceAll(/[^a-z0-9-]/gi, '-')}.lock`, { timeout: 0 });

function take(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return false;
    throw error;
  }
}
