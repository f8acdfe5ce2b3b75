import { quotedName, quotedText } from '@twofold/runtime/store';
import type { Catalog, CatalogSource, CatalogTable, StorageClasses } from './catalog.ts';

const CLASSES = ['integer', 'real', 'text', 'blob'] as const;

/** SQLite allows 500 parts of a compound select, and a function has a limited number of arguments. */
const PARTS = 400;
const COLUMNS = 50;

/**
 * The catalog of a SQLite file, with the number of values that each column keeps in each form. It
 * reads all rows. SQLite lets a column hold values of any type, whatever its declared type is.
 *
 * @example (await withStorageClasses(source, catalog)).tables[0]?.columns[0]?.stored // { integer: 5, real: 0, text: 1, blob: 0 }
 */
export async function withStorageClasses(
  { rows }: CatalogSource,
  catalog: Catalog,
): Promise<Catalog> {
  const parts = catalog.tables.filter(({ kind }) => kind === 'table').flatMap(partsOf);
  const counts = new Map<string, number[]>();
  for (let at = 0; at < parts.length; at += PARTS) {
    const found = await rows(parts.slice(at, at + PARTS).join(' union all '), []);
    for (const row of found)
      for (const [column, numbers] of Object.entries(JSON.parse(row['counts'] as string)))
        counts.set(keyOf(row['name'] as string, column), numbers as number[]);
  }
  return { ...catalog, tables: catalog.tables.map((table) => withCounts(table, counts)) };
}

const keyOf = (table: string, column: string) => JSON.stringify([table, column]);

/** Statements for some columns of the table each. */
function partsOf({ name, columns }: CatalogTable): string[] {
  const parts: string[] = [];
  for (let at = 0; at < columns.length; at += COLUMNS) {
    const each = columns.slice(at, at + COLUMNS).map(({ name: column }) => {
      const sums = CLASSES.map(
        (kind) => `coalesce(sum(typeof(${quotedName(column)}) = '${kind}'), 0)`,
      );
      return `${quotedText(column)}, json_array(${sums.join(', ')})`;
    });
    parts.push(
      `select ${quotedText(name)} as name, json_object(${each.join(', ')}) as counts from ${quotedName(name)}`,
    );
  }
  return parts;
}

function withCounts(table: CatalogTable, counts: ReadonlyMap<string, number[]>): CatalogTable {
  const columns = table.columns.map((column) => {
    const found = counts.get(keyOf(table.name, column.name));
    return found === undefined ? column : { ...column, stored: classesOf(found) };
  });
  return { ...table, columns };
}

const classesOf = ([
  integer = 0,
  real = 0,
  text = 0,
  blob = 0,
]: readonly number[]): StorageClasses => ({
  integer,
  real,
  text,
  blob,
});
