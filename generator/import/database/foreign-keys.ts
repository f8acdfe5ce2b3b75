import { last } from '@twofold/schema';
import type { CatalogForeignKey, CatalogTable } from '@twofold/database';
import { keyOf } from './column-type.ts';
import { type Importing, objectOf, refersToKey } from './types.ts';

/** Foreign keys that become a field; of two with the same columns the first. */
export function relationsOf(
  table: CatalogTable,
  importing: Importing,
): readonly CatalogForeignKey[] {
  const seen = new Set<string>();
  return table.foreignKeys.filter((key) => {
    const why = refusal(key, { table, importing, seen });
    if (why === undefined) return seen.add(key.columns.join());
    importing.items.push({ ...foreignKeyItem(table, key), status: 'notExpressible', why });
    return false;
  });
}

interface Refusing {
  readonly table: CatalogTable;
  readonly importing: Importing;
  readonly seen: ReadonlySet<string>;
}

function refusal(key: CatalogForeignKey, { table, importing, seen }: Refusing): string | undefined {
  const target = importing.types.get(keyOf(key.table));
  if (!target) return `${objectOf(key.table)} is not part of the import`;
  if (isCircle(table, key, importing.served)) return 'the key of the table leads back to itself';
  if (seen.has(key.columns.join())) return 'another foreign key has the same columns';
  if (
    key.columns.length > 1 &&
    key.columns.some((name) => [...seen].some((each) => each.split(',').includes(name)))
  )
    return 'another foreign key has one of its columns';
  if (
    key.columns.length > 1 &&
    key.columns.some((name) => table.primaryKey?.columns.includes(name))
  )
    return 'its columns are a part of the key of the table';
  if (!refersToKey(key, importing.served) && key.columns.length > 1)
    return 'it leads to several columns that are not the key';
  return undefined;
}

/** Whether the key of a table, which is a foreign key, leads back to the table. */
function isCircle(
  table: CatalogTable,
  key: CatalogForeignKey,
  served: Importing['served'],
  seen: readonly CatalogTable[] = [table],
): boolean {
  const target = served.get(keyOf(key.table));
  const at = last(seen);
  if (!target || key.columns.join() !== at.primaryKey?.columns.join()) return false;
  if (seen.includes(target)) return target === table;
  return target.foreignKeys.some((next) => isCircle(table, next, served, [...seen, target]));
}

/** The line of the report for a foreign key, without what became of it. */
export const foreignKeyItem = (table: CatalogTable, key: CatalogForeignKey) => ({
  object: `${objectOf(table)}.${key.name ?? key.columns.join('+')}`,
  kind: 'foreign key',
});
