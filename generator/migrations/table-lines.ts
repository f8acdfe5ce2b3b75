import type { Table, TableColumn, TableForeignKey } from '@twofold/schema';

/** The meaning of one line of `export const leaves` in a migration. */
export type TableLine =
  | {
      readonly kind: 'table';
      readonly table: string;
      readonly primaryKey: readonly string[];
      readonly foreignKeys: readonly TableForeignKey[];
    }
  | { readonly kind: 'whole'; readonly table: Table }
  | { readonly kind: 'column'; readonly table: string; readonly column: TableColumn }
  | { readonly kind: 'gone'; readonly table: string; readonly column?: string };

/**
 * One line for each table and column, as `leaves` takes them.
 *
 * @example 'column posts.title {"type":"text","required":true,"unique":false}'
 */
export function printTables(tables: readonly Table[]): string[] {
  return tables.flatMap(({ name, columns, primaryKey, foreignKeys }) => [
    `table ${name} ${JSON.stringify({ primaryKey, foreignKeys })}`,
    ...columns.map((column) => printColumn(name, column)),
  ]);
}

export function printColumn(
  table: string,
  { name, renamedFrom: _from, ...column }: TableColumn,
): string {
  return `column ${table}.${name} ${JSON.stringify(column)}`;
}

/**
 * Null for a line that is not valid. A table as JSON is the line of a baseline. `gone posts.title` and `gone posts`: a statement has dropped
 * them.
 */
export function readTableLine(line: string): TableLine | null {
  const [, kind, subject = '', json = ''] =
    /^(table|column|gone) (\S+)(?: (.*))?$/.exec(line) ?? [];
  const [table = '', name] = subject.split('.');
  try {
    if (line.startsWith('{')) return { kind: 'whole', table: JSON.parse(line) as Table };
    if (kind === 'gone') return { kind, table, ...(name !== undefined && { column: name }) };
    if (kind === 'table') {
      const { primaryKey, foreignKeys = [] } = JSON.parse(json) as Table;
      return { kind, table, primaryKey, foreignKeys };
    }
    if (kind !== 'column' || name === undefined) return null;
    return { kind, table, column: { name, ...(JSON.parse(json) as Omit<TableColumn, 'name'>) } };
  } catch {
    return null;
  }
}
