import { AsyncLocalStorage } from 'node:async_hooks';
import { type AppError, InternalError } from '../../errors.ts';
import type { Bounds } from '../bounds.ts';
import { createMutex, type Mutex } from './semaphore.ts';
import { closedFailure, OPENED, timedOut } from './transaction-failures.ts';
import type { IsolationLevel } from '../../context/isolation.ts';

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
  /** See `Store.untouched`. */
  readonly untouched: boolean;
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
  /** How often its body has been begun, this time included. */
  readonly attempt: number;
  /** Notes why it cannot be committed, even where its body catches the error. */
  lose(error: unknown): void;
}

/** The ways in which a transaction is opened. */
export interface Opening {
  /** Milliseconds that the body may take; unlimited when absent. */
  readonly timeout?: number | undefined;
  readonly isolation: IsolationLevel;
  readonly attempt?: number;
  /** See `TransactionOptions.opened`. */
  readonly opened?: string | undefined;
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
   * Returns no promise when `body` returns none and no transaction has begun.
   */
  openLater<T>(opening: Opening, begin: Begin, body: () => T | Promise<T>): T | Promise<T>;
  /** Runs `work` outside of every transaction. */
  outside<T>(work: () => T): T;
}

type Bounded = <T>(body: () => Promise<T>) => Promise<T>;
/** Resolves when the body of a transaction has ended, and rejects when it has failed. */
export type Hold = () => Promise<void>;
export type Begin = (hold: Hold) => Promise<void>;

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

function openLater<T>(
  storage: Storage,
  opening: Opening,
  begin: Begin,
  body: () => T | Promise<T>,
): T | Promise<T> {
  let ends: Ends | undefined;
  let transaction: Promise<void> | undefined;
  const scope = new OpenScope(storage, opening, () => {
    const begun = Promise.withResolvers<void>();
    const { finished, failed } = (ends ??= newEnds());
    const hold = () => {
      begun.resolve();
      return bounded(scope, opening.timeout, () => finished.promise);
    };
    transaction = storage.run({ begins: scope }, () => begin(hold));
    transaction.catch((error: unknown) => (begun.reject(error), failed.reject(error)));
    return begun.promise;
  });
  const result = atOnce(() => storage.run(scope, body));
  if (!ends && !(result instanceof Promise)) {
    leave(storage, scope);
    return result;
  }
  const { finished, failed } = (ends ??= newEnds());
  return settled(storage, scope, opening, async () => {
    try {
      const done = await Promise.race([result, failed.promise]);
      finished.resolve();
      await transaction;
      return done;
    } catch (error) {
      finished.reject(error);
      await transaction?.catch(() => {});
      // A statement that came after the time limit fails too, and says less.
      throw scope.overdue ?? scope.lost?.error ?? error;
    }
  });
}

/**
 * The ends of the two sides of a transaction that begins later, as each side learns of the other's.
 */
interface Ends {
  /** The body has ended. */
  readonly finished: PromiseWithResolvers<void>;
  /** The transaction has failed. */
  readonly failed: PromiseWithResolvers<never>;
}

function newEnds(): Ends {
  const ends = {
    finished: Promise.withResolvers<void>(),
    failed: Promise.withResolvers<never>(),
  };
  ends.finished.promise.catch(() => {});
  ends.failed.promise.catch(() => {});
  return ends;
}

/** Calls `body`; a throw is a rejection. */
function atOnce<T>(body: () => T | Promise<T>): T | Promise<T> {
  try {
    return body();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Closes the scope when `work` has ended, and runs what waits for its end. */
async function settled<T>(
  storage: Storage,
  scope: OpenScope,
  { repeats }: Opening,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    leave(storage, scope);
    return result;
  } catch (error) {
    scope.close();
    if (!repeats?.(error))
      for (const each of scope.kept) await storage.run(undefined, each).catch(() => {});
    throw error;
  }
}

/** Closes the scope of a transaction that is committed. */
function leave(storage: Storage, scope: OpenScope): void {
  scope.close();
  if (scope.committed.length > 0)
    storage.run(undefined, () => scope.committed.forEach((each) => each()));
}

class OpenScope implements TransactionScope {
  readonly #storage: Storage;
  readonly #parent: OpenScope | undefined;
  readonly #root: OpenScope;
  #turn: Mutex | undefined;
  readonly committed: (() => void)[] = [];
  readonly kept: (() => Promise<unknown>)[] = [];
  readonly isolation: IsolationLevel;
  readonly attempt: number;
  /** Why the database will not commit it. */
  lost: { readonly error: unknown } | undefined;
  /** The code that opened the transaction, or an error whose stack shows it. */
  readonly opened: string | Error | undefined;
  /** Why the transaction was ended at its time limit. */
  overdue: AppError | undefined;
  readonly #begin: (() => Promise<void>) | undefined;
  #begun: Promise<void> | undefined;
  #connection: TransactionConnection | undefined;
  #savepoints = 0;
  #closed = false;

  /**
   * @param begin begins the transaction; absent when it has begun before anything uses the scope.
   */
  constructor(
    storage: Storage,
    { isolation, timeout, opened, attempt = 1 }: Opening,
    begin?: () => Promise<void>,
    parent?: OpenScope,
  ) {
    this.#storage = storage;
    this.isolation = isolation;
    this.attempt = attempt;
    this.opened = timeout === undefined ? undefined : (opened ?? new Error(OPENED));
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

  get untouched(): boolean {
    return this.#parent === undefined && this.#begun === undefined && this.committed.length === 0;
  }

  close(): void {
    this.#closed = true;
  }

  lose(error: unknown): void {
    this.#root.lost ??= { error };
  }

  assertOpen(): void {
    if (this.closed) throw closedFailure();
  }

  async ready(): Promise<void> {
    this.assertOpen();
    if (!this.connected) await this.#root.#beginOnce();
    if (this.#turn?.held) (await this.#turn.acquire())();
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
    const release = await (this.#turn ??= createMutex()).acquire();
    try {
      this.assertOpen();
      return await this.#inSavepoint(work);
    } finally {
      release();
    }
  }

  async #inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    const name = `twofold_${(this.#root.#savepoints += 1)}`;
    const { isolation, attempt } = this;
    const child = new OpenScope(this.#storage, { isolation, attempt }, undefined, this);
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

/**
 * Runs the body of a transaction. The scope ends with it, before the commit or the rollback: a
 * statement that came after that would run outside of the transaction. It ends, and rejects, when
 * `body` takes longer than `timeout`.
 */
async function bounded<T>(
  scope: OpenScope,
  timeout: number | undefined,
  body: () => Promise<T>,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          scope.close();
          late.reject((scope.overdue = timedOut(timeout, scope.opened)));
        }, timeout);
  try {
    const done = await (timer ? Promise.race([body(), late.promise]) : body());
    if (scope.lost) throw scope.lost.error;
    return done;
  } catch (error) {
    throw scope.overdue ?? scope.lost?.error ?? error;
  } finally {
    clearTimeout(timer);
    scope.close();
  }
}
