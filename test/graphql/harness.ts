import http from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { createLog } from '../../runtime/core/config/log.ts';
import { buildTables, readProject, type Project } from '@twofold/schema';
import { createSettings } from '../../runtime/core/config/settings.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { EntityHooks } from '../../runtime/core/context/entity-hooks.ts';
import { createGraphql, type GraphqlModule } from '../../runtime/core/graphql/index.ts';
import { mountRoutes } from '../../runtime/core/http/mount.ts';
import { errorBoundary } from '../../runtime/core/http/error-boundary.ts';
import { requestContext } from '../../runtime/core/http/request-context.ts';
import type { Kernel, ServerModule } from '../../runtime/core/module.ts';
import type { GraphqlHooks, Resolvers, ScalarMapping } from '../../runtime/core/plugin.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import type { Asker } from '../../runtime/core/store/bounds.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { fetchFrom, inProcess, type Send } from './in-process.ts';

/** Databases to run a suite on: `describe.each(databases)`. PostgreSQL is there when TEST_POSTGRES_URL is. */
export const databases = [
  'sqlite',
  ...(postgresUrl || process.env['CI'] ? ['postgres'] : []),
] as readonly ('sqlite' | 'postgres')[];

export interface TestServer {
  readonly url: string;
  /** What sends the requests of `call` and `query`. */
  readonly fetch: typeof fetch;
  /** Asks without a socket. */
  readonly send: Send;
  readonly project: Project;
  readonly store: Store;
  readonly module: ServerModule;
  /** Texts of the statements since the last call, in the order they ran. */
  statements(): string[];
  /** Lines of the log. */
  readonly lines: string[];
  /** One HTTP request, with the body as JSON. */
  call(
    method: string,
    path: string,
    options?: {
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
      readonly as?: Principal;
    },
  ): Promise<{ status: number; headers: Headers; body: any }>;
  query(
    query: string,
    variables?: Record<string, unknown>,
    as?: Principal,
  ): Promise<{ data?: any; errors?: any[] }>;
  close(): Promise<void>;
}

export interface TestOptions {
  readonly manifest?: string;
  readonly resolvers?: Resolvers;
  readonly scalars?: Record<string, ScalarMapping>;
  readonly entityHooks?: Record<string, EntityHooks>;
  readonly hooks?: readonly GraphqlHooks[];
  readonly database?: 'sqlite' | 'postgres';
  readonly env?: Record<string, string>;
  readonly root?: string;
  readonly now?: () => number;
  readonly change?: (project: Project) => Project;
  /** More modules over the same kernel and graphql module. */
  readonly also?: (kernel: Kernel, module: GraphqlModule) => ServerModule;
  /** The most connections of PostgreSQL. */
  readonly pool?: number;
  /** Use this database instead of a new one. */
  readonly url?: string;
  /** Use this one, which has the tables and stays open. */
  readonly store?: Store;
  /** Whether `call` and `query` do without sockets. */
  readonly inProcess?: boolean;
}

/** The model of an SDL; throws with what is wrong with it. */
export function projectOf(
  sdl: string,
  manifest?: string,
  scalars?: TestOptions['scalars'],
): Project {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: manifest === undefined ? null : { file: 'manifest.yaml', text: manifest },
    ...(scalars && {
      scalars: Object.fromEntries(Object.entries(scalars).map(([name, { type }]) => [name, type])),
    }),
  });
  if (!project)
    throw new Error(
      diagnostics.map(({ summary, at }) => `${at.file}:${at.line} ${summary}`).join('\n'),
    );
  return project;
}

/** Principals travel in a header here; who they are is the auth module's matter. */
const PRINCIPAL = 'x-test-principal';

