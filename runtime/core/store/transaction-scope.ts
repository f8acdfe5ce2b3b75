import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, InternalError } from '../errors.ts';
import type { Bounds } from './bounds.ts';
import { createMutex } from './semaphore.ts';
import type { Store } from './store.ts';

type Rows = readonly Record<string, unknown>[];

/** The database connection of a transaction. */
export interface TransactionConnection {
  run(sql: string, parameters: readonly unknown[], bounds?: Bounds): Promise<Rows>;
  /** See `Store.valueNow`. */
  readonly valueNow?: Store['valueNow'];
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
}

/** The running transactions of one store. */
export interface Scopes {
  /** The transaction around the running code; undefined when there is none. */
  current(): TransactionScope | undefined;
  /**
   * Runs `work` in a new scope. `work` begins the transaction, runs its body through the function
   * that it gets, and resolves after the commit.
   *
   * @param timeout milliseconds that the body may take; unlimited when absent.
   * @throws AppError `TIMEOUT` when the body takes longer; `work` then rolls back.
   */
  open<T>(timeout: number | undefined, work: (bounded: Bounded) => Promise<T>): Promise<T>;
}

type Bounded = <T>(body: () => Promise<T>) => Promise<T>;
type Storage = AsyncLocalStorage<OpenScope | undefined>;

export function createScopes(): Scopes {
  const storage: Storage = new AsyncLocalStorage();
  return {
    current: () => storage.getStore(),
    open: async (timeout, work) => {
      const scope = new OpenScope(storage, undefined);
      try {
        const result = await storage.run(scope, () => work(boundedBy(scope, timeout)));
        scope.close();
        storage.run(undefined, () => scope.committed.forEach((each) => each()));
        return result;
      } finally {
        scope.close();
      }
    },
  };
}

class OpenScope implements TransactionScope {
  readonly #storage: Storage;
  readonly #parent: OpenScope | undefined;
  readonly #root: OpenScope;
  readonly #turn = createMutex();
  readonly committed: (() => void)[] = [];
  #connection: TransactionConnection | undefined;
  #savepoints = 0;
  #closed = false;

  constructor(storage: Storage, parent: OpenScope | undefined) {
    this.#storage = storage;
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
    if (this.#turn.held) (await this.#turn.acquire())();
    this.assertOpen();
  }

  afterCommit(work: () => void): void {
    this.assertOpen();
    this.committed.push(work);
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
    const child = new OpenScope(this.#storage, this);
    const { connection } = this;
    await connection.run(`savepoint ${name}`, []);
    try {
      const result = await this.#storage.run(child, work);
      child.assertOpen();
      await connection.run(`release savepoint ${name}`, []);
      this.committed.push(...child.committed);
      return result;
    } catch (error) {
      if (!this.closed) {
        await connection.run(`rollback to savepoint ${name}`, []);
        await connection.run(`release savepoint ${name}`, []);
      }
      throw error;
    } finally {
      child.close();
    }
  }
}

function boundedBy(scope: OpenScope, timeout: number | undefined): Bounded {
  if (timeout === undefined) return (body) => body();
  const opened = new Error('the transaction was opened here');
  return async (body) => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      scope.close();
      late.reject(timedOut(timeout, opened));
    }, timeout);
    try {
      return await Promise.race([body(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

const timedOut = (timeout: number, cause: Error) =>
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
