import type { Kysely, Transaction } from 'kysely';
import type { AnswerMemory } from './answer-memory.ts';
import type { Bounds, ReadStatement, TransactionBounds } from './bounds.ts';

export type Dialect = 'sqlite' | 'postgres';

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
  /**
   * Runs `work` in one transaction (IMMEDIATE on SQLite); a throw rolls back. Everything that
   * `work` awaits takes part in it, through `trx` and through every other handle of this store.
   * Inside another transaction it is a savepoint.
   *
   * @throws AppError `TIMEOUT` when it is open for too long, `TRANSACTION_CLOSED` for a statement
   * after its end.
   */
  transaction<T>(work: (trx: Transaction<any>) => Promise<T>): Promise<T>;
  /**
   * The same for SQL texts: each is prepared and cached, without the query builder. `work` may use
   * only its `query`. With bounds, its statements end when the client is gone or the time limit is
   * reached.
   */
  transact<T>(work: (query: Query) => Promise<T>, bounds?: TransactionBounds): Promise<T>;
  /** The same for schema changes: on SQLite foreign keys are checked once, before the commit. */
  structuralTransaction<T>(work: (trx: Transaction<any>) => Promise<T>): Promise<T>;
  /**
   * Runs one prepared and cached statement: `?` on SQLite, `$1` on PostgreSQL. Only for a limited
   * number of texts.
   */
  query<Row = Record<string, unknown>>(sql: string, parameters: readonly unknown[]): Promise<Row[]>;
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
  /** The same for all the rows of a statement. */
  answerRows(
    statement: ReadStatement,
    parameters: readonly unknown[],
    bounds: Bounds,
  ): Promise<readonly Record<string, unknown>[]>;
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
   * Runs one writing statement in one transaction with those of other requests of the same turn;
   * resolves after the commit. Undefined when it would have to wait for another transaction in this
   * process.
   */
  readonly writeTogether?:
    | ((
        sql: string,
        parameters: readonly unknown[],
      ) => Promise<readonly Record<string, unknown>[]> | undefined)
    | undefined;
  /**
   * Calls `work` after the commit of the running transaction, never after its rollback; at once
   * when no transaction is running.
   */
  afterCommit(work: () => void): void;
  /** Runs `work` while no other server that shares this database holds `name`. Not re-entrant. */
  lock<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
