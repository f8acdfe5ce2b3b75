import { type Bounds, forWriting, type TransactionBounds, unwanted } from '../bounds.ts';
import type { Mutex } from '../transactions/semaphore.ts';
import { withinBounds } from './sqlite-answers.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteThreads } from './sqlite-threads.ts';
import type { Query } from '../store.ts';

/** Runs a transaction of SQL texts, see `Store.transact`. */
export type Transact = <T>(
  bounds: TransactionBounds | undefined,
  work: (query: Query) => Promise<T>,
) => Promise<T>;

export interface TransactParts {
  readonly writer: SqliteConnection;
  readonly mutex: Mutex;
  /** A thread for transactions that may take long; absent for a database in memory. */
  readonly apart?: SqliteThreads;
  /** Called after another thread wrote, so that the next read sees it. */
  readonly renew?: () => void;
}

/**
 * Runs transactions in the main thread. One that may take long runs in another thread, where it
 * delays only other writes.
 */
export function createTransact(parts: TransactParts): Transact {
  const { writer, mutex, apart, renew } = parts;
  return async (bounds, work) => {
    const since = performance.now();
    const release = await mutex.acquire();
    try {
      if (bounds?.asker.cancelled) throw unwanted();
      if (!apart || !bounds?.long) return await transactHere(writer, work, bounds, since);
      const result = await transactApart(apart, work, bounds);
      renew?.();
      return result;
    } finally {
      release();
    }
  };
}

async function transactHere<T>(
  writer: SqliteConnection,
  work: (query: Query) => Promise<T>,
  bounds: Bounds | undefined,
  since: number,
): Promise<T> {
  const writing = bounds && forWriting(bounds);
  writer.run('begin immediate', []);
  try {
    const result = await work(async (sql, parameters, within = writing) => {
      const run = () => writer.run(sql, parameters).rows;
      return within ? withinBounds(writer, within, run, since) : run();
    });
    writer.run('commit', []);
    return result;
  } catch (error) {
    // SQLite may have rolled back by itself; it then reports that no transaction is open.
    if (writer.inTransaction()) writer.run('rollback', []);
    throw error;
  }
}

async function transactApart<T>(
  apart: SqliteThreads,
  work: (query: Query) => Promise<T>,
  bounds: Bounds,
): Promise<T> {
  const writing = forWriting(bounds);
  const patient: Bounds = { ...writing, asker: { cancelled: false } };
  const run = (text: string, values: readonly unknown[], within: Bounds) =>
    apart.run({ kind: 'run', text, values }, within);
  await run('begin immediate', [], patient);
  try {
    const query: Query = async (sql, parameters, within = writing) =>
      (await run(sql, parameters, within)) as Record<string, unknown>[];
    const result = await work(query);
    await run('commit', [], patient);
    return result;
  } catch (error) {
    // This fails when SQLite has rolled back by itself, which is no problem.
    await run('rollback', [], patient).catch(() => {});
    throw error;
  }
}
