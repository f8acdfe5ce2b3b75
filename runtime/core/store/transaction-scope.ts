import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, InternalError } from '../errors.ts';
import type { Bounds } from './bounds.ts';
import { createMutex } from './semaphore.ts';
import type { IsolationLevel } from '../context/isolation.ts';

type Rows = readonly Record<string, unknown>[];

/** The database connection of a transaction. */
export interface TransactionConnection {
  run(sql: string, parameters: readonly unknown[], bounds?: Bounds): Promise<Rows>;
  /** See `Store.valueNow`. */
  readonly valueNow?: ((sql: string, parameters: readonly unknown[]) => unknown) | undefined;
}

/**
 * A running transaction. Code that its callback awaits finds it by `Scopes.current`, so that every
 * handle of the store takes part in it, and none waits for the connection that it holds.
 */
export interface TransactionScope {
  /** Whether the driver has acquired a connection for it. */
  readonly connected: boolean;
  /** @throws AppError `TRANSACTION_CLOSED` */
  readonly connection: TransactionConnection;
  connect(connection: TransactionConnection): void;
  /** Resolves when no nested transaction is open. @throws AppError `TRANSACTION_CLOSED` */
  ready(): Promise<void>;
  /** @throws AppError `TRANSACTION_CLOSED` */
  assertOpen(): void;
  /** Whether the transaction is over. */
  readonly closed: boolean;
  /**
   * Runs `work` in a savepoint: a throw undoes only what `work` did. Two calls at the same time run
   * one after the other.
   */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** Calls `work` after the outermost commit, never after a rollback. */
  afterCommit(work: () => void): void;
  /** See `Store.keep`. */
  keep<T>(work: () => Promise<T>): Promise<T>;
  readonly isolation: IsolationLevel;
}

/** How a transaction is opened. */
export interface Opening {
  /** Milliseconds that the body may take; unlimited when absent. */
  readonly timeout?: number | undefined;
  readonly isolation: IsolationLevel;
  /** Whether the caller will run the body again after this error. */
  readonly repeats?: (error: unknown) => boolean;
}

/** The running transactions of one store. */
export interface Scopes {
  /** The transaction around the running code; undefined when there is none. */
  current(): TransactionScope | undefined;
  /** The transaction that the running code is about to begin. */
  beginning(): TransactionScope | undefined;
  /**
   * Runs `work` in a new scope. `work` begins the transaction, runs its body through the function
   * that it gets, and resolves after the commit.
   *
   * @throws AppError `TIMEOUT` when the body takes longer than it may; `work` then rolls back.
   */
  open<T>(opening: Opening, work: (bounded: Bounded) => Promise<T>): Promise<T>;
  /**
   * Runs `body` in a new scope whose transaction begins with its first statement. `begin` begins
   * it, awaits the function that it gets, and then commits, or rolls back when that one throws.
   */
  openLater<T>(opening: Opening, begin: Begin, body: () => Promise<T>): Promise<T>;
  /** Runs `work` outside of every transaction. */
  outside<T>(work: () => T): T;
}

type Bounded = <T>(body: () => Promise<T>) => Promise<T>;
export type Begin = (hold: () => Promise<void>) => Promise<void>;

/** The code that begins a transaction. Its own statements must not join what has not begun. */
interface Beginner {
  readonly begins: OpenScope;
}

type Storage = AsyncLocalStorage<OpenScope | Beginner | undefined>;

export function createScopes(): Scopes {
  const storage: Storage = new AsyncLocalStorage();
  return {
    current: () => {
      const store = storage.getStore();
      return store instanceof OpenScope ? store : undefined;
    },
    beginning: () => {
      const store = storage.getStore();
      return store instanceof OpenScope ? undefined : store?.begins;
    },
    open: (opening, work) => openNow(storage, opening, work),
    openLater: (opening, begin, body) => openLater(storage, opening, begin, body),
    outside: (work) => storage.run(undefined, work),
  };
}

async function openNow<T>(
  storage: Storage,
  opening: Opening,
  work: (bounded: Bounded) => Promise<T>,
): Promise<T> {
  const scope = new OpenScope(storage, opening);
  return settled(storage, scope, opening, () =>
    storage.run({ begins: scope }, () =>
      work((body) => bounded(scope, opening.timeout, () => storage.run(scope, body))),
    ),
  );
}

async function openLater<T>(
  storage: Storage,
  opening: Opening,
  begin: Begin,
  body: () => Promise<T>,
): Promise<T> {
  const finished = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  let transaction: Promise<void> | undefined;
  const scope = new OpenScope(storage, opening, () => {
    const begun = Promise.withResolvers<void>();
    const hold = () => {
      begun.resolve();
      return bounded(scope, opening.timeout, () => finished.promise);
    };
    transaction = storage.run({ begins: scope }, () => begin(hold));
    transaction.catch((error: unknown) => (begun.reject(error), failed.reject(error)));
    return begun.promise;
  });
  failed.promise.catch(() => {});
  finished.promise.catch(() => {});
  return settled(storage, scope, opening, async () => {
    try {
      const result = await Promise.race([storage.run(scope, body), failed.promise]);
      finished.resolve();
      await transaction;
      return result;
    } catch (error) {
      finished.reject(error);
      await transaction?.catch(() => {});
      throw error;
    }
  });
}

