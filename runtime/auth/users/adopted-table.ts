import type { Dialect } from '@twofold/runtime/kernel';

/**
 * A table that may be in another schema of PostgreSQL than those of the connection, and whose
 * columns may have other names than in the model.
 */
interface PlacedTable {
  readonly table: string;
  readonly schema?: string | undefined;
  /** The names of columns in the database that differ, by their names in the model. */
  readonly stored?: Readonly<Record<string, string>> | undefined;
}

/**
 * The table as Kysely takes it. SQLite has no schemas.
 *
 * @example tableIn('postgres', { table: 'members', schema: 'people' }) // 'people.members'
 */
export const tableIn = (dialect: Dialect, { table, schema }: PlacedTable): string =>
  dialect === 'postgres' && schema !== undefined ? `${schema}.${table}` : table;

/** The table's name in SQL. */
export const quotedIn = (dialect: Dialect, { table, schema }: PlacedTable): string =>
  dialect === 'postgres' && schema !== undefined
    ? `${quoted(schema)}.${quoted(table)}`
    : quoted(table);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The name of a column in the database. */
export const storedIn = ({ stored }: Pick<PlacedTable, 'stored'>, column: string): string =>
  stored?.[column] ?? column;

/** A new row, or the changes of one, with the names of columns in the database. */
export const storedRow = (
  table: Pick<PlacedTable, 'stored'>,
  row: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [storedIn(table, column), value]),
  );

/**
 * SQL for the rows of a table with the names of the model: the table itself, or a query of it,
 * through which both databases see its indexes.
 *
 * @example rowsIn('sqlite', { table: 'Users', stored: { id: 'UserId' } }, ['id', 'email']) // (select "UserId" as "id", "email" as "email" from "Users")
 */
export function rowsIn(dialect: Dialect, place: PlacedTable, columns: readonly string[]): string {
  const table = quotedIn(dialect, place);
  if (!place.stored) return table;
  const shown = [...new Set(columns)].map(
    (column) => `${quoted(storedIn(place, column))} as ${quoted(column)}`,
  );
  return `(select ${shown.join(', ')} from ${table})`;
}
