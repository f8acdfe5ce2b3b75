import type { Catalog, CatalogName } from '../catalog/catalog.ts';

const keyOf = ({ schema, name }: CatalogName) => JSON.stringify([schema, name]);

/**
 * The tables, each after those that its foreign keys refer to. In a circle the order is that of the
 * list.
 */
export function foreignKeysFirst<T extends CatalogName>(
  tables: readonly T[],
  catalog: Catalog,
): readonly T[] {
  const given = new Map(tables.map((table) => [keyOf(table), table]));
  const facts = new Map(catalog.tables.map((table) => [keyOf(table), table]));
  const placed = new Set<T>();
  const place = (table: T, above: ReadonlySet<T>): void => {
    if (placed.has(table) || above.has(table)) return;
    for (const { table: other } of facts.get(keyOf(table))?.foreignKeys ?? []) {
      const referred = given.get(keyOf(other));
      if (referred) place(referred, new Set([...above, table]));
    }
    placed.add(table);
  };
  for (const table of tables) place(table, new Set());
  return [...placed];
}
