import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type BoundedCache, createBoundedCache } from '../bounded-cache.ts';
import { addContains } from './contains-text.ts';
import { addExactNumbers } from './exact-numbers.ts';
import { addFolding } from './fold-text.ts';
import { addJsonWords } from './json-words.ts';
import { addKeyPart } from './key-part.ts';
import { addHighlight } from '../search/highlight.ts';
import { MAX_TEXT, type ReadText, STEP_FUNCTION, tooMuchText } from '../bounds.ts';
import type { StoredType } from '../tables/column-types.ts';
import { convertValue } from '../tables/conversion.ts';

/** The rows of a statement, and the number of rows that it changed. */
export interface SqliteResult {
  readonly rows: Record<string, unknown>[];
  readonly changes: bigint;
  readonly insertId: bigint | undefined;
}

/** One `node:sqlite` handle with its prepared statements. Everything on it is synchronous. */
export interface SqliteConnection {
  run(sql: string, parameters: readonly unknown[]): SqliteResult;
  /** The first column of the first row, as SQLite returns it; undefined when there is no row. */
  value(sql: string, parameters: readonly unknown[]): unknown;
  /** All rows, if their texts have at most this many bytes in total; else undefined. */
  rowsWithin(
    sql: string,
    parameters: readonly unknown[],
    bytes: number,
  ): Record<string, unknown>[] | undefined;
  exec(sql: string): void;
  /**
   * Sets a function that is called repeatedly while a long statement runs. When it throws, the
   * statement ends.
   */
  onStep(check: (() => void) | undefined): void;
  /** Sets the largest size of a value in bytes; a larger one fails with SQLITE_TOOBIG. */
  bound(bytes: number): void;
  inTransaction(): boolean;
  /** Drops cached statements after tables have changed. */
  forget(): void;
  close(): void;
}

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  /** Whether integers are read as BigInt: JavaScript numbers cannot hold all of them. */
  exact: boolean;
  /** Set after the first run, because a handle notices changes of tables only when it runs. */
  types:
    | { readonly booleans: readonly string[]; readonly documents: readonly string[] }
    | undefined;
}

const STATEMENTS = { entries: 500, bytes: 32_000_000 };

/** Characters of a text that takes about as long to look through as a row to find. */
const LARGE = 1000;

/** What a call takes beside its text, as so many characters. */
const PER_CALL = 50;

/** The default of SQLite, in bytes. */
const MAX_VALUE_BYTES = 1_000_000_000;
const TOO_BIG = 18;

/** Whether a statement failed because a value has more bytes than `bound` allows. */
export const isTooBig = (error: unknown): boolean =>
  (error as { errcode?: number } | null)?.errcode === TOO_BIG;

export interface SqliteOptions {
  readonly readOnly?: boolean;
  /** Whether the file keeps its journal mode, because another program owns it. */
  readonly foreign?: boolean | undefined;
}

const weightOf = (sql: string) => 4_000 + 15 * sql.length;

/**
 * Opens a database file (or `:memory:`) with write-ahead logging, foreign keys and a busy timeout.
 *
 * Columns declared `boolean` read as true and false, and columns declared `json_text` as parsed
 * JSON, so that a row is the same here and on PostgreSQL.
 */
export function openSqlite(
  file: string,
  { readOnly = false, foreign = false }: SqliteOptions = {},
): SqliteConnection {
  const database = new DatabaseSync(file, { timeout: 5000, readOnly });
  database.exec(
    `${readOnly || foreign ? '' : 'pragma journal_mode = wal;'} pragma synchronous = normal; pragma foreign_keys = on; pragma busy_timeout = 5000;`,
  );
  addConversion(database);
  addKeyPart(database);
  addExactNumbers(database);
  let check: (() => void) | undefined;
  let handed = 0;
  const step = () => check?.();
  const read: ReadText = (characters) => {
    handed += characters + PER_CALL;
    if (handed > MAX_TEXT) throw tooMuchText();
    if (characters > LARGE) step();
  };
  const begun = <T>(statement: T): T => {
    handed = 0;
    return statement;
  };
  addFolding(database, read);
  addContains(database, read);
  addJsonWords(database, read);
  addHighlight(database, read);
  let longest = MAX_VALUE_BYTES;
  // Declared as not deterministic, so that SQLite calls it for each row and not only once.
  database.function(STEP_FUNCTION, { deterministic: false }, () => {
    step();
    return 1;
  });
  const cache = createBoundedCache<Prepared>(STATEMENTS);
  const values = createBoundedCache<StatementSync>(STATEMENTS);
  return {
    run: (sql, parameters) => execute(begun(prepare(database, cache, sql)), parameters),
    value: (sql, parameters) => firstOf(begun(prepareValue(database, values, sql)), parameters),
    rowsWithin: (sql, parameters, bytes) =>
      rowsWithin(begun(prepare(database, cache, sql)), parameters, bytes),
    exec: (sql) => database.exec(sql),
    onStep: (next) => {
      check = next;
    },
    bound: (bytes) => {
      const most = Math.min(bytes, MAX_VALUE_BYTES);
      if (most === longest) return;
      longest = most;
      database.limits.length = most;
    },
    inTransaction: () => database.isTransaction,
    forget: () => {
      cache.clear();
      values.clear();
    },
    close: () => database.close(),
  };
}

