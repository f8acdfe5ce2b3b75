import { buildTables } from '@twofold/schema';
import type { App } from './app.ts';
import { type Booted, type BootOptions, reachingDatabase, withBooted } from './boot.ts';
import { loadDatabase } from './database-package.ts';
import type { Kernel } from './module.ts';
import { assertSame, examineDatabase } from './store/at-start.ts';
import { databaseSettings, databaseUrl, migratesAtStart } from './store/database-settings.ts';
import { type Guard, guardOf } from './store/migrations/guard.ts';
import { noteProduction, readLedger } from './store/migrations/ledger.ts';
import { isApplied, migrationFiles } from './store/migrations/migration-files.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';
import { assertTables } from './store/tables/missing-columns.ts';
import { assertRights } from './store/tables/rights.ts';

/**
 * Brings the database to the state of the model: by the migrations of the project and of the
 * modules or, for a server that was given only a schema, by making the tables. In production,
 * pending migrations are refused unless `MIGRATE=on`.
 */
export async function prepareDatabase(app: App, booted: Booted): Promise<void> {
  const { project, migrations } = app;
  const { settings, store } = booted.kernel;
  const changes = !project.unmanaged && migratesAtStart(settings);
  if (!(await isUpToDate(app, booted))) await (await loadDatabase()).prepare(app, booted, changes);
  if (migrations && !project.unmanaged) await assertTables(store, buildTables(project));
}

/**
 * Prepares the database past the pooler and the time limits of requests, and checks that the server
 * may do its work there.
 */
export async function prepareDirectly(app: App, booted: Booted): Promise<void> {
  const prepare = () =>
    withDirect(booted.kernel, (store) =>
      prepareDatabase(app, { ...booted, kernel: { ...booted.kernel, store } }),
    );
  const check = () => assertUsable(app, booted.kernel);
  await prepare().catch((error: unknown) => check().then(() => Promise.reject(error)));
  await check();
}

const assertUsable = async ({ project }: App, { store }: Kernel) =>
  project.unmanaged ? undefined : assertRights(store, buildTables(project));

/** @throws AppError `DATABASE_URL_MISMATCH` */
async function withDirect<T>(
  { settings, root, log, store: pooled }: Kernel,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (pooled.dialect === 'sqlite') return work(pooled);
  const { direct, pooler } = databaseSettings(settings);
  const store = openStore(direct ?? databaseUrl(settings), root, {
    pooler: direct ? 'off' : pooler,
    log,
    connections: 2,
    unlimited: true,
    makesSchema: migratesAtStart(settings),
  });
  try {
    if (direct) await assertSame(pooled, store);
    return await work(store);
  } finally {
    await store.close();
  }
}

/** What a start would find, and the pending migrations. @throws as a start does */
export const databaseReport = (app: App, options: BootOptions = {}) =>
  withBooted(app, { ...options, serves: true }, async ({ kernel }) =>
    reachingDatabase(kernel, async () => {
      await withDirect(kernel, async () => {});
      await assertUsable(app, kernel);
      const report = await examineDatabase(kernel.store, kernel.settings);
      return { ...report, ...(await (await kernel.migrations?.())?.status()) };
    }),
  );

/** Whether every migration of the project and of its modules is applied. */
async function isUpToDate({ migrations, project }: App, { kernel, modules }: Booted) {
  if (!migrations || project.unmanaged) return false;
  const ledger = await readLedger(kernel.store.db);
  return (
    isApplied(ledger, migrationFiles(migrations)) &&
    modules.every((each) => !each.migrations?.length || isApplied(ledger, each.migrations))
  );
}

/** Whether the database of these settings is guarded. */
export async function guardOfDatabase({
  store,
  settings,
  root,
}: Pick<Kernel, 'store' | 'settings' | 'root'>): Promise<Guard> {
  const ledger = await readLedger(store.db);
  return guardOf({ url: databaseUrl(settings), root, production: settings.production, ledger });
}

/**
 * Records that a server in production mode serves the database: it is guarded from then on, by
 * every address that leads to it. A role that may only read cannot record it, and may not lose
 * rows either.
 */
export async function rememberProduction(
  app: App,
  { store, settings, log }: Kernel,
): Promise<void> {
  if (!app.migrations || !settings.production || app.project.unmanaged) return;
  await noteProduction(store.db).catch((error: unknown) =>
    log.warn(`the ledger does not say that this database is one of production: ${String(error)}`),
  );
}
