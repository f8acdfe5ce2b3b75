import type { ColumnDataType, ColumnDefinitionBuilder, Kysely, RawBuilder } from 'kysely';
import { alterOnPostgres } from './alter-postgres.ts';
import { alterOnSqlite } from './alter-sqlite.ts';
import { describeColumn, type Alteration, type DataType } from './alteration.ts';
import { dialectOf } from './column-types.ts';

type Build = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

/** Changes of one table, gathered and then made by `execute`. */
export interface TableAlterer {
  addColumn(name: string, type: ColumnDataType | RawBuilder<unknown>, build?: Build): TableAlterer;
  /** Gives a column a new definition: type, null or not, default, unique, check and reference are all as said here. */
  alterColumn(
    name: string,
    type: ColumnDataType | RawBuilder<unknown>,
    build?: Build,
  ): TableAlterer;
  dropColumn(name: string): TableAlterer;
  execute(): Promise<void>;
}

/**
 * Changes columns of a table that may have rows, on SQLite and on PostgreSQL alike. PostgreSQL alters the table; SQLite
 * makes it anew with the rows, indexes and triggers that it had, wherever its own ALTER TABLE is not enough.
 *
 * A column that becomes required takes its default where it had none. Without a default that is refused while there are
 * rows without a value.
 *
 * @example
 * await alterTable(db, 'posts')
 *   .addColumn('summary', type.text)
 *   .alterColumn('title', type.text, (column) => column.notNull().unique())
 *   .dropColumn('subtitle')
 *   .execute();
 * @throws AppError `MIGRATION_NEEDS_VALUE` when a required column would be empty in rows that exist.
 */
export function alterTable(db: Kysely<any>, table: string): TableAlterer {
  const changes: Alteration[] = [];
  const add =
    (kind: 'add' | 'alter') =>
    (name: string, type: DataType, build: Build = (column) => column) => {
      changes.push({ kind, column: describeColumn(db, { table, name, type, build }) });
      return alterer;
    };
  const alterer: TableAlterer = {
    addColumn: add('add'),
    alterColumn: add('alter'),
    dropColumn: (name) => (changes.push({ kind: 'drop', name }), alterer),
    execute: () =>
      (dialectOf(db) === 'sqlite' ? alterOnSqlite : alterOnPostgres)(db, table, changes),
  };
  return alterer;
}
