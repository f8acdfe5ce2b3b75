import type { Mutex } from './semaphore.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

type Rows = readonly Record<string, unknown>[];

/** Runs the writes of one turn of the event loop in one transaction. */
export interface SharedWrites {
  /**
   * Runs one statement and resolves when it is committed; undefined when it would have to wait for
   * another transaction in this process. A statement that fails is undone and rejects; the other
   * writes of the turn stay.
   */
  write(sql: string, parameters: readonly unknown[]): Promise<Rows> | undefined;
  /** Commits the current transaction. */
  flush(): void;
}

interface Group {
  readonly done: Promise<void>;
  settle(error?: unknown): void;
  size: number;
}

/** The event loop may fetch more events within a turn; other transactions must not wait for all. */
const MAX_WRITES = 200;

/**
 * Group commit, as other databases do it: a commit writes to the log and locks and unlocks the
 * file, which costs several times as much as inserting a row. The requests of one turn share a
 * commit, and each is answered after it.
 */
export function sharedWrites(writer: SqliteConnection, mutex: Mutex): SharedWrites {
  let group: Group | undefined;
  const end = (ended: Group | undefined, work: () => void) => {
    if (!ended || group !== ended) return;
    group = undefined;
    try {
      work();
      ended.settle();
    } catch (error) {
      ended.settle(error);
    }
  };
  const commit = (ended: Group | undefined) => end(ended, () => commitOrUndo(writer));
  const begin = (): Group | undefined => {
    const release = mutex.tryAcquire();
    if (!release) return undefined;
    const begun = newGroup(release);
    try {
      writer.run('begin immediate', []);
    } catch (error) {
      release();
      throw error;
    }
    setImmediate(commit, begun);
    return begun;
  };
  return {
    flush: () => commit(group),
    write: (sql, parameters) => {
      const current = (group ??= begin());
      if (!current) return undefined;
      try {
        const { rows } = writer.run(sql, parameters);
        current.size += 1;
        return current.done.then(() => rows);
      } catch (error) {
        // SQLite rolls back the whole transaction by itself when the disk is full or the file is
        // damaged.
        if (!writer.inTransaction()) end(current, () => fail(error));
        throw error;
      } finally {
        if (current.size >= MAX_WRITES) commit(current);
      }
    },
  };
}

function newGroup(release: () => void): Group {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Each write awaits a promise derived from this one. Without any, a rejection would be unhandled.
  promise.catch(() => {});
  const settle = (error?: unknown) => {
    release();
    if (error === undefined) resolve();
    else reject(error);
  };
  return { done: promise, settle, size: 0 };
}

function commitOrUndo(writer: SqliteConnection): void {
  try {
    writer.run('commit', []);
  } catch (error) {
    if (writer.inTransaction()) writer.run('rollback', []);
    throw error;
  }
}

function fail(error: unknown): never {
  throw error;
}
