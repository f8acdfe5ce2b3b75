import { hooksOf } from './graphql/traced-hooks.ts';
import { fileURLToPath } from 'node:url';
import { adminDataOf, buildTables, opens } from '@twofold/schema';
import type { App } from './app.ts';
import { createAuditLog } from './audit/audit-log.ts';
import { createAudit } from './audit/index.ts';
import { createCapabilities } from './capability.ts';
import { readEnvironment } from './config/environment.ts';
import { createLogger } from './config/logger.ts';
import { statementNote } from './config/statement-note.ts';
import { createSettings, type Environment, type Settings } from './config/settings.ts';
import { ConfigError } from './errors.ts';
import { reportToDev } from './dev-report.ts';
import { createGraphql } from './graphql/index.ts';
import { traceResolvers } from './graphql/traced-resolvers.ts';
import { jobsMode, type JobsMode } from './jobs/settings.ts';
import { createMetricsModule } from './metrics/index.ts';
import { createMetrics, type Metrics } from './metrics/registry.ts';
import { statementMetrics } from './metrics/statement-metrics.ts';
import type { Guard as RouteGuard } from './http/route.ts';
import { createMigrationReport } from './migration-report.ts';
import type { Kernel, ServerModule } from './module.ts';
import type { Resolvers } from './plugin.ts';
import type { Recorder } from './recorder/recorder.ts';
import { createOwnRoutes, type DeclareRoutes, type OwnRoutes } from './routes/index.ts';
import type { Adopted } from './adopted/adopt.ts';
import type { Misfit } from './adopted/misfit.ts';
import { createTables } from './store/tables/create-tables.ts';
import { type Guard, guardOf } from './store/migrations/guard.ts';
import { noteProduction, readLedger } from './store/migrations/ledger.ts';
import { assertSound } from './store/migrations/ledger-state.ts';
import { loadMigrations } from './store/migrations/load-migrations.ts';
import { migrate, type MigrateOptions, migrationStatus } from './store/migrations/migrate.ts';
import { migrationSettings } from './store/migrations/migration-settings.ts';
import { assertTables } from './store/tables/missing-columns.ts';
import type { Migration } from './store/migrations/migration.ts';
import { exploreBefore } from './store/plan/plan-migrations.ts';
import { openStore } from './store/open-store.ts';
import { noteAll } from './store/statement-log.ts';
import type { PostgresOptions as StoreOptions } from './store/postgres/postgres-store.ts';
import type { Store } from './store/store.ts';
import { unreachable } from './store/unreachable.ts';
import { openTracing } from './traces/open-tracing.ts';

/** Replacements for the process's own environment, clock and output. */
export interface BootOptions extends Pick<Kernel, 'dumpDatabase'> {
  readonly env?: Environment;
  readonly now?: () => number;
  /** Where log lines go; standard output when absent. */
  readonly logTo?: { write(line: string): void };
  /** Whether the database refuses every statement that writes. */
  readonly readOnly?: boolean;
}

/** The kernel and the modules of the model, before anything is started. */
export interface Booted {
  readonly kernel: Kernel;
  readonly modules: readonly ServerModule[];
  /** The routes of the user and of plugins. */
  readonly routes?: OwnRoutes;
  /** Whether the process only runs jobs, and serves nothing but its health. */
  readonly jobsOnly?: boolean;
  /** The misfits of a database that another program made. */
  readonly misfits?: readonly Misfit[];
}

const DATABASE = 'file:data/app.db';

/**
 * Reads the settings, opens the database and makes the modules.
 *
 * @throws ConfigError with every missing or wrong setting at once.
 */
