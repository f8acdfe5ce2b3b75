import { type Kysely, type RawBuilder, sql } from 'kysely';
import { namedType, type StoredType } from '@twofold/runtime/store';
import type { Catalog, CatalogTable } from '../catalog/catalog.ts';
import { isReadyName } from '../online/ready.ts';
import type { ForeignKey } from '../tables/alteration.ts';
import type { RowSource } from '../tables/row-checks.ts';

/**
 * The tables as they would be after some steps. Their values are SQL over the present tables, so
 * the rows that a later step would meet can be counted before the first step is made.
 */
export type PlannedTables = Map<string, PlannedTable>;

export interface PlannedTable {
  readonly name: string;
  /** Its present name in the database; null for a table that a step makes. */
  readonly real: string | null;
  /** Its name before the migration of this step; null for a table that this migration makes. */
  readonly origin: string | null;
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
  readonly columns: ReadonlyMap<string, PlannedColumn>;
  /** Whether any value differs from the column with the same name. */
  readonly changed: boolean;
  /** Whether an unreadable statement may have changed its rows. */
  readonly unread: boolean;
}

export interface PlannedColumn {
  /** The SQL of its value over the columns of the present table. */
  readonly value: RawBuilder<unknown>;
  /**
   * Its name before the migration of this step, or that of a column that this migration adds; null
   * when this migration changes its values.
   */
  readonly origin: string | null;
  readonly type: StoredType | undefined;
  /** The type as the database writes it: `numeric(10,2)`. */
  readonly declared: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly hasDefault: boolean;
  /** The conditions of its check constraints, as the database writes them. */
  readonly checks: readonly string[];
  readonly references: ForeignKey | null;
}

/** The tables as they are before any step. */
export function plannedTables({ tables }: Catalog): PlannedTables {
  return new Map(
    tables.filter(({ kind }) => kind === 'table').map((table) => [table.name, tableOf(table)]),
  );
}

function tableOf(table: CatalogTable): PlannedTable {
  const own = (name: string) => table.columns.find((each) => each.name === name)!;
  return {
    name: table.name,
    real: table.name,
    origin: table.name,
    key: table.primaryKey?.columns ?? [],
    columns: new Map(table.columns.map(({ name }) => [name, columnOf(table, own(name))])),
    changed: false,
    unread: false,
  };
}

function columnOf(
  { uniques, checks, foreignKeys }: CatalogTable,
  { name, type, nullable, default: value }: CatalogTable['columns'][number],
): PlannedColumn {
  // A constraint that an interrupted run has prepared belongs to a migration that is not applied
  // yet.
  const isThis = (each: { readonly name: string | null; readonly columns: readonly string[] }) =>
    each.columns.length === 1 && each.columns[0] === name && !isReadyName(each.name);
  const leads = foreignKeys.find(isThis);
  return {
    value: sql`${sql.ref(name)}`,
    origin: name,
    type: namedType(type),
    declared: type,
    required: !nullable,
    unique: uniques.some(isThis),
    hasDefault: value !== null,
    checks: checks.filter(isThis).map(({ expression }) => expression),
    references: leads ? { ...leads, table: leads.table.name } : null,
  };
}

/** Marks the present state as the one that the next migration finds. */
export function beginMigration(tables: PlannedTables): void {
  for (const [name, table] of tables) {
    const columns = [...table.columns].map(
      ([column, each]) => [column, { ...each, origin: column }] as const,
    );
    tables.set(name, { ...table, origin: name, columns: new Map(columns) });
  }
}

/** The rows of a table as a step would find them; null when it has none yet. */
function rowsOf(tables: PlannedTables, name: string): RawBuilder<unknown> | null {
  const table = tables.get(name);
  if (!table || table.real === null) return null;
  if (!table.changed) return sql`${sql.table(table.real)}`;
  const values = [...table.columns].map(
    ([column, { value }]) => sql`${value} as ${sql.ref(column)}`,
  );
  return sql`(select ${sql.join(values)} from ${sql.table(table.real)}) as ${sql.table(table.name)}`;
}

/** The rows in the form that the checks take; null when there are none to check. */
export function sourceOf(
  db: Kysely<any>,
  tables: PlannedTables,
  { name, key, columns }: PlannedTable,
): RowSource | null {
  const rows = rowsOf(tables, name);
  if (rows === null) return null;
  return {
    db,
    table: name,
    key,
    rows,
    rowsOf: (other) => rowsOf(tables, other),
    typeOf: async (column) => columns.get(column)?.type,
  };
}

/** Sets or removes the definition of a column. */
export function withColumn(
  table: PlannedTable,
  name: string,
  column: PlannedColumn | null,
): PlannedTable {
  const columns = new Map(table.columns);
  if (column) columns.set(name, column);
  else columns.delete(name);
  return { ...table, columns, changed: true };
}

/** Renames a table, also in foreign keys that refer to it. */
export function withTableRenamed(tables: PlannedTables, from: string, to: string): void {
  const renamed = tables.get(from);
  if (!renamed) return;
  tables.delete(from);
  tables.set(to, { ...renamed, name: to, changed: true });
  for (const [name, table] of tables) {
    const columns = new Map(
      [...table.columns].map(([column, each]) => [
        column,
        each.references?.table === from
          ? { ...each, references: { ...each.references, table: to } }
          : each,
      ]),
    );
    tables.set(name, { ...table, columns });
  }
}

export function withColumnRenamed(table: PlannedTable, from: string, to: string): PlannedTable {
  const named = (name: string) => (name === from ? to : name);
  return {
    ...table,
    key: table.key.map(named),
    columns: new Map([...table.columns].map(([name, column]) => [named(name), column])),
    changed: true,
  };
}
