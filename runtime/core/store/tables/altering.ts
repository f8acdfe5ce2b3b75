import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import type { TableForeignKey } from '@twofold/schema';
import { loadDatabase } from '../../database-package.ts';
import type { SearchIndex, SearchIndexOptions } from '../search/search-index.ts';
import type { DataType } from './column-types.ts';
import type { FoldedIndex } from './folded.ts';

// What migrations call. The code that does it is loaded when the first of them runs.

type Build = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

/** A change of a column's type. */
export interface NewType {
  readonly from: DataType;
  readonly to: DataType;
}

/** Collects changes of one table; `execute` makes them. */
export interface TableAlterer {
  addColumn(name: string, type: DataType, build?: Build): TableAlterer;
  /**
   * Gives a column a new definition. Type, null or not, default, unique, check and reference are
   * all as stated here. A change of the type names both types: `{ from: type.text, to: type.integer
   * }`.
   */
  alterColumn(name: string, type: DataType | NewType, build?: Build): TableAlterer;
  dropColumn(name: string): TableAlterer;
  /**
   * Adds a foreign key of several columns. Rows that refer to no existing row are refused, except
   * rows with NULL in one of the columns.
   */
  addForeignKey(columns: readonly string[], target: Omit<TableForeignKey, 'columns'>): TableAlterer;
  /** Drops the foreign key of exactly these columns, in this order. */
  dropForeignKey(columns: readonly string[]): TableAlterer;
  execute(): Promise<void>;
}

/** A change of a table as a migration states it. */
export type TableChange =
  | {
      readonly kind: 'add' | 'alter';
      readonly name: string;
      readonly type: DataType | NewType;
      readonly build?: Build | undefined;
    }
  | { readonly kind: 'drop'; readonly column: { readonly name: string } }
  | { readonly kind: 'addForeignKey'; readonly key: TableForeignKey }
  | { readonly kind: 'dropForeignKey'; readonly key: Pick<TableForeignKey, 'columns'> };

/**
 * Changes columns of a table that may have rows, with the same result on SQLite and PostgreSQL.
 * PostgreSQL alters the table. SQLite rebuilds it with its rows, indexes and triggers where its
 * ALTER TABLE is not enough.
 *
 * Rows are checked before anything is changed, and those that do not fit are refused with their
 * number and keys. A column that becomes required takes its default where it had no value.
 *
 * @example
 * await alterTable(db, 'posts')
 *   .addColumn('summary', type.text)
 *   .alterColumn('title', type.text, (column) => column.notNull().unique())
 *   .dropColumn('subtitle')
 *   .execute();
 * @throws AppError `ROWS_IN_THE_WAY`, or `MIGRATION_NEEDS_CONSENT` when a change of type would lose
 * part of values.
 */
export function alterTable(db: Kysely<any>, table: string): TableAlterer {
  const changes: TableChange[] = [];
  const push = (change: TableChange) => (changes.push(change), alterer);
  const alterer: TableAlterer = {
    addColumn: (name, type, build) => push({ kind: 'add', name, type, build }),
    alterColumn: (name, type, build) => push({ kind: 'alter', name, type, build }),
    dropColumn: (name) => push({ kind: 'drop', column: { name } }),
    addForeignKey: (columns, other) => push({ kind: 'addForeignKey', key: { columns, ...other } }),
    dropForeignKey: (columns) => push({ kind: 'dropForeignKey', key: { columns } }),
    execute: async () => (await loadDatabase()).makeTableChanges(db, table, changes),
  };
  return alterer;
}

/**
 * Makes a unique index over the folded values of a column, so that one address cannot be stored
 * twice with different letter case.
 *
 * @example await createFoldedIndex(db, { name: 'users_email_identity_key', table: 'users', column: 'email', fold: 'letters' });
 * @throws AppError `ROWS_IN_THE_WAY` with the keys of equal rows; nothing was changed.
 */
export const createFoldedIndex = async (db: Kysely<any>, index: FoldedIndex): Promise<void> =>
  (await loadDatabase()).createFoldedIndex(db, index);

/**
 * Makes the full-text index of a table: FTS5 on SQLite, a `tsvector` with GIN on PostgreSQL.
 * Triggers update it on every write, in the transaction of the write.
 *
 * @example await createSearchIndex(db, { name: 'twofold_search_posts', table: 'posts', key: ['id'], columns: ['title', 'body'], language: 'english' });
 */
export const createSearchIndex = async (
  db: Kysely<any>,
  index: SearchIndexOptions,
): Promise<void> => (await loadDatabase()).createSearchIndex(db, index);

/**
 * Drops everything that `createSearchIndex` made. The rows of the table stay.
 *
 * @example await dropSearchIndex(db, { name: 'twofold_search_posts', table: 'posts' });
 */
export const dropSearchIndex = async (
  db: Kysely<any>,
  index: Pick<SearchIndex, 'name' | 'table'>,
): Promise<void> => (await loadDatabase()).dropSearchIndex(db, index);