export async function boot(app: App, options: BootOptions = {}): Promise<Booted> {
  const root = app.root ? fileURLToPath(app.root) : process.cwd();
  const given = options.env ?? process.env;
  const settings = createSettings(readEnvironment(root, given), new Set(Object.keys(given)));
  const tracing = await openTracing(app.project.observability?.traces === true);
  const metrics = app.project.observability?.metrics ? createMetrics() : undefined;
  const recorder = await recorderOf(app, metrics);
  const log = createLogger(settings, {
    destination: options.logTo,
    around: tracing?.logFields,
    note: recorder?.note,
  });
  const store = open(settings, root, {
    timeout: app.project.transactionTimeout,
    note: noteAll([
      statementNote(settings, log),
      metrics && statementMetrics(metrics),
      tracing?.statements(systemOf(settings)),
    ]),
    foreign: app.project.unmanaged,
    readOnly: options.readOnly,
  });
  const now = options.now ?? Date.now;
  const made: ServerModule[] = [];
  const kernel: Kernel = {
    project: app.project,
    settings,
    store,
    log,
    now,
    root,
    credentials: credentialsOf(app, settings),
    ...(opens(app.project, 'audit') && { audit: createAuditLog({ store, now }) }),
    migrations: createMigrationReport(store, () =>
      migrationsOf(app, made, { unreadable: 'listed' }),
    ),
    jobs: hasJobs(app),
    ...(options.dumpDatabase && { dumpDatabase: options.dumpDatabase }),
    ...(metrics && { metrics }),
    ...(recorder && { recorder }),
    ...(tracing && { tracing }),
  };
  try {
    const adopted = await reachingDatabase(kernel, () => adoptedBy(kernel));
    const known = adopted ? { ...kernel, project: adopted.project } : kernel;
    const parts = await reachingDatabase(known, () => createModules(app, known));
    made.push(...parts.modules);
    settings.assert();
    return { kernel: known, ...parts, ...(adopted && { misfits: adopted.misfits }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The recorder. It is loaded only when a capability of the project reads it. */
async function recorderOf(
  { project, capabilities = [] }: App,
  metrics: Metrics | undefined,
): Promise<Recorder | undefined> {
  if (!capabilities.some((capability) => capability.recorder?.(project))) return undefined;
  const { openRecorder } = await import('./recorder/open-recorder.ts');
  return openRecorder(metrics);
}

/** Opens the database that the settings name. @throws ConfigError for an invalid address */
export function openDatabase(settings: Settings, root: string): Store {
  return openStore(databaseUrl(settings), root);
}

/** The catalog of a database that another program made; undefined when its tables are ours. */
async function adoptedBy({ project, store }: Kernel): Promise<Adopted | undefined> {
  if (!project.unmanaged) return undefined;
  const { adoptDatabase } = await import('./adopted/adopt-database.ts');
  return adoptDatabase(project, store);
}

/**
 * An invalid address is reported with the other problems. To find those, the modules are made over
 * a database in memory.
 */
function open(settings: Settings, root: string, options: StoreOptions): Store {
  const url = databaseUrl(settings);
  try {
    return openStore(url, root, options);
  } catch (error) {
    const problem = error instanceof ConfigError ? error : unreachable(error, url);
    if (!problem) throw error;
    problem.problems.forEach((each) => settings.problem(each));
    return openStore(':memory:', root);
  }
}

/** The name that the semantic conventions give to the database. */
const systemOf = (settings: Settings): string =>
  /^postgres/.test(databaseUrl(settings)) ? 'postgresql' : 'sqlite';

/** The path or URL of the database, from the settings. */
export const databaseUrl = (settings: Settings): string => settings.text('DATABASE_URL', DATABASE);

/**
 * Does the first work that needs the database.
 *
 * @throws ConfigError with the database's address and the reason why it cannot be used.
 */
export async function reachingDatabase<T>(
  { settings }: Kernel,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreachable(error, databaseUrl(settings)) ?? error;
  }
}

/** The capabilities come before GraphQL and REST, because one of them sets the caller. */
async function createModules(
  app: App,
  kernel: Kernel,
): Promise<Required<Pick<Booted, 'modules' | 'routes' | 'jobsOnly'>>> {
  const { audit } = kernel;
  // The log of changes comes first, because capabilities move their earlier logs into its table.
  const modules = [
    ...(audit ? [createAudit(kernel, audit)] : []),
    ...(await createCapabilities(kernel, app.capabilities ?? [])),
  ];
  const revalidate = modules.find((module) => module.revalidate)?.revalidate;
  if (revalidate) for (const module of modules) module.knowCallers?.(revalidate);
  const resolvers = kernel.tracing
    ? traceResolvers(kernel.tracing, resolversOf(app))
    : resolversOf(app);
  const own = { resolvers, ...(app.scalars && { scalars: app.scalars }) };
  const entityHooks = hooksOf([app, ...(app.plugins ?? [])], kernel.tracing);
  const hooks = (app.plugins ?? []).flatMap(({ graphql }) => graphql ?? []);
  const graphql = createGraphql({
    kernel,
    ...own,
    entityHooks,
    hooks,
    ...(revalidate && { revalidate }),
  });
  modules.push(graphql);
  if (kernel.project.api.mcp) {
    const { createMcp } = await import('./mcp/index.ts');
    modules.push(createMcp({ kernel, service: graphql.service, live: app.tools }));
  }
  const mode = jobsMode(kernel, hasJobs(app));
  if (hasJobs(app)) modules.push(await createJobsModule(app, kernel, { modules, mode }));
  const adminData = hasAdminData(kernel) ? guardsOf(modules) : undefined;
  const declared = declaredBy(app);
  if (kernel.project.api.rest || adminData || declared.length > 0) {
    const { createRest } = await import('./rest/index.ts');
    const described = { routes: () => routes, jobs: hasJobs(app) };
    modules.push(createRest({ kernel, ...own, ...described, ...(adminData && { adminData }) }));
  }
  if (kernel.metrics) modules.push(createMetricsModule(kernel, () => modules));
  const routes: OwnRoutes = createOwnRoutes(kernel, modules, declared);
  return { modules, routes, jobsOnly: mode === 'only' };
}

/** Whether the server has `/api/data`, in this environment. */
function hasAdminData({ project, settings }: Kernel): boolean {
  const when = adminDataOf(project);
  return when === 'always' || (when === 'development' && !settings.production);
}

const guardsOf = (modules: readonly ServerModule[]): Readonly<Record<string, RouteGuard>> =>
  Object.assign({}, ...modules.map(({ guards }) => guards ?? {}));

export const hasJobs = ({ jobs = {} }: App) => Object.keys(jobs).length > 0;

/** The module of jobs. Its code is not loaded for a project without jobs. */
async function createJobsModule(
  { jobs = {} }: App,
  kernel: Kernel,
  { modules, mode }: { readonly modules: readonly ServerModule[]; readonly mode: JobsMode },
): Promise<ServerModule> {
  const { createJobs } = await import('./jobs/index.ts');
  return createJobs({
    kernel,
    files: jobs,
    inputs: modules.find((module) => module.inputs)!.inputs!,
    mode,
    guarded: opens(kernel.project, 'jobs'),
  });
}

/** The credentials of the project and of plugins. They name users, so they need some. */
function credentialsOf(
  { project, credentials = [], plugins = [] }: App,
  settings: Settings,
): NonNullable<Kernel['credentials']> {
  const all = [...credentials, ...plugins.flatMap((plugin) => plugin.credentials ?? [])];
  if (all.length > 0 && !project.auth)
    settings.problem('src/credentials.ts names users: add auth: {} to manifest.yaml');
  return all;
}

/** The functions that declare own routes: those of plugins come after the project's. */
export function declaredBy({ routes, plugins = [] }: App): DeclareRoutes[] {
  const given = [routes, ...plugins.map((plugin) => plugin.routes)];
  return given.filter((each) => each !== undefined) as DeclareRoutes[];
}

/** The user's resolvers, including those of plugins. */
export function resolversOf(app: App): Resolvers {
  return [
    app.resolvers ?? {},
    ...(app.plugins ?? []).map((plugin) => plugin.resolvers ?? {}),
  ].reduceRight(mergeResolvers, {});
}

/** Joins resolvers. `above` wins: the project's own resolvers replace those of plugins. */
function mergeResolvers(below: Resolvers, above: Resolvers): Resolvers {
  const types = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...types].map((type) => [type, { ...below[type], ...above[type] }]));
}

/**
 * Brings the database to the state of the model: by the migrations of the project and of the
 * modules or, for a server that was given only a schema, by making the tables. In production,
 * pending migrations are refused unless `MIGRATE=on`.
 */
export async function prepareDatabase(app: App, booted: Booted): Promise<void> {
  const { kernel, modules } = booted;
  const { settings, store, log } = kernel;
  if (app.project.unmanaged) return assertAdopted(booted);
  const lists = await migrationsOf(app, modules);
  const migrates = settings.flag('MIGRATE', !settings.production);
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
  if (app.migrations) await assertTables(store, buildTables(app.project));
  else await createTables(store, buildTables(app.project), app.project.ids);
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

/** Checks a database that another program made, and changes nothing. @throws CatalogMismatch. */
async function assertAdopted({ kernel, modules, misfits = [] }: Booted): Promise<void> {
  const { CatalogMismatch } = await import('./adopted/misfit.ts');
  const { linesOf } = await import('./adopted/schema-lines.ts');
  const { assertModuleTables } = await import('./adopted/module-tables.ts');
  if (misfits.length > 0) throw new CatalogMismatch(misfits, linesOf(kernel.root));
  await assertModuleTables(kernel.store, modules);
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
): Promise<[own: readonly Migration[], ...modules: (readonly Migration[])[]]> {
  const own = app.migrations ? await loadMigrations(app.migrations, options) : [];
  const lists = modules.map((module) => module.migrations ?? []);
  return [own, ...lists.filter((list) => list.length > 0)];
}
