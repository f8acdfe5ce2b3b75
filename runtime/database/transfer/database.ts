import type { Dialect } from '@twofold/runtime/store';
import type { Catalog } from '../catalog/catalog.ts';
import type { MovedTable } from './moved-table.ts';
import type { CopiedLines } from './postgres-wire.ts';
import type { Batch } from './value.ts';

/** A database from which rows are read, in the state of one moment, while others may write. */
export interface RowReader {
  /** Absent when rows cannot be copied as text. */
  readonly lines?: LineReader;
  readonly dialect: Dialect;
  readonly catalog: Catalog;
  /** The catalog with the forms of all values, where values of any form can be in a column. */
  counted?(): Promise<Catalog>;
  /** The names of the tables of the list that have rows. */
  filled(tables: readonly MovedTable[]): Promise<readonly string[]>;
  read(table: MovedTable): AsyncIterable<Batch>;
  close(): Promise<void>;
}

/** The schemas of PostgreSQL to read; with `besides`, these in addition to the search path. */
export type ReadSchemas = readonly string[] | { readonly besides: readonly string[] };

export interface LoadOptions {
  readonly schemas?: ReadSchemas;
  /** Whether statements that change tables are allowed. With `managed: false` they are not. */
  readonly managed: boolean;
}

/** Reads rows as the text of the database, for another database of the same kind. */
export interface LineReader {
  /**
   * Facts that must be equal on both sides: the release, because it decides the text of values, and
   * the encoding.
   */
  readonly version: string;
  /** The types of the columns, as the database names them. */
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

/** A database that takes rows as the text of another database of its kind. */
export interface LineWriter extends Omit<LineReader, 'read'> {
  /** @throws RowRefused for a value that the table cannot hold. */
  load(table: MovedTable, lines: AsyncIterable<CopiedLines>): Promise<void>;
}

/** A database to which rows are written, all or none. */
export interface RowWriter {
  /** Absent when rows cannot be written as text. */
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
   * Prepares for rows of tables in any order. Foreign keys and triggers are put aside, so that they
   * do not see half of the rows.
   */
  begin(tables: readonly MovedTable[]): Promise<void>;
  /** @throws RowRefused for a value that the table cannot hold. */
  load(table: MovedTable, batches: AsyncIterable<Batch>): Promise<void>;
  /** Restores what `begin` put aside. Rows whose referenced row does not exist are refused. */
  finish(tables: readonly MovedTable[]): Promise<void>;
  /** Reads back what was written, before the commit. */
  read(table: MovedTable): AsyncIterable<Batch>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** A row that the target's table refused. */
export class RowRefused extends Error {
  /** The index of the row among the given ones, from 0. */
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
