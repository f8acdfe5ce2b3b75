import {
  type App,
  type BootOptions,
  commandUrl,
  rootOf,
  settingsIn,
  withBooted,
  withDatabase,
} from '@twofold/runtime/kernel';
import { isOfSearch, LEDGER, PASSING, type Migration, PRODUCTION } from '@twofold/runtime/store';
import { buildTables } from '@twofold/schema';
import type { Catalog } from '../catalog/catalog.ts';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { migrationsOf } from '../prepare.ts';
import { SEEDS } from '../seed/ledger.ts';
import { createTables } from '../tables/create-tables.ts';
import type { ReadSchemas, RowReader } from './database.ts';
import { labelOf, movedTables } from './open-rows.ts';

/** The tables of a server, in any database. */
export interface Owned {
  /** Those of entities, of joins and of modules; without the ledger and rows that last for minutes. */
  readonly tables: ReadonlySet<string>;
  /** Its other tables: the ledger, and rows that last for minutes. */
  readonly passing: ReadonlySet<string>;
  /** How the names of its functions on PostgreSQL begin. */
  readonly prefixes: readonly string[];
  /** The PostgreSQL schemas that tables name, besides those of the search path. */
  readonly schemas: ReadSchemas;
  /** All migrations, those of the project first. */
  readonly migrations: readonly Migration[];
}

/**
 * Finds the tables of a server by making all of them in a database in memory, so that no list of
 * them has to be kept.
 */
export async function ownedBy(app: App, options: BootOptions): Promise<Owned> {
  const env = withDatabase(options.env ?? process.env, ':memory:');
  return withBooted(app, { ...options, env }, async ({ kernel: { store, project }, modules }) => {
    const all = buildTables(project);
    const placed = all.filter(({ schema }) => schema !== undefined);
    const plain = all.filter((table) => !placed.includes(table));
    await createTables(store, plain, project.ids);
    const lists = await migrationsOf(app, modules);
    for (const migration of lists.slice(1).flat()) await migration.up(store.db, store);
    const { tables } = await readCatalog(catalogSource(store.db));
    const passing = new Set([...PASSING, ...modules.flatMap((module) => module.passing ?? [])]);
    const names = tables.map(({ name }) => name).filter((each) => !passing.has(each));
    const others = placed.map(({ schema, name }) => `${schema}.${name}`);
    return {
      tables: new Set([SEEDS, ...names, ...others]),
      passing,
      prefixes: ['twofold_', ...modules.map(({ name }) => `${name}_`)],
      schemas: { besides: [...new Set(placed.map(({ schema }) => schema!))] },
      migrations: lists.flat(),
    };
  });
}

/** The path or URL of the project's database, from its settings. */
export const databaseOf = (app: App, { env }: BootOptions): string =>
  commandUrl(settingsIn(rootOf(app), env));

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
