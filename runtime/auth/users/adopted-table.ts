import type { Dialect } from '@twofold/runtime/kernel';

/** A table that may be in another schema of PostgreSQL than those of the connection. */
interface PlacedTable {
  readonly table: string;
  readonly schema?: string | undefined;
}

/**
 * The table as Kysely takes it. SQLite has no schemas.
 *
 * @example tableIn('postgres', { table: 'members', schema: 'people' }) // 'people.members'
 */
export const tableIn = (dialect: Dialect, { table, schema }: PlacedTable): string =>
  dialect === 'postgres' && schema !== undefined ? `${schema}.${table}` : table;

/** The table's name in SQL. A name with a dot contains a schema. */
export const quotedTable = (table: string): string => `"${table.replace('.', '"."')}"`;

export const quotedIn = (dialect: Dialect, table: PlacedTable): string =>
  quotedTable(tableIn(dialect, table));
