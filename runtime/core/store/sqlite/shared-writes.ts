import { createMutex, type Mutex } from '../transactions/semaphore.ts';
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
  /**
   * Runs the statements of `work` among the writes, and resolves when they are committed. A throw
   * undoes only these statements. Only for short work: the writes before it are committed after it.
   */
  transaction(work: () => Promise<void>): Promise<void>;
  /** Commits the current transaction. */
  flush(): void;
}

interface Group {
  readonly done: Promise<void>;
  settle(error?: unknown): void;
  size: number;
  /** Whether a transaction runs on the shared connection. Other writes would be undone with it. */
  occupied: boolean;
  /**
   * Whether the turn ended while the connection was occupied. The commit follows as soon as it is
   * free.
   */
  due: boolean;
}

/**
 * The most writes that share a commit. The event loop may fetch further events within a turn, and
 * other transactions must not wait for all of them.
 */
const MAX_WRITES = 200;

/**
 * Group commit, as other databases do it: a commit writes to the log and locks and unlocks the
 * file, which costs several times as much as inserting a row. The requests of one turn share a
 * commit, and each is answered after it.
 */
export const sharedWrites = (writer: SqliteConnection, mutex: Mutex): SharedWrites =>
  new Groups(writer, mutex);

class Groups implements SharedWrites {
  readonly #writer: SqliteConnection;
  readonly #mutex: Mutex;
  readonly #turn = createMutex();
  #group: Group | undefined;

  constructor(writer: SqliteConnection, mutex: Mutex) {
    this.#writer = writer;
    this.#mutex = mutex;
  }

  write(sql: string, parameters: readonly unknown[]): Promise<Rows> | undefined {
    const group = this.#group ?? this.#begin(this.#mutex.tryAcquire());
    if (!group || group.occupied) return undefined;
    try {
      const { rows } = this.#writer.run(sql, parameters);
      group.size += 1;
      return group.done.then(() => rows);
    } catch (error) {
      this.#abandonIfUndone(group, error);
      throw error;
    } finally {
      if (group.size >= MAX_WRITES) this.#commit(group);
    }
  }

  async transaction(work: () => Promise<void>): Promise<void> {
    const group = await this.#turn.run(() => this.#runInGroup(work));
    await group?.done;
  }

  flush(): void {
    this.#commit(this.#group);
  }

  async #runInGroup(work: () => Promise<void>): Promise<Group | undefined> {
    const group = this.#group ?? this.#begin(await this.#mutex.acquire());
    if (!group) return undefined;
    group.occupied = true;
    try {
      await inSavepoint(this.#writer, work);
      group.size += 1;
      return group;
    } catch (error) {
      this.#abandonIfUndone(group, error);
      throw error;
    } finally {
      group.occupied = false;
      if (group.due || group.size >= MAX_WRITES) this.#commit(group);
    }
  }

  #begin(release: (() => void) | undefined): Group | undefined {
    if (!release) return undefined;
    try {
      this.#writer.run('begin immediate', []);
    } catch (error) {
      release();
      throw error;
    }
    const group = (this.#group = newGroup(release));
    setImmediate(() => this.#commit(group));
    return group;
  }

  #commit(group: Group | undefined): void {
    if (group?.occupied) group.due = true;
    else this.#end(group, () => commitOrUndo(this.#writer));
  }

  /**
   * SQLite rolls back the whole transaction by itself when the disk is full or the file is damaged.
   */
  #abandonIfUndone(group: Group, error: unknown): void {
    if (!this.#writer.inTransaction()) this.#end(group, () => fail(error));
  }

  #end(group: Group | undefined, work: () => void): void {
    if (!group || this.#group !== group) return;
    this.#group = undefined;
    try {
      work();
      group.settle();
    } catch (error) {
      group.settle(error);
    }
  }
}

const SAVEPOINT = 'twofold_shared';

async function inSavepoint(writer: SqliteConnection, work: () => Promise<void>): Promise<void> {
  writer.run(`savepoint ${SAVEPOINT}`, []);
  try {
    await work();
    writer.run(`release ${SAVEPOINT}`, []);
  } catch (error) {
    if (writer.inTransaction()) {
      writer.run(`rollback to ${SAVEPOINT}`, []);
      writer.run(`release ${SAVEPOINT}`, []);
    }
    throw error;
  }
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
  return { done: promise, settle, size: 0, occupied: false, due: false };
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
