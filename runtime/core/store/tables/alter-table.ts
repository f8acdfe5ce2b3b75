import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import type { TableForeignKey } from '@twofold/schema';
import { InternalError } from '../../errors.ts';
import { alterOnPostgres } from './alter-postgres.ts';
import { alterOnSqlite } from './alter-sqlite.ts';
import { columnsIn, describeColumn, type Alteration, type DataType } from './alteration.ts';
import { dialectOf } from './column-types.ts';
import { asStep, beforeDrop, recorded } from './migration-run.ts';
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
  addForeignKey(columns: readonly string[], target: Omit<TableForeignKey, 'columns'>): TableAlterer;
  /** Drops the foreign key of exactly these columns, in this order. */
  dropForeignKey(columns: readonly string[]): TableAlterer;
  execute(): Promise<void>;
}

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
  const changes: Alteration[] = [];
  const push = (change: Alteration) => (changes.push(change), alterer);
  const describe = (
    kind: 'add' | 'alter',
    name: string,
    type: DataType | NewType,
    build: Build = (column) => column,
  ) => {
    const given =
      typeof type === 'object' && 'to' in type ? { type: type.to, from: type.from } : { type };
    return push({ kind, column: describeColumn(db, { table, name, ...given, build }) });
  };
  const alterer: TableAlterer = {
    addColumn: (name, type, build) => describe('add', name, type, build),
    alterColumn: (name, type, build) => describe('alter', name, type, build),
    dropColumn: (name) => push({ kind: 'drop', column: { name } }),
    addForeignKey: (columns, other) => push({ kind: 'addForeignKey', key: { columns, ...other } }),
    dropForeignKey: (columns) => push({ kind: 'dropForeignKey', key: { columns } }),
    execute: () => makeChanges(db, table, changes),
  };
  return alterer;
}

/** Makes the changes of a table as one step, or records them. */
export async function makeChanges(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<void> {
  if (isRecorded({ kind: 'alterTable', table, changes })) return;
  await asStep(objectOf(table, changes), async () => {
    for (const change of changes)
      if (change.kind === 'drop') await beforeDrop({ table, column: change.column.name });
    const alter = dialectOf(db) === 'sqlite' ? alterOnSqlite : alterOnPostgres;
    await alter(db, table, await settled(db, table, changes));
  });
}

/**
 * Two branches may add the same column: the second migration changes its definition.
 *
 * @throws InternalError when a change is about a column that the table does not have.
 */
async function settled(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<Alteration[]> {
  const present = await columnsOf(db, table);
  // Statements that are recorded on PostgreSQL do not run, so the catalog is behind them.
  if (dialectOf(db) === 'sqlite' || !recorded()) assertPresent(table, present, changes);
  return changes.map((change) =>
    change.kind === 'add' && present.has(change.column.name)
      ? { ...change, kind: 'alter' }
      : change,
  );
}

function assertPresent(
  table: string,
  present: ReadonlySet<string>,
  changes: readonly Alteration[],
): void {
  const made = new Set(present);
  for (const change of changes) {
    if (change.kind === 'add') made.add(change.column.name);
    const missing = columnsIn(change).find((name) => !made.has(name));
    if (missing !== undefined)
      throw new InternalError(
        present.size === 0
          ? `there is no table ${table}`
          : `there is no column ${table}.${missing} to change`,
      );
  }
}

const objectOf = (table: string, [first, ...others]: readonly Alteration[]): string =>
  !first || others.length > 0 ? table : `${table}.${columnsIn(first).join(', ')}`;
