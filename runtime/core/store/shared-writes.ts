import type { Mutex } from './semaphore.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

type Rows = readonly Record<string, unknown>[];

/** Writes of one turn of the event loop in one transaction. */
export interface SharedWrites {
  /**
   * Runs one statement and resolves when it is committed; undefined when it would have to wait for another transaction in
   * this process. A statement that fails is undone and throws; what others wrote in the same turn stays.
   */
  write(sql: string, parameters: readonly unknown[]): Promise<Rows> | undefined;
  /** Commits what is under way. */
  flush(): void;
}

interface Group {
  readonly done: Promise<void>;
  settle(error?: unknown): void;
  size: number;
}

/** The loop may fetch more events within a turn; other transactions do not wait for all of them. */
const MOST = 200;

/**
 * A commit writes to the log and takes and gives back the lock of the file, which costs several times what inserting a row
 * does. The requests that one turn brings share it, as the writers of other databases do ("group commit"); each is
 * answered after the commit.
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
        // Of a full disk or a broken file SQLite undoes the whole transaction by itself.
        if (!writer.inTransaction()) end(current, () => fail(error));
        throw error;
      } finally {
        if (current.size >= MOST) commit(current);
      }
    },
  };
}

function newGroup(release: () => void): Group {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Each write waits for it with a promise of its own; there may be none.
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
