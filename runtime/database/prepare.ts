import { ConfigError } from '@twofold/runtime/errors';
import {
  type App,
  type Booted,
  guardOfDatabase,
  type Kernel,
  type MigrationReport,
  reportToDev,
  type ServerModule,
} from '@twofold/runtime/kernel';
import { type Migration, readLedger, sqliteStore, type Store } from '@twofold/runtime/store';
import { buildTables } from '@twofold/schema';
import { CatalogMismatch } from './adopted/misfit.ts';
import { catalogSource, readCatalog } from './catalog/read-catalog.ts';
import { createDriftReader } from './migrations/baseline.ts';
import { type MigrationLists, migrationSettings } from './migrations/migrated.ts';
import { assertSound, EMPTY_STATE, type LedgerState } from './migrations/ledger-state.ts';
import { loadMigrations } from './migrations/load-migrations.ts';
import { migrate, type MigrateOptions, migrationStatus } from './migrations/migrate.ts';
import { exploreBefore } from './plan/plan-migrations.ts';
import { createTables } from './tables/create-tables.ts';

/** Applies or refuses what is pending, as `prepareDatabase` says, which calls it. */
export async function prepare(app: App, booted: Booted, migrates: boolean): Promise<void> {
  const { kernel, modules, misfits = [] } = booted;
  const { store, log } = kernel;
  if (misfits.length > 0) throw new CatalogMismatch(misfits, kernel.root);
  if (app.project.unmanaged) return assertModuleTables(store, modules);
  const lists = await migrationsOf(app, modules);
  const follow = migrates ? await followingOf(app, kernel) : undefined;
  const running = migrationSettings(app.project);
  const { applied: before } = await readLedger(store.db);
  if (migrates && before.length > 0) await exploreBefore(store, lists, running);
  for (const [at, migrations] of lists.entries()) {
    if (migrates) {
      const applied = await migrate(store, migrations, {
        settings: running,
        ...(at > 0 ? {} : follow ? { follow } : { guarded: true }),
      });
      if (applied.length === 0) continue;
      log.info(`migrated: ${applied.join(', ')}`);
      reportToDev({ event: 'migrated', migrations: applied });
    } else await refusePending(store, migrations);
  }
  if (!app.migrations) await createTables(store, buildTables(app.project), app.project.ids);
}

/**
 * The function with which an unguarded database follows the migrations of the present git branch;
 * undefined for a guarded database, whose migrations are never undone without a command.
 */
async function followingOf(
  app: App,
  { store, settings, root, log }: Kernel,
): Promise<MigrateOptions['follow']> {
  if (!app.migrations) return undefined;
  const guard = await guardOfDatabase({ store, settings, root });
  if (guard.reason !== null) return undefined;
  return {
    root,
    gone: true,
    newest: process.env['TWOFOLD_DEV'] !== undefined,
    note: (done, name) =>
      done === 'undone'
        ? log.info(`undone: ${name}, which has no such file in migrations/ any more`)
        : log.info(`rescued: values that were dropped are in ${name}`),
  };
}

async function refusePending(store: Store, migrations: readonly Migration[]): Promise<void> {
  const { pending } = assertSound(await migrationStatus(store, migrations));
  if (pending.length === 0) return;
  throw new ConfigError([
    `${pending.length} migrations are not applied (${pending.join(', ')}): run "npm run migrate", or set MIGRATE=on`,
  ]);
}

/**
 * The project's migrations and those of each module. The project's come first, because a module's
 * tables may refer to the project's.
 */
export async function migrationsOf(
  app: App,
  modules: readonly ServerModule[],
  options: Parameters<typeof loadMigrations>[1] = {},
): Promise<MigrationLists> {
  const own = app.migrations ? await loadMigrations(app.migrations, options) : [];
  const lists = modules.map((module) => module.migrations ?? []);
  return [own, ...lists.filter((list) => list.length > 0)];
}

/** What a server says of its migrations. The files are read anew each time: one may be added meanwhile. */
export function migrationReport(
  app: App,
  store: Store,
  modules: readonly ServerModule[],
): MigrationReport {
  const driftOf = createDriftReader(store);
  const read = () => migrationsOf(app, modules, { unreadable: 'listed' });
  return {
    status: async () => statusOf(store, await read()),
    drift: async () => driftOf(await read()),
  };
}

/** Names of migrations by their state, those of the project first. */
export async function statusOf(store: Store, lists: MigrationLists): Promise<LedgerState> {
  const parts: LedgerState[] = [];
  for (const list of lists) parts.push(await migrationStatus(store, list));
  const kinds = Object.keys(EMPTY_STATE) as (keyof LedgerState)[];
  return Object.fromEntries(
    kinds.map((kind) => [kind, parts.flatMap((part) => part[kind])]),
  ) as Record<keyof LedgerState, string[]>;
}

/**
 * Checks that the tables of capabilities (accounts, hosting, jobs) exist. Their migrations make
 * them, but we apply no migrations to a database that another program made.
 *
 * @throws ConfigError naming those that are missing.
 */
async function assertModuleTables(store: Store, modules: readonly ServerModule[]): Promise<void> {
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
