import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CommandError, EXIT } from '../failure.ts';
import { FOLDER } from '../files.ts';
import { makeFolder } from './disk.ts';

/** Milliseconds that a run waits for another one. */
const LOCK_TIMEOUT = 10_000;
const PAUSE = 40;
const SQLITE_BUSY = 5;

/** SQLite result codes that mean a problem of the machine, with a text for each. */
const SQLITE_ERRORS: Readonly<Record<number, string>> = {
  8: 'it is read-only',
  10: 'the disk failed, or is full',
  13: 'the disk is full',
  14: 'it cannot be opened',
};

/**
 * Runs `work` while no other run writes to this project. The lock is SQLite's lock of an empty
 * database file: the operating system releases it when the process ends in any way, so a lock is
 * never stale.
 *
 * @throws CommandError 75 when the other run does not end within ten seconds.
 */
export async function withRunLock<T>(root: string, work: () => Promise<T>): Promise<T> {
  const { DatabaseSync } = await import('node:sqlite');
  makeFolder(join(root, FOLDER));
  const database = withSqliteErrors(() => new DatabaseSync(join(root, FOLDER, 'run.lock')));
  try {
    await acquire(
      () => withSqliteErrors(() => database.exec('begin exclusive')),
      Date.now() + LOCK_TIMEOUT,
    );
    return await work();
  } finally {
    database.close();
  }
}

function withSqliteErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const what =
      error instanceof Error && 'errcode' in error
        ? SQLITE_ERRORS[Number(error.errcode) & 0xff]
        : undefined;
    throw what === undefined
      ? error
      : new CommandError('SYSTEM', { message: `${FOLDER}/run.lock cannot be written: ${what}` });
  }
}

async function acquire(lock: () => void, until: number): Promise<void> {
  for (;;) {
    try {
      return lock();
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY))
        throw error;
    }
    if (Date.now() > until)
      throw new CommandError('BUSY', {
        message: 'another run of generator is writing to this project',
        fix: 'run again when it is done',
        exit: EXIT.again,
      });
    await wait(PAUSE);
  }
}
