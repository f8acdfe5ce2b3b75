import type { Kysely, Transaction } from 'kysely';
import type { AnswerMemory } from './answer-memory.ts';
import type { Bounds, ReadStatement, TransactionBounds } from './bounds.ts';

export type Dialect = 'sqlite' | 'postgres';

/** Runs one statement, see `Store.query`. With bounds, it reads for an answer and is held to them. */
export type Query = (
  sql: string,
  parameters: readonly unknown[],
  bounds?: Bounds,
) => Promise<readonly Record<string, unknown>[]>;

/**
 * The database: Kysely over `node:sqlite` or PostgreSQL, the same on both.
 *
 * Column names are those of the tables (snake_case). A row has the same values on both: numbers for keys, true and
 * false, parsed JSON, ISO 8601 text in UTC with milliseconds for timestamps. JSON is written as text.
 */
export interface Store {
  readonly dialect: Dialect;
  readonly db: Kysely<any>;
  /**
   * Runs `work` in one transaction (IMMEDIATE on SQLite); a throw rolls back. Whatever `work` awaits takes part in it, through
   * `trx` and through every other handle of this store. Inside another transaction it is a savepoint of that one.
   *
   * @throws AppError `TIMEOUT` when it is open for too long, `TRANSACTION_CLOSED` for a statement after its end.
   */
  transaction<T>(work: (trx: Transaction<any>) => Promise<T>): Promise<T>;
  /**
   * The same for statements that are texts already: each is prepared and kept, and no query builder stands between. Inside,
   * use `query` and nothing else. With bounds, no statement of it outlives the one who asked, or their time.
   */
  transact<T>(work: (query: Query) => Promise<T>, bounds?: TransactionBounds): Promise<T>;
  /** The same for changes of tables: on SQLite foreign keys are checked once, before the commit. */
  structuralTransaction<T>(work: (trx: Transaction<any>) => Promise<T>): Promise<T>;
  /** One statement, prepared and kept: `?` on SQLite, `$1` on PostgreSQL. For texts of constant shape. */
  query<Row = Record<string, unknown>>(sql: string, parameters: readonly unknown[]): Promise<Row[]>;
  /**
   * What a caller is answered with: the first column of the first row as the database writes it, null when there is no row.
   * The statement ends with its caller or with their time, and holds up no other request. No promise where the database answers
   * in this process at once: there a promise would cost as much as the statement.
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
  /** What the answers hold that are in the making. */
  readonly memory: AnswerMemory;
  /**
   * The first column of the first row, at once; undefined when there is no row. Only where the database answers in this
   * process without waiting for anybody: there a promise would cost as much as the statement. For texts that only read.
   */
  readonly valueNow?: ((sql: string, parameters: readonly unknown[]) => unknown) | undefined;
  /**
   * The first column of the first row, which has to be a text; null when there is no row. On PostgreSQL it takes one promise
   * where `query` takes five. For small answers: nothing bounds them.
   */
  valueLater(sql: string, parameters: readonly unknown[]): Promise<string | null>;
  /**
   * A request has come in: until the event loop waits again, `valueNow` may read from one state of the database, and the
   * writes of this process still show at once. Absent where it would gain nothing.
   */
  readonly readTogether?: (() => void) | undefined;
  /**
   * One statement that writes, in one transaction with those of the other requests that came in with it; resolves when that is
   * committed. Undefined when it would have to wait for another transaction in this process.
   */
  readonly writeTogether?:
    | ((
        sql: string,
        parameters: readonly unknown[],
      ) => Promise<readonly Record<string, unknown>[]> | undefined)
    | undefined;
  /** Calls `work` after the commit of the transaction that the caller is part of, never after its rollback; at once outside of one. */
  afterCommit(work: () => void): void;
  /** Runs `work` while no other server that shares this database holds `name`. Not re-entrant. */
  lock<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