export async function startServer(sdl: string, options: TestOptions = {}): Promise<TestServer> {
  const read = projectOf(sdl, options.manifest, options.scalars);
  const project = options.change ? options.change(read) : read;
  const opened = await openDatabase(project, options);
  const { store, statements } = counted(opened.store);
  const lines: string[] = [];
  const log = createLog({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const kernel: Kernel = {
    project,
    store,
    log,
    settings: createSettings(options.env ?? {}),
    now: options.now ?? Date.now,
    root: options.root ?? '/',
  };
  const { resolvers, scalars, entityHooks, hooks } = options;
  const module = createGraphql({
    kernel,
    ...(resolvers && { resolvers }),
    ...(scalars && { scalars }),
    ...(entityHooks && { entityHooks: [entityHooks] }),
    ...(hooks && { hooks }),
  });
  const modules = [module, ...(options.also ? [options.also(kernel, module)] : [])];
  const server = http.createServer(application(kernel, modules).callback());
  const send = inProcess(server);
  const asking = options.inProcess ? fetchFrom(send) : fetch;
  server.on('upgrade', (request, socket, head) => {
    if (!modules.some((each) => each.upgrade?.(request, socket, head))) socket.destroy();
  });
  for (const each of modules) await each.start?.();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  statements();
  return {
    url,
    fetch: asking,
    send,
    project,
    store,
    module,
    statements,
    lines,
    query: (query, variables = {}, as) =>
      post(asking, `${url}${project.api.path}`, { query, variables }, as),
    call: async (method, path, { body, headers, as } = {}) => {
      const response = await asking(url + path, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
          ...(as && { [PRINCIPAL]: JSON.stringify(as) }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text,
      };
    },
    close: async () => {
      await new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
      for (const each of modules) await each.stop?.();
      await opened.close();
    },
  };
}

/** The database of a server, with its tables. */
export async function openDatabase(
  project: Project,
  { database, url, pool, store: given }: TestOptions,
): Promise<{ readonly store: Store; readonly close: () => Promise<void> }> {
  if (given) return { store: given, close: async () => {} };
  const made =
    database === 'postgres' && !url
      ? await createDatabase()
      : { url: url ?? ':memory:', drop: async () => {} };
  const store = openStore(made.url, '/', {
    // One more listens and holds locks.
    ...(pool !== undefined && { connections: pool + 1 }),
    own: { timeout: project.transactionTimeout, isolation: project.isolation, warns: true },
  });
  await createTables(store, buildTables(project), project.ids);
  return {
    store,
    close: async () => {
      await store.close();
      await made.drop();
    },
  };
}

function application(kernel: Kernel, modules: readonly ServerModule[]): Koa {
  const koa = new Koa();
  koa.silent = true;
  koa.use(
    errorBoundary(
      kernel.log,
      modules.flatMap((module) => module.errorForm ?? []),
    ),
  );
  koa.use(requestContext(kernel));
  koa.use(async (ctx, next) => {
    const principal = ctx.get(PRINCIPAL);
    if (principal) ctx.state['context'].principal = JSON.parse(principal);
    await next();
  });
  for (const module of modules) if (module.endpoint) koa.use(module.endpoint);
  const router = new Router();
  mountRoutes(
    router,
    modules.flatMap(({ routes }) => routes ?? []),
    Object.assign({}, ...modules.map(({ guards }) => guards ?? {})),
  );
  koa
    .use(router.routes() as unknown as Koa.Middleware)
    .use(router.allowedMethods() as unknown as Koa.Middleware);
  return koa;
}

async function post(ask: typeof fetch, url: string, body: unknown, as?: Principal): Promise<any> {
  const response = await ask(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(as && { [PRINCIPAL]: JSON.stringify(as) }) },
    body: JSON.stringify(body),
  });
  return response.json();
}

function counted(store: Store): { store: Store; statements: () => string[] } {
  let texts: string[] = [];
  const noted: Store = {
    ...store,
    // The spread above copies what it says at that time.
    get untouched() {
      return store.untouched;
    },
    query: (sql, parameters, bounds) => {
      texts.push(sql);
      return store.query(sql, parameters, bounds);
    },
    answer: (statement, parameters, bounds) => {
      texts.push(statement.text);
      return store.answer(statement, parameters, bounds);
    },
    answerRows: (statement, parameters, bounds) => {
      texts.push(statement.text);
      return store.answerRows(statement, parameters, bounds);
    },
    ...(store.valueNow && {
      valueNow: (sql: string, parameters: readonly unknown[]) => (
        texts.push(sql),
        store.valueNow?.(sql, parameters)
      ),
    }),
    ...(store.writeOne && {
      writeOne: (sql: string, parameters: readonly unknown[], asker?: Asker) => {
        const rows = store.writeOne?.(sql, parameters, asker);
        if (rows) texts.push(sql);
        return rows;
      },
    }),
    transact: (work, bounds) =>
      store.transact(
        (query) =>
          work((sql, parameters, within) => {
            texts.push(sql);
            return query(sql, parameters, within);
          }),
        bounds,
      ),
    transaction: (work, transactionOptions) =>
      store.transaction((trx) => {
        // A nested transaction has the builder of the one around it.
        if (Object.hasOwn(trx, 'executeQuery')) return work(trx);
        const run = trx.executeQuery.bind(trx);
        Object.defineProperty(trx, 'executeQuery', {
          configurable: true,
          value: (query: { sql: string }) => (texts.push(query.sql), run(query as never)),
        });
        return work(trx);
      }, transactionOptions),
  };
  return { store: noted, statements: () => texts.splice(0) };
}

/** A signed-in user. */
export const user = (id: number | string, role?: string): Principal => ({
  kind: 'user',
  id,
  role: role ? { id: 1, name: role } : null,
  permissions: [],
  sessionId: 's',
  extend: {},
});
