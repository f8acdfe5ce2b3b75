import type { Kysely, Transaction } from 'kysely';
import type { AnswerMemory } from './answer-memory.ts';
import type { IsolationLevel } from '../context/isolation.ts';
import type { Replicas } from './replicas.ts';
import type { Pace } from './transactions/pace.ts';
import type { Asker, Bounds, ReadStatement, TransactionBounds, TransactionWork } from './bounds.ts';

/**
 * How a transaction runs. The options of a nested transaction are checked against those of the
 * outer one.
 */
export interface TransactionOptions {
  /** `usual` when absent. SQLite is always serializable. */
  readonly isolation?: IsolationLevel;
  /** The isolation unless it is nested; `read committed` on PostgreSQL when absent. */
  readonly usual?: IsolationLevel;
  /**
   * How often it runs again after a serialization failure or a deadlock, within its timeout; never
   * when absent.
   */
  readonly retries?: number;
  /** Called before it runs again, with the number of the attempt: 2, 3 … */
  readonly again?: (attempt: number) => void;
  /** Milliseconds that it may stay open; unlimited when absent. */
  readonly timeout?: number;
  /**
   * A text for the log that says which code opens the transaction. Without it a stack trace is
   * taken, which costs as much as a statement.
   */
  readonly opened?: string;
  /** The pace of the function that opens it. Short transactions share a commit on SQLite. */
  readonly pace?: Pace;
}

/** The transactions in which code of the project runs. */
export interface OwnTransactions {
  /** Milliseconds that one may stay open. */
  readonly timeout: number;
  readonly isolation: IsolationLevel;
  /** Whether the first one that runs again is told as a warning: in development. */
  readonly warns: boolean;
}

export type Dialect = 'sqlite' | 'postgres';

export interface Connections {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
  /** Those to each replica. */
  readonly replicas?: readonly { readonly used: number; readonly idle: number }[] | undefined;
}

/** What a PostgreSQL is, and what stands before it. */
export interface DatabaseFacts {
  readonly version: string;
  readonly pooler: boolean;
  readonly tls: boolean;
  /** Whether what is sent leaves this machine without encryption. */
  readonly exposed: boolean;
  /** The most connections of this store, and the most that the database gives. */
  readonly connections: number;
  readonly max_connections: number;
  /** How many of those are neither reserved nor in use. */
  readonly room: number;
  /** The name of the database, and of its PostgreSQL where this role may know it. */
  readonly identity: string;
}

/**
 * Runs one statement, see `Store.query`. With bounds, it is a read for an answer, with the limits
 * of answers.
 */
export type Query = (
  sql: string,
  parameters: readonly unknown[],
  bounds?: Bounds,
) => Promise<readonly Record<string, unknown>[]>;

/**
 * The database: Kysely over `node:sqlite` or PostgreSQL, with the same behaviour.
 *
 * Columns have the names of the tables (snake_case). A row has the same values on both: numbers for
 * keys, booleans, parsed JSON, ISO 8601 text in UTC with milliseconds for timestamps. JSON is
 * written as text.
 */
