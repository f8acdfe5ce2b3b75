import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CommandError, EXIT } from '../failure.ts';
import { FOLDER } from './commit.ts';

/** How long a run waits for another one, in milliseconds. */
const PATIENCE = 10_000;
const PAUSE = 40;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other run writes to this project.
 *
 * The lock is SQLite's lock of an empty database file: the operating system lets go of it when the process ends, however
 * it ends, so that there is no stale lock to tell from a live one.
 *
 * @throws CommandError 75 when the other run does not end within ten seconds.
 */
export async function withRunLock<T>(root: string, work: () => Promise<T>): Promise<T> {
  const { DatabaseSync } = await import('node:sqlite');
  await mkdir(join(root, FOLDER), { recursive: true });
  const database = new DatabaseSync(join(root, FOLDER, 'run.lock'));
  try {
    await acquire(() => database.exec('begin exclusive'), Date.now() + PATIENCE);
    return await work();
  } finally {
    database.close();
  }
}

async function acquire(lock: () => void, until: number): Promise<void> {
  for (;;) {
    try {
      return lock();
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)) throw error;
    }
    if (Date.now() > until) throw new CommandError(EXIT.again, 'BUSY', 'another run of generator is writing to this project', 'run again when it is done');
    await wait(PAUSE);
  }
}