/**
 * `twofold_convert(value, 'real', 'integer')`: SQLite's own casts silently cut text and round
 * floats.
 */
function addConversion(database: DatabaseSync): void {
  database.function(
    'twofold_convert',
    { deterministic: true, useBigIntArguments: true },
    (value, from, to) =>
      value === null
        ? null
        : (convertValue(from as StoredType, to as StoredType, value)?.value ?? null),
  );
}

function prepare(database: DatabaseSync, cache: BoundedCache<Prepared>, sql: string): Prepared {
  const known = cache.get(sql);
  if (known) return known;
  const statement = database.prepare(sql);
  const prepared: Prepared = {
    statement,
    returnsRows: statement.columns().length > 0,
    exact: false,
    types: undefined,
  };
  // A read is run again when an integer is too large. What has written cannot be run again.
  if (prepared.returnsRows && !/^\s*select\b/i.test(sql) && mayBeLarge(statement))
    readExactly(prepared);
  // A statement with `select *` is not cached: it keeps the columns of the time when it was
  // prepared, and DDL may add some.
  if (!/\*/.test(sql)) cache.set(sql, prepared, weightOf(sql));
  return prepared;
}

/** Prepares a statement that returns arrays: of row objects only one value would be used. */
function prepareValue(
  database: DatabaseSync,
  cache: BoundedCache<StatementSync>,
  sql: string,
): StatementSync {
  const known = cache.get(sql);
  if (known) return known;
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  cache.set(sql, statement, weightOf(sql));
  return statement;
}

/** Spreading the parameters into a call costs as much as finding a row by its key. */
function firstOf(statement: StatementSync, parameters: readonly unknown[]): unknown {
  const row =
    parameters.length === 1
      ? statement.get(bind(parameters[0]))
      : statement.get(...parameters.map(bind));
  return (row as unknown as unknown[] | undefined)?.[0];
}

function execute(prepared: Prepared, parameters: readonly unknown[]): SqliteResult {
  const values = parameters.map(bind);
  if (!prepared.returnsRows) {
    const { changes, lastInsertRowid } = prepared.statement.run(...values);
    return { rows: [], changes: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }
  const rows = allOf(prepared, values);
  const types = (prepared.types ??= typesOf(prepared.statement));
  if (types.booleans.length > 0 || types.documents.length > 0)
    rows.forEach((row) => decode(row, types));
  return { rows, changes: BigInt(rows.length), insertId: undefined };
}

function allOf(prepared: Prepared, values: readonly SQLInputValue[]): Record<string, unknown>[] {
  try {
    const rows = prepared.statement.all(...values) as Record<string, unknown>[];
    return prepared.exact ? rows.map(withNumbers) : rows;
  } catch (error) {
    if (prepared.exact || (error as { code?: string }).code !== 'ERR_OUT_OF_RANGE') throw error;
    readExactly(prepared);
    return allOf(prepared, values);
  }
}

function readExactly(prepared: Prepared): void {
  prepared.statement.setReadBigInts(true);
  prepared.exact = true;
}

/** Columns declared `bigint`, and expressions, which have no type. */
const mayBeLarge = (statement: StatementSync): boolean =>
  statement.columns().some(({ type }) => type === null || type.toLowerCase() === 'bigint');

/** Integers in the form of PostgreSQL's driver: a number where that is exact, else text. */
function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (typeof value === 'bigint')
      row[name] = Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return row;
}

function rowsWithin(
  { statement }: Prepared,
  parameters: readonly unknown[],
  bytes: number,
): Record<string, unknown>[] | undefined {
  const rows: Record<string, unknown>[] = [];
  let sum = 0;
  for (const row of statement.iterate(...parameters.map(bind))) {
    for (const value of Object.values(row)) if (typeof value === 'string') sum += value.length;
    if (sum > bytes) return undefined;
    rows.push(row);
  }
  return rows;
}

function typesOf(statement: StatementSync): NonNullable<Prepared['types']> {
  const columns = statement.columns();
  const named = (type: string) =>
    columns.filter((column) => column.type?.toLowerCase() === type).map((column) => column.name);
  return { booleans: named('boolean'), documents: named('json_text') };
}

function decode(
  row: Record<string, unknown>,
  { booleans, documents }: NonNullable<Prepared['types']>,
): void {
  for (const name of booleans) if (row[name] !== null) row[name] = Boolean(row[name]);
  for (const name of documents)
    if (typeof row[name] === 'string') row[name] = JSON.parse(row[name]);
}

function bind(value: unknown): SQLInputValue {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value as SQLInputValue;
}
