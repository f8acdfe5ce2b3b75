import { fileURLToPath } from 'node:url';
import type { App } from './app.ts';
import { type BootOptions, databaseUrl } from './boot.ts';
import { readEnvironment } from './config/environment.ts';
import { createSettings } from './config/settings.ts';
import type { Catalog } from './store/catalog/catalog.ts';
import { LEDGER, PRODUCTION } from './store/migrations/ledger.ts';
import type { Owned } from './owned-tables.ts';
import type { RowReader } from './store/transfer/database.ts';
import { isOfSearch } from './store/search/search-index.ts';
import { labelOf, movedTables } from './store/transfer/open-rows.ts';

/** The project's folder. */
export const rootOf = ({ root }: App): string => (root ? fileURLToPath(root) : process.cwd());

/** The path or URL of the project's database, from its settings. */
export function databaseOf(app: App, { env = process.env }: BootOptions): string {
  return databaseUrl(createSettings(readEnvironment(rootOf(app), env)));
}

/** Names of the applied migrations, in their order; none where there is no ledger. */
export async function appliedIn(reader: RowReader): Promise<readonly string[]> {
  const [ledger] = movedTables(reader, new Set([LEDGER]));
  if (!ledger) return [];
  const names: string[] = [];
  const columns = ledger.columns.filter(({ name }) => name === 'name');
  for await (const batch of reader.read({ ...ledger, columns }))
    names.push(...batch.map(([name]) => String(name)));
  return names.filter((name) => name !== PRODUCTION).sort();
}

/**
 * Views, functions and tables that the project does not own. They are only named, and not copied.
 */
export function leftIn(
  catalog: Catalog,
  { tables: names, passing, prefixes }: Owned,
): readonly string[] {
  const tables = catalog.tables
    .filter((each) => each.kind !== 'table' || !labelOf(each, { catalog, names }))
    .filter(
      ({ name, partitionOf }) => !passing.has(name) && !isOfSearch(name) && partitionOf === null,
    )
    .map(({ kind, name }) => `${kind} ${name}`);
  const functions = catalog.functions
    .filter(
      ({ extension, name }) =>
        extension === null && !prefixes.some((each) => name.startsWith(each)),
    )
    .map(({ kind, name }) => `${kind} ${name}`);
  return [...tables, ...functions];
}