/** Closes the scope when `work` has ended, and does what waits for its end. */
async function settled<T>(
  storage: Storage,
  scope: OpenScope,
  { repeats }: Opening,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    scope.close();
    storage.run(undefined, () => scope.committed.forEach((each) => each()));
    return result;
  } catch (error) {
    scope.close();
    if (!repeats?.(error))
      for (const each of scope.kept) await storage.run(undefined, each).catch(() => {});
    throw error;
  }
}

class OpenScope implements TransactionScope {
  readonly #storage: Storage;
  readonly #parent: OpenScope | undefined;
  readonly #root: OpenScope;
  readonly #turn = createMutex();
  readonly committed: (() => void)[] = [];
  readonly kept: (() => Promise<unknown>)[] = [];
  readonly isolation: IsolationLevel;
  /** Its stack says where the transaction was opened. */
  readonly opened: Error | undefined;
  readonly #begin: (() => Promise<void>) | undefined;
  #begun: Promise<void> | undefined;
  #connection: TransactionConnection | undefined;
  #savepoints = 0;
  #closed = false;

  /** @param begin begins the transaction; absent when it has begun before anything uses the scope. */
  constructor(
    storage: Storage,
    { isolation, timeout }: Opening,
    begin?: () => Promise<void>,
    parent?: OpenScope,
  ) {
    this.#storage = storage;
    this.isolation = isolation;
    this.opened = timeout === undefined ? undefined : new Error('the transaction was opened here');
    this.#begin = begin;
    this.#parent = parent;
    this.#root = parent ? parent.#root : this;
  }

  get connected(): boolean {
    return this.#root.#connection !== undefined;
  }

  get connection(): TransactionConnection {
    this.assertOpen();
    const connection = this.#root.#connection;
    if (!connection) throw new InternalError('a transaction was used before it began');
    return connection;
  }

  connect(connection: TransactionConnection): void {
    this.#root.#connection = connection;
  }

  get closed(): boolean {
    return this.#closed || (this.#parent?.closed ?? false);
  }

  close(): void {
    this.#closed = true;
  }

  assertOpen(): void {
    if (this.closed) throw closedFailure();
  }

  async ready(): Promise<void> {
    this.assertOpen();
    if (!this.connected) await this.#root.#beginOnce();
    if (this.#turn.held) (await this.#turn.acquire())();
    this.assertOpen();
  }

  afterCommit(work: () => void): void {
    this.assertOpen();
    this.committed.push(work);
  }

  async keep<T>(work: () => Promise<T>): Promise<T> {
    this.assertOpen();
    this.kept.push(work);
    return work();
  }

  #beginOnce(): Promise<void> | undefined {
    return (this.#begun ??= this.#begin?.());
  }

  async nested<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#turn.acquire();
    try {
      this.assertOpen();
      return await this.#inSavepoint(work);
    } finally {
      release();
    }
  }

  async #inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    const name = `twofold_${(this.#root.#savepoints += 1)}`;
    const child = new OpenScope(this.#storage, { isolation: this.isolation }, undefined, this);
    if (!this.connected) await this.#root.#beginOnce();
    const { connection } = this;
    await connection.run(`savepoint ${name}`, []);
    try {
      const result = await this.#storage.run(child, work);
      child.assertOpen();
      await connection.run(`release savepoint ${name}`, []);
      this.committed.push(...child.committed);
      this.kept.push(...child.kept);
      return result;
    } catch (error) {
      child.close();
      this.kept.push(...child.kept);
      if (!this.closed) {
        await connection.run(`rollback to savepoint ${name}`, []);
        await connection.run(`release savepoint ${name}`, []);
        for (const each of child.kept) await this.#inSavepoint(each).catch(() => {});
      }
      throw error;
    } finally {
      child.close();
    }
  }
}

/** Ends the scope and rejects when `body` takes longer than `timeout`. */
async function bounded<T>(
  scope: OpenScope,
  timeout: number | undefined,
  body: () => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return body();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    scope.close();
    late.reject(timedOut(timeout, scope.opened));
  }, timeout);
  try {
    return await Promise.race([body(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const timedOut = (timeout: number, cause: Error | undefined) =>
  new AppError(
    503,
    'TIMEOUT',
    `The transaction was rolled back: it was open for longer than ${timeout / 1000} s`,
    { cause },
  );

const closedFailure = () =>
  new AppError(
    500,
    'TRANSACTION_CLOSED',
    'The transaction is over: await each statement inside its callback',
  );