export interface Store {
  readonly dialect: Dialect;
  readonly db: Kysely<any>;
  readonly own: OwnTransactions;
  /**
   * Runs `work` in one transaction (IMMEDIATE on SQLite); a throw rolls back. Everything that
   * `work` awaits takes part in it, through `trx` and through every other handle of this store.
   * Inside another transaction it is a savepoint.
   *
   * @throws AppError `TIMEOUT` when it is open for too long, `TRANSACTION_CLOSED` for a statement
   * after its end, `CONFLICT` when it failed after all retries.
   */
  transaction<T>(
    work: (trx: Transaction<any>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Like `transaction`, but begun with the first statement of `work`. If there is none, nothing is
   * sent to the database.
   */
  transactionLater<T>(work: () => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Like `transactionLater`, for work that may finish without waiting and without a statement. Its
   * value is then returned directly, because a promise would cost as much as the work.
   */
  transactionIfNeeded<T>(work: () => T | Promise<T>, options?: TransactionOptions): T | Promise<T>;
  /**
   * Whether leaving the running transaction would change nothing: it has not begun, and nothing waits
   * for its commit.
   */
  readonly untouched: boolean;
  /** The running transaction or savepoint; undefined outside of every one. */
  scope(): { readonly closed: boolean; readonly attempt: number } | undefined;
  /**
   * The same for SQL texts: each is prepared and cached, without the query builder. `work` may use
   * only its `query`, and runs again after a serialization failure or a deadlock. With bounds, its statements end when the client is gone or the time limit is
   * reached.
   */
  transact<T>(
    work: (query: Query) => Promise<T>,
    bounds?: TransactionBounds,
    known?: TransactionWork,
  ): Promise<T>;
  /**
   * Like `transaction`, for changes of the schema. On SQLite foreign keys are then checked once,
   * before the commit.
   */
  structuralTransaction<T>(work: (trx: Transaction<any>) => Promise<T>): Promise<T>;
  /**
   * Runs one prepared and cached statement: `?` on SQLite, `$1` on PostgreSQL. Only for a limited
   * number of texts. With bounds it ends like a statement of `transact`, where it is part of a
   * transaction.
   */
  query<Row = Record<string, unknown>>(
    sql: string,
    parameters: readonly unknown[],
    bounds?: Bounds,
  ): Promise<Row[]>;
  /**
   * Runs a statement for an answer: the first column of the first row as the database writes it,
   * null when there is no row. The statement ends when its client is gone or the time limit is
   * reached, and does not delay other requests. Returns no promise when the database answers
   * synchronously, because a promise would cost as much as the statement.
   *
   * @throws AppError `RESULT_TOO_LARGE`, `UNAVAILABLE`
   */
  answer(
    statement: ReadStatement,
    parameters: readonly unknown[],
    bounds: Bounds,
  ): unknown | Promise<unknown>;
  /** Like `answer`, but returns all rows of the statement. */
  answerRows(
    statement: ReadStatement,
    parameters: readonly unknown[],
    bounds: Bounds,
  ): Promise<readonly Record<string, unknown>[]>;
  /** Absent on SQLite. */
  readonly describe?: (() => Promise<DatabaseFacts>) | undefined;
  readonly replicas?: Replicas | undefined;
  /** Whether the database gives no connections. Absent on SQLite. */
  readonly isLost?: (() => boolean) | undefined;
  /** The connections of this process, and how many callers wait for one. */
  connections(): Connections;
  /** Memory of the answers in progress. */
  readonly memory: AnswerMemory;
  /**
   * The first column of the first row, synchronously; undefined when there is no row. Only for
   * texts that read. It exists only where the database answers in this process without waiting,
   * because a promise would cost as much as the statement.
   */
  readonly valueNow?: ((sql: string, parameters: readonly unknown[]) => unknown) | undefined;
  /**
   * The first column of the first row, which must be text; null when there is no row. On PostgreSQL
   * it takes one promise instead of the five of `query`. For small answers only, because it has no
   * limit.
   */
  valueLater(sql: string, parameters: readonly unknown[]): Promise<string | null>;
  /**
   * Called when a request arrives: until the event loop waits again, `valueNow` may read from one
   * snapshot, in which writes of this process still show at once. Absent where this would gain
   * nothing.
   */
  readonly readTogether?: (() => void) | undefined;
  /**
   * Runs one writing statement without a transaction of its own, and resolves after the commit. On
   * SQLite the statements of one turn share a commit; on PostgreSQL a statement commits by itself,
   * which saves two of three round trips. Undefined inside a transaction, and on SQLite also when it
   * would have to wait for another transaction in this process.
   *
   * @param asker the statement ends when its client is gone or the time limit is reached.
   */
  readonly writeOne?:
    | ((
        sql: string,
        parameters: readonly unknown[],
        asker?: Asker,
      ) => Promise<readonly Record<string, unknown>[]> | undefined)
    | undefined;
  /**
   * Calls `work` after the commit of the running transaction, never after its rollback; at once
   * when no transaction is running.
   */
  afterCommit(work: () => void): void;
  /**
   * Runs `work`, whose effect must outlive a rollback, such as counting a wrong password. If an
   * outer transaction is rolled back, `work` runs once more after that.
   */
  keep<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` while no other code with `name` runs, in all servers that share this database. The
   * same name inside of `work` joins it.
   *
   * @param patience how many milliseconds to wait for other servers; five minutes when absent.
   * @throws AppError `WAITING_FOR_LOCK`; `LOCK_LOST` when it was lost before `work` has ended.
   */
  lock<T>(name: string, work: () => Promise<T>, patience?: number): Promise<T>;
  /**
   * Hears what other servers send on a channel, and this one too. Absent on SQLite.
   *
   * @param interrupt called when something may be missed, and with nothing when all is heard again.
   * @returns a function that ends it.
   */
  readonly listen?:
    | ((
        channel: string,
        hear: (payload: string) => void,
        interrupt?: (why: Error | undefined) => void,
      ) => Promise<() => void>)
    | undefined;
  /** Sends to all servers that listen, in this order, outside of every transaction. */
  readonly notify?: ((channel: string, payloads: readonly string[]) => Promise<void>) | undefined;
  /**
   * Takes a lock that holds until it is released or this process ends in any way; null when another
   * process has it. Only on SQLite, where processes share a file.
   */
  readonly tryLock?: ((name: string) => (() => void) | null) | undefined;
  close(): Promise<void>;
}
