import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { otherRelease, type Project } from '@twofold/schema';
import type { Middleware } from 'koa';
import type { App } from './app.ts';
import { createApplication, createMetricsApplication } from './application.ts';
import { boot, type Booted, type BootOptions, reachingDatabase } from './boot.ts';
import { prepareDirectly, rememberProduction } from './database-at-start.ts';
import type { Capability } from './capability.ts';
import type { Logger } from './config/log.ts';
import { reportToDev } from './dev-report.ts';
import { reportDatabase } from './store/at-start.ts';
import type { Dialect } from './store/store.ts';
import { AppError, ConfigError } from './errors.ts';
import { handOver } from './hand-over.ts';
import { drain, listen, onAllAddresses, parseAddress, portOf, urlOf } from './listener.ts';
import type { Plugin } from './plugin.ts';
import { VERSION } from './version.ts';
import { runWorkers } from './workers.ts';
import type { Running } from './running.ts';
import { whenToldToEnd } from './when-told-to-end.ts';

/**
 * A server that is not yet started. A program needs only `schema` and `serve`; an emitted project
 * passes its app instead of a schema.
 *
 * @example
 * await createServer().schema('type User { id: ID! name: String! } type Query { users: [User!]! }').serve(':8080');
 */
export interface Server {
  /**
   * Takes the schema as GraphQL SDL, and settings as the YAML of a manifest.
   *
   * @throws ConfigError with every finding when one of them is wrong.
   */
  schema(sdl: string, manifest?: string): Server;
  /** Adds Koa middleware, after authentication and before GraphQL and the routes. */
  use(middleware: Middleware): Server;
  plugin(plugin: Plugin): Server;
  /**
   * Adds the capability of a section of the manifest: `auth()` of `@twofold/auth`, `hosting()` of
   * `@twofold/hosting` …
   */
  with(...capabilities: readonly Capability[]): Server;
  /**
   * Starts, and resolves when the server listens. `address` is `:8080`, or comes from `PORT` and
   * `HOST`. Throws on invalid settings.
   */
  start(address?: string, options?: BootOptions): Promise<Running>;
  /**
   * Starts as a program: on invalid settings it prints them and exits with 1, on SIGTERM, SIGINT and
   * the end of its `npm start` it drains and exits with 0, and with `WORKERS` it runs that many
   * processes.
   */
  serve(address?: string): Promise<Running>;
  /** Stops what `start` or `serve` started. */
  close(): Promise<void>;
}

/** Makes a server from an app, or one that `schema` gives a schema. */
export function createServer(app?: App): Server {
  let current = app;
  let running: Running | undefined;
  const middleware: Middleware[] = [];
  const plugins: Plugin[] = [];
  const capabilities: Capability[] = [];
  const completeApp = (): App => {
    if (!current) throw new ConfigError(['no schema: call .schema(sdl) before .serve(address)']);
    return {
      ...current,
      plugins: [...(current.plugins ?? []), ...plugins],
      capabilities: [...(current.capabilities ?? []), ...capabilities],
    };
  };
  const server: Server = {
    schema: (sdl, manifest) => (
      (current = { ...current, project: modelOf(sdl, manifest) }),
      server
    ),
    use: (layer) => (middleware.push(layer), server),
    plugin: (plugin) => (plugins.push(plugin), server),
    with: (...given) => (capabilities.push(...given), server),
    start: async (address, options) =>
      (running = await start(completeApp(), middleware, address, options)),
    serve: async (address) =>
      (running = await orExit(() =>
        runWorkers(() => orExit(() => asProgram(start(completeApp(), middleware, address)))),
      )),
    close: async () => running?.close(),
  };
  return server;
}

const load = createRequire(import.meta.url);

/**
 * Loads the parser and the rules only for a server that was given a schema: an emitted project
 * contains its model.
 */
function modelOf(sdl: string, manifest?: string): App['project'] {
  const { formatDiagnostic, readProject } = load(
    '@twofold/schema',
  ) as typeof import('@twofold/schema');
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema', text: sdl }],
    manifest: manifest === undefined ? null : { file: 'manifest', text: manifest },
  });
  if (project) return project;
  throw new ConfigError(
    diagnostics
      .filter(({ severity }) => severity === 'error')
      .map((finding) =>
        formatDiagnostic(finding, finding.at.file === 'schema' ? sdl : (manifest ?? '')),
      ),
  );
}

/** A running server with its log. */
interface Started extends Running {
  readonly log: Logger;
}

