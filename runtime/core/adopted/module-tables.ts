import { ConfigError } from '../errors.ts';
import type { ServerModule } from '../module.ts';
import { catalogSource, readCatalog } from '../store/catalog/read-catalog.ts';
import type { Migration } from '../store/migrations/migration.ts';
import { migrate } from '../store/migrations/migrate.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';

/**
 * Checks that the tables of capabilities (accounts, hosting, jobs) exist. Their migrations make
 * them, but we apply no migrations to a database that another program made.
 *
 * @throws ConfigError naming those that are missing.
 */
export async function assertModuleTables(
  store: Store,
  modules: readonly ServerModule[],
): Promise<void> {
  const present = await tablesOf(store);
  const problems: string[] = [];
  for (const { name, migrations = [] } of modules) {
    const missing = (await tablesMadeBy(migrations)).filter((table) => !present.has(table));
    if (missing.length > 0)
      problems.push(
        `${name} needs tables that are not there: ${missing.join(', ')}. The database is not ours to change: run what "npx generator migrate sql" prints`,
      );
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/**
 * The tables that migrations make. Migrations are functions, so they are run in a database in
 * memory to find out.
 */
async function tablesMadeBy(migrations: readonly Migration[]): Promise<string[]> {
  if (migrations.length === 0) return [];
  const scratch = sqliteStore(':memory:');
  try {
    const before = await tablesOf(scratch);
    await migrate(scratch, migrations);
    return [...(await tablesOf(scratch))].filter((table) => !before.has(table));
  } finally {
    await scratch.close();
  }
}

async function tablesOf({ db }: Store): Promise<ReadonlySet<string>> {
  const { tables } = await readCatalog(catalogSource(db));
  return new Set(tables.map(({ name }) => name));
}
