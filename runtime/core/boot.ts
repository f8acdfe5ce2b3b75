import { hooksOf, traceResolvers } from './graphql/traces.ts';
import { fileURLToPath } from 'node:url';
import { adminDataOf, opens } from '@twofold/schema';
import type { App } from './app.ts';
import { createAuditLog } from './audit/audit-log.ts';
import { createAudit } from './audit/index.ts';
import { createCapabilities } from './capability.ts';
import { readEnvironment } from './config/environment.ts';
import { createLogger } from './config/logger.ts';
import { statementNote } from './config/statement-note.ts';
import { createSettings, type Environment, type Settings } from './config/settings.ts';
import { ConfigError } from './errors.ts';
import { loadDatabase } from './database-package.ts';
import { createGraphql } from './graphql/index.ts';
import { jobsMode, type JobsMode } from './jobs/settings.ts';
import { createMetricsModule } from './metrics/index.ts';
import { createMetrics, type Metrics } from './metrics/registry.ts';
import { statementMetrics } from './metrics/statement-metrics.ts';
import type { Guard as RouteGuard } from './http/route.ts';
import type { Kernel, MigrationReport, ServerModule } from './module.ts';
import type { Resolvers } from './plugin.ts';
import type { Recorder } from './recorder/recorder.ts';
import { createOwnRoutes, type DeclareRoutes, type OwnRoutes } from './routes/index.ts';
import { awaitDatabase } from './store/at-start.ts';
import {
  commandUrl,
  databaseSettings,
  databaseUrl,
  migratesAtStart,
} from './store/database-settings.ts';
import { openStore } from './store/open-store.ts';
import { noteAll } from './store/statement-log.ts';
import type { PostgresOptions as StoreOptions } from './store/postgres/postgres-store.ts';
import type { Store } from './store/store.ts';
import { unreachable } from './store/unreachable.ts';
import { workerCount } from './workers.ts';
import { openTracing } from './traces/open-tracing.ts';

/** Replacements for the process's own environment, clock and output. */
export interface BootOptions {
  readonly env?: Environment;
  readonly now?: () => number;
  /** Where log lines go; standard output when absent. */
  readonly logTo?: { write(line: string): void };
  /** Whether the database refuses every statement that writes. */
  readonly readOnly?: boolean;
  /** Whether a server is started: commands go past a pooler. */
  readonly serves?: boolean;
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

/** A difference between the schema and the tables of a database that another program made. */
export interface Misfit {
  /** The coordinate in the schema: `Track`, `Track.name`. */
  readonly coordinate: string;
  /** `music.Track`, `music.Track.Name` */
  readonly object: string;
  readonly expected: string;
  readonly found: string;
}

/** The project's folder. */
export const rootOf = ({ root }: App): string => (root ? fileURLToPath(root) : process.cwd());

/** The settings of the project in a folder. */
export const settingsIn = (root: string, env: Environment = process.env): Settings =>
  createSettings(readEnvironment(root, env));

/** Boots for one piece of work, and closes the database after it. */
export async function withBooted<T>(
  app: App,
  options: BootOptions | undefined,
  work: (booted: Booted) => Promise<T>,
): Promise<T> {
  const booted = await boot(app, options);
  try {
    return await work(booted);
  } finally {
    await booted.kernel.store.close();
  }
}

/**
 * Reads the settings, opens the database and makes the modules.
 *
 * @throws ConfigError with every missing or wrong setting at once.
 */
export async function boot(app: App, options: BootOptions = {}): Promise<Booted> {
  const root = rootOf(app);
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
  const workers = options.serves ? workerCount(settings.text('WORKERS')) : 1;
  const { direct, pooler, connections, replicas } = databaseSettings(settings, workers);
  const url = options.serves ? databaseUrl(settings) : commandUrl(settings);
  const store = open(settings, root, url, {
    direct: options.serves ? direct : undefined,
    pooler: options.serves || !direct ? pooler : 'off',
    connections,
    ...(options.serves && { replicas, maxLag: app.project.maxLag }),
    application: `twofold:${app.project.name}`,
    log,
    own: {
      timeout: app.project.transactionTimeout,
      isolation: app.project.isolation,
      warns: !settings.production,
    },
    note: noteAll([
      statementNote(settings, log),
      metrics && statementMetrics(metrics),
      tracing?.statements(systemOf(settings)),
    ]),
    foreign: app.project.unmanaged,
    readOnly: options.readOnly,
    unlimited: !options.serves,
    makesSchema: !options.readOnly && (!options.serves || migratesAtStart(settings)),
  });
  const now = options.now ?? Date.now;
  const made: ServerModule[] = [];
  let report: Promise<MigrationReport> | undefined;
  const kernel: Kernel = {
    project: app.project,
    settings,
    store,
    log,
    now,
    root,
    credentials: credentialsOf(app, settings),
    ...(opens(app.project, 'audit') && { audit: createAuditLog({ store, now }) }),
    migrations: () =>
      (report ??= loadDatabase().then(({ migrationReport }) => migrationReport(app, store, made))),
    jobs: hasJobs(app),
    dumpDatabase: async (channel) =>
      (await loadDatabase()).openDatabase(app, options).backup({}, { channel }),
    ...(metrics && { metrics }),
    ...(recorder && { recorder }),
    ...(tracing && { tracing }),
  };
  try {
    if (settings.production && store.describe)
      await reachingDatabase(kernel, () => awaitDatabase(store, url, log));
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

/** The catalog of a database that another program made; undefined when its tables are ours. */
const adoptedBy = async ({ project, store }: Kernel) =>
  project.unmanaged ? (await loadDatabase()).adoptDatabase(project, store) : undefined;

/**
 * An invalid address is reported with the other problems. To find those, the modules are made over
 * a database in memory.
 */
function open(settings: Settings, root: string, url: string, options: StoreOptions): Store {
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
    const described = () => ({ routes, flows: flowsOf(app), jobs: hasJobs(app) });
    const { engine } = graphql.service;
    modules.push(createRest({ kernel, engine, described, ...(adminData && { adminData }) }));
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

/** What the capabilities of the project say of their routes. */
export const flowsOf = ({ capabilities = [] }: App) =>
  capabilities.flatMap(({ flows = [] }) => flows);

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
