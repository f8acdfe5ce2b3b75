import { buildTables } from '@twofold/schema';
import type { App } from './app.ts';
import { boot, type BootOptions, migrationsOf } from './boot.ts';
import { catalogSource, readCatalog } from './store/catalog/read-catalog.ts';
import { createTables } from './store/tables/create-tables.ts';
import { LEDGER } from './store/migrations/ledger.ts';
import { migrate } from './store/migrations/migrate.ts';
import type { ReadSchemas } from './store/transfer/database.ts';

/** The tables of a server, in any database. */
export interface Owned {
  /** Tables of entities, join tables and the tables of modules; without the
   * ledger and rows that last for minutes. */
  readonly tables: ReadonlySet<string>;
  /** Its other tables: the ledger, and rows that last for minutes. */
  readonly passing: ReadonlySet<string>;
  /** How the names of its functions on PostgreSQL begin. */
  readonly prefixes: readonly string[];
  /** The PostgreSQL schemas that tables name, besides those of the search path. */
  readonly schemas: ReadSchemas;
  /** Names of all migrations, those of the project first. */
  readonly migrations: readonly string[];
}

/** The table in which `generator seed` remembers its rows; it is made by the first run. */
const SEEDS = 'twofold_seeds';

/**
 * Finds the tables of a server by making all of them in a database in memory, so that no list of
 * them has to be kept.
 */
export async function ownedBy(app: App, options: BootOptions): Promise<Owned> {
  const env = { ...(options.env ?? process.env), DATABASE_URL: ':memory:' };
  const { kernel, modules } = await boot(app, { ...options, env });
  const { store, project } = kernel;
  try {
    const all = buildTables(project);
    const placed = all.filter(({ schema }) => schema !== undefined);
    const plain = all.filter((table) => !placed.includes(table));
    await createTables(store, plain, project.ids);
    for (const { migrations = [] } of modules) await migrate(store, migrations);
    const { tables } = await readCatalog(catalogSource(store.db));
    const lists = await migrationsOf(app, modules);
    const passing = new Set([LEDGER, ...modules.flatMap((module) => module.passing ?? [])]);
    const names = tables.map(({ name }) => name).filter((each) => !passing.has(each));
    const others = placed.map(({ schema, name }) => `${schema}.${name}`);
    return {
      tables: new Set([SEEDS, ...names, ...others]),
      passing,
      prefixes: ['twofold_', ...modules.map(({ name }) => `${name}_`)],
      schemas: { besides: [...new Set(placed.map(({ schema }) => schema!))] },
      migrations: lists.flat().map(({ name }) => name),
    };
  } finally {
    await store.close();
  }
}