async function start(
  app: App,
  middleware: readonly Middleware[],
  address?: string,
  options?: BootOptions,
): Promise<Started> {
  const booted = await boot(app, { ...options, serves: true });
  const { kernel, modules } = booted;
  let http: HttpServer | undefined;
  try {
    kernel.recorder?.start();
    await reachingDatabase(kernel, () => prepareDirectly(app, booted));
    await reportDatabase(kernel);
    await rememberProduction(app, kernel);
    for (const missing of missingLanguages(kernel.project, kernel.store.dialect))
      kernel.log.warn(missing);
    for (const other of otherRelease(app.generatedBy, VERSION)) kernel.log.warn(other);
    // A server that hosts apps listens on further ports, which the previous server must release
    // first.
    if (modules.some(({ listens }) => listens)) await handOver();
    for (const module of modules) if (!(booted.jobsOnly && module.listens)) await module.start?.();
    for (const plugin of app.plugins ?? []) await plugin.hooks?.start?.(kernel);
    await handOver();
    http = await listen(
      createApplication(app, booted, middleware),
      booted.jobsOnly ? [] : modules,
      addressOf(booted, address),
    );
    const served = http;
    for (const module of modules) await module.listen?.(createMetricsApplication(booted));
    if (!booted.jobsOnly) for (const module of modules) await module.serve?.(served);
    for (const module of modules) await module.listening?.(portOf(served));
    kernel.log.info(`listening on ${urlOf(served)}${onAllAddresses(served)}`);
    reportToDev({ event: 'listening', url: urlOf(served) });
    return { url: urlOf(served), close: once(() => stop(app, booted, served)), log: kernel.log };
  } catch (error) {
    await stop(app, booted, http);
    throw error;
  }
}

function addressOf({ kernel }: Booted, address: string | undefined) {
  const { settings, project } = kernel;
  const fallback = {
    host: settings.text('HOST', project.server.host),
    port: settings.number('PORT', { default: project.server.port, min: 0, max: 65_535 }),
  };
  settings.assert();
  return address === undefined ? fallback : parseAddress(address, fallback);
}

async function stop(app: App, { kernel, modules }: Booted, http?: HttpServer): Promise<void> {
  if (http) {
    for (const module of modules) await module.retire?.();
    const drained = drain(http);
    for (const module of modules) module.leave?.();
    await drained;
  }
  for (const plugin of app.plugins ?? []) await plugin.hooks?.stop?.();
  for (const module of modules.toReversed()) await module.stop?.();
  await kernel.store.close();
  kernel.log.flush();
  kernel.recorder?.stop();
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

/** Closes the server when it is told to end, and logs what no code handles. */
async function asProgram(begun: Promise<Started>): Promise<Running> {
  const running = await begun;
  catchUnhandled(running.log, running.close);
  whenToldToEnd(once(() => running.close().finally(() => process.exit(0))));
  return running;
}

/** Milliseconds in which running requests may finish after an exception. */
const TIME_LIMIT = 10_000;

/**
 * Logs every error that no code handles (ASVS 16.5.4), and returns the function that ends it.
 *
 * A rejected promise that nothing awaits belongs to no request: the server goes on. After an
 * uncaught exception no state can be trusted (https://nodejs.org/api/process.html), so the server
 * finishes its running requests and exits with 1; with `WORKERS` another process takes its place.
 */
function catchUnhandled(log: Logger, close: () => Promise<void>): () => void {
  const onRejection = (reason: unknown) =>
    log.error(described(reason), 'a promise was rejected and nothing awaited it');
  const onException = (error: unknown) => {
    log.fatal(described(error), 'an exception was not caught: the server stops');
    setTimeout(() => process.exit(1), TIME_LIMIT).unref();
    void close().finally(() => process.exit(1));
  };
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onException);
  return () => {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

function described(error: unknown): object {
  if (!(error instanceof Error)) return { reason: String(error) };
  return { stack: error.stack, ...(error.cause !== undefined && { cause: String(error.cause) }) };
}

/** Prints one line for each problem of the settings, without a stack trace, and exits. */
async function orExit<T>(begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    const problems = problemsOf(error);
    if (!problems) throw error;
    process.stderr.write(
      `The server cannot start:\n${problems.map((problem) => `  ${problem}\n`).join('')}`,
    );
    process.exit(error instanceof AppError && error.code === 'WAITING_FOR_LOCK' ? TRY_AGAIN : 1);
  }
}

/** The exit code of a program that may succeed later, of sysexits.h. */
const TRY_AGAIN = 75;

/** Problems that the user can solve without a stack trace; null for any other error. */
function problemsOf(error: unknown): readonly string[] | null {
  if (error instanceof ConfigError) return error.problems;
  return error instanceof AppError ? [`${error.code}  ${error.message}`] : null;
}

/** The languages of SQLite. All others are treated as `simple` there. */
const OF_SQLITE: ReadonlySet<string> = new Set(['simple', 'english']);

/**
 * Warnings at the start of a server: languages that its database does not have.
 *
 * @example missingLanguages(project, 'sqlite') // ['Post is searched by whole words: SQLite has no stems of german words, only of english ones']
 */
const missingLanguages = ({ entities }: Pick<Project, 'entities'>, dialect: Dialect) =>
  entities.flatMap(({ name, search }) =>
    dialect === 'postgres' || !search || OF_SQLITE.has(search.language)
      ? []
      : [
          `${name} is searched by whole words: SQLite has no stems of ${search.language} words, only of english ones`,
        ],
  );
