import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import { alterOnPostgres } from './alter-postgres.ts';
import { alterOnSqlite } from './alter-sqlite.ts';
import {
  describeColumn,
  type Alteration,
  type DataType,
  type ForeignKeyTarget,
} from './alteration.ts';
import { dialectOf } from './column-types.ts';
import { asStep, beforeDrop } from './migration-run.ts';
import { isRecorded } from '../plan/recording.ts';
import { columnsOf } from './row-checks.ts';

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
  addForeignKey(columns: readonly string[], target: ForeignKeyTarget): TableAlterer;
  /** Drops the foreign key of exactly these columns, in this order. */
  dropForeignKey(columns: readonly string[]): TableAlterer;
  execute(): Promise<void>;
}

/**
 * Changes columns of a table that may have rows, with the same result on SQLite and PostgreSQL.
 * PostgreSQL alters the table. SQLite rebuilds it with its rows, indexes and triggers where its
 * ALTER TABLE is not enough.
 *
 * Rows are checked before anything is changed. Those without a value for a required column, with a
 * repeated value in a unique column, or with a value that the new type, check or reference does not
 * allow, are refused with their number and keys. A column that becomes required takes its default
 * where it had no value.
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
  const changes: Alteration[] = [];
  const describe = (
    kind: 'add' | 'alter',
    name: string,
    type: DataType | NewType,
    build: Build,
  ) => {
    const given = isNewType(type) ? { type: type.to, from: type.from } : { type };
    changes.push({ kind, column: describeColumn(db, { table, name, ...given, build }) });
    return alterer;
  };
  const unchanged: Build = (column) => column;
  const alterer: TableAlterer = {
    addColumn: (name, type, build = unchanged) => describe('add', name, type, build),
    alterColumn: (name, type, build = unchanged) => describe('alter', name, type, build),
    dropColumn: (name) => (changes.push({ kind: 'drop', name }), alterer),
    addForeignKey: (columns, target) => (
      changes.push({ kind: 'addForeignKey', key: { columns, ...target } }),
      alterer
    ),
    dropForeignKey: (columns) => (changes.push({ kind: 'dropForeignKey', columns }), alterer),
    execute: async () => {
      if (isRecorded({ kind: 'alterTable', table, changes })) return;
      await asStep(objectOf(table, changes), async () => {
        for (const change of changes)
          if (change.kind === 'drop') await beforeDrop({ table, column: change.name });
        await (dialectOf(db) === 'sqlite' ? alterOnSqlite : alterOnPostgres)(
          db,
          table,
          await settled(db, table, changes),
        );
      });
    },
  };
  return alterer;
}

/** Two branches may add the same column: the second migration changes its definition. */
async function settled(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<Alteration[]> {
  const present = await columnsOf(db, table);
  return changes.map((change) =>
    change.kind === 'add' && present.has(change.column.name)
      ? { ...change, kind: 'alter' }
      : change,
  );
}

function isNewType(type: DataType | NewType): type is NewType {
  return typeof type === 'object' && 'from' in type && 'to' in type;
}

function objectOf(table: string, [first, ...others]: readonly Alteration[]): string {
  if (!first || others.length > 0) return table;
  switch (first.kind) {
    case 'drop':
      return `${table}.${first.name}`;
    case 'addForeignKey':
      return `${table}.${first.key.columns.join(', ')}`;
    case 'dropForeignKey':
      return `${table}.${first.columns.join(', ')}`;
    default:
      return `${table}.${first.column.name}`;
  }
}
