import { fileURLToPath } from 'node:url';
import type { App } from './app.ts';
import { type BootOptions, databaseUrl } from './boot.ts';
import { readEnvironment } from './config/environment.ts';
import { createSettings } from './config/settings.ts';
import type { Catalog } from './store/catalog/catalog.ts';
import { LEDGER, PRODUCTION } from './store/migrations/ledger.ts';
import type { RowReader } from './store/transfer/database.ts';
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
export function leftIn(catalog: Catalog, owned: ReadonlySet<string>): readonly string[] {
  const tables = catalog.tables
    .filter((each) => each.kind !== 'table' || !labelOf(each, { catalog, names: owned }))
    .filter(({ name, partitionOf }) => name !== LEDGER && partitionOf === null)
    .map(({ kind, name }) => `${kind} ${name}`);
  const functions = catalog.functions
    .filter(({ extension }) => extension === null)
    .map(({ kind, name }) => `${kind} ${name}`);
  return [...tables, ...functions];
}
