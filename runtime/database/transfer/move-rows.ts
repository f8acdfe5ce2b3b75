import { AppError } from '@twofold/runtime/errors';
import { type RowSum, rowSum } from './canonical.ts';
import { type LineReader, RowRefused, type RowWriter } from './database.ts';
import type { MovedTable } from './moved-table.ts';
import type { Batch, Row, Value } from './value.ts';

/** The rows of one table, from a database or from a backup. */
export interface TableRows {
  readonly name: string;
  readonly columns: readonly string[];
  read(): AsyncIterable<Batch>;
  /** The rows as the text of their database, for another database of the same kind. */
  readonly lines?: { readonly of: LineReader; readonly table: MovedTable };
  /** The row with this index, from 0; undefined when it is no longer kept. */
  find(at: number): Promise<Row | undefined>;
}

/** A table after the comparison of both sides. */
export interface MovedRows {
  readonly name: string;
  readonly rows: number;
  readonly equal: boolean;
}

/** Called after each batch with the rows that were written so far. */
export type Progress = (done: number) => void;

/**
 * The target table for a table's rows, with the columns of these rows in their order.
 *
 * @throws AppError `TARGET_DIFFERS` for a table or column that the target lacks.
 */
function targetOf({ name, columns }: TableRows, targets: readonly MovedTable[]): MovedTable {
  const target = targets.find((each) => each.label === name);
  if (!target) throw differs(`the target has no table ${name}`);
  // In a backup, a table without rows has no columns.
  if (columns.length === 0) return target;
  return {
    ...target,
    columns: columns.map((column) => {
      const found = target.columns.find((each) => each.name === column);
      if (!found) throw differs(`the target has no column ${name}.${column}`);
      return found;
    }),
  };
}

const differs = (problem: string) =>
  new AppError(
    500,
    'TARGET_DIFFERS',
    `${problem}; nothing was written.\n   fix  take an empty database, which gets the tables of the source, or bring both to the same migrations`,
  );

export interface Moving {
  /** The tables, each after those that its foreign keys refer to. */
  readonly sources: AsyncIterable<TableRows>;
  /** The tables of the target to which rows may be written. */
  readonly targets: readonly MovedTable[];
  readonly progress?: Progress | undefined;
}

/**
 * Writes all rows and compares both sides, before the commit.
 *
 * @throws AppError `VALUE_NOT_HELD` for a row that the target refuses. Nothing is written then.
 */
export async function moveRows(
  writer: RowWriter,
  { sources, targets, progress = () => {} }: Moving,
): Promise<MovedRows[]> {
  const sums = new Map<MovedTable, Compare>();
  let done = 0;
  const count = (rows: number) => progress((done += rows));
  await writer.begin(targets);
  for await (const source of sources) {
    const table = targetOf(source, targets);
    const load =
      asLines(writer, table, { source, count }) ?? asRows(writer, table, { source, count });
    sums.set(table, await load().catch((error) => refused(error, table, source)));
  }
  await writer.finish([...sums.keys()]);
  const moved: MovedRows[] = [];
  for (const compare of sums.values()) moved.push(await compare());
  return moved;
}

/** Compares a table of both sides, when all tables are written. */
type Compare = () => Promise<MovedRows>;

interface Loading {
  readonly source: TableRows;
  /** Called with the number of rows of each batch. */
  readonly count: (rows: number) => void;
}

/**
 * Copies rows as text, without parsing them; undefined when the text of one side does not mean the
 * same on the other.
 */
function asLines(
  { lines: to }: RowWriter,
  table: MovedTable,
  { source: { lines: from }, count }: Loading,
): (() => Promise<Compare>) | undefined {
  if (!from || !to || from.of.version !== to.version) return undefined;
  if (from.of.types(from.table).join() !== to.types(table).join()) return undefined;
  return async () => {
    await to.load(
      table,
      noting(from.of.read(from.table), ({ rows }) => count(rows)),
    );
    return async () => {
      const [given, kept] = await Promise.all([from.of.checksum(from.table), to.checksum(table)]);
      const equal = given.rows === kept.rows && given.digest === kept.digest;
      return { name: table.label, rows: given.rows, equal };
    };
  };
}

function asRows(writer: RowWriter, table: MovedTable, { source, count }: Loading) {
  return async (): Promise<Compare> => {
    const sum = rowSum(table.columns);
    const noted = noting(source.read(), (batch) => {
      for (const row of batch) sum.add(row);
      count(batch.length);
    });
    await writer.load(table, noted);
    return () => compare(writer, table, sum);
  };
}

async function* noting<Part>(
  batches: AsyncIterable<Part>,
  note: (batch: Part) => void,
): AsyncGenerator<Part> {
  for await (const batch of batches) {
    note(batch);
    yield batch;
  }
}

async function compare(writer: RowWriter, table: MovedTable, given: RowSum): Promise<MovedRows> {
  const kept = rowSum(table.columns);
  for await (const batch of writer.read(table)) for (const row of batch) kept.add(row);
  return {
    name: table.label,
    rows: given.rows(),
    equal: kept.rows() === given.rows() && kept.digest() === given.digest(),
  };
}

/** Finds the row that the target refused, to name it by its key. */
async function refused(error: unknown, table: MovedTable, source: TableRows): Promise<never> {
  if (!(error instanceof RowRefused) || error.row === undefined) throw error;
  const row = await source.find(error.row);
  const key = row ? keyOf(table, row) : `row ${error.row + 1}`;
  const place = [table.label, key, error.column].filter((part) => part !== undefined);
  throw new AppError(
    500,
    'VALUE_NOT_HELD',
    `${place.join(', ')}: the target cannot hold ${shown(row, table, error.column)}: ${error.message}\nNothing was written.\n   fix  change the value in the source`,
    {
      cause: error,
      extensions: { table: table.label, key: key ?? null, column: error.column ?? null },
    },
  );
}

function keyOf({ key, columns }: MovedTable, row: Row): string | undefined {
  if (key.length === 0) return undefined;
  return key
    .map((name) => shortText(row[columns.findIndex((each) => each.name === name)]!))
    .join(':');
}

function shown(row: Row | undefined, { columns }: MovedTable, column: string | undefined): string {
  const value = row?.[columns.findIndex(({ name }) => name === column)];
  return value === undefined ? 'this row' : JSON.stringify(value).slice(0, 80);
}

const shortText = (value: Value) =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);
