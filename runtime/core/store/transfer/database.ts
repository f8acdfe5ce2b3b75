import type { Catalog } from '../catalog/catalog.ts';
import type { Dialect } from '../store.ts';
import type { MovedTable } from './moved-table.ts';
import type { CopiedLines } from './postgres-wire.ts';
import type { Batch } from './value.ts';

/** A database whose rows are read: all of them as they were at one moment, while others write. */
export interface RowReader {
  /** Absent where the rows have to be read to be copied. */
  readonly lines?: LineReader;
  readonly dialect: Dialect;
  readonly catalog: Catalog;
  /** The names of the tables of the list that have rows. */
  filled(tables: readonly MovedTable[]): Promise<readonly string[]>;
  read(table: MovedTable): AsyncIterable<Batch>;
  close(): Promise<void>;
}

/** The schemas of PostgreSQL that are read, or those besides the ones of the search path. */
export type ReadSchemas = readonly string[] | { readonly besides: readonly string[] };

export interface LoadOptions {
  readonly schemas?: ReadSchemas;
  /** Whether statements that change tables are allowed: not with `managed: false`. */
  readonly managed: boolean;
}

/** Rows in the text of one database, for another of the same kind. */
export interface LineReader {
  /** What has to be equal on both sides: the release, and so the text of values, and the encoding. */
  readonly version: string;
  /** The types of the columns, as the database writes them. */
  types(table: MovedTable): readonly string[];
  read(table: MovedTable): AsyncIterable<CopiedLines>;
  /** The count of the rows and a sum over them, which the database computes. */
  checksum(table: MovedTable): Promise<LineSum>;
}

/** The sum does not depend on the order of the rows. */
export interface LineSum {
  readonly rows: number;
  readonly digest: string;
}

/** A database that takes the lines of another one. */
export interface LineWriter extends Omit<LineReader, 'read'> {
  /** @throws RowRefused for a value that the table cannot hold. */
  load(table: MovedTable, lines: AsyncIterable<CopiedLines>): Promise<void>;
}

/** A database that takes rows, all of them or none. */
export interface RowWriter {
  /** Absent where every row has to be written by itself. */
  readonly lines?: LineWriter;
  readonly dialect: Dialect;
  readonly catalog: Catalog;
  /**
   * The names of the tables of the list that have rows. Until the commit, no other connection adds
   * any.
   */
  filled(tables: readonly MovedTable[]): Promise<readonly string[]>;
  /** Removes the rows of all the tables. */
  clear(tables: readonly MovedTable[]): Promise<void>;
  /**
   * Prepares for rows that come in any order of tables: neither foreign keys nor triggers see a part
   * of them.
   */
  begin(tables: readonly MovedTable[]): Promise<void>;
  /** @throws RowRefused for a value that the table cannot hold. */
  load(table: MovedTable, batches: AsyncIterable<Batch>): Promise<void>;
  /** Restores what `begin` put aside; rows that refer to none are refused. */
  finish(tables: readonly MovedTable[]): Promise<void>;
  /** Reads back what was written, before the commit. */
  read(table: MovedTable): AsyncIterable<Batch>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** A row that the target's table refused. */
export class RowRefused extends Error {
  /** Counts from 0, in the order of the rows that were given. */
  readonly row: number | undefined;
  readonly column: string | undefined;

  constructor(
    message: string,
    {
      row,
      column,
      cause,
    }: {
      readonly row?: number | undefined;
      readonly column?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause });
    this.name = 'RowRefused';
    this.row = row;
    this.column = column;
  }
}
