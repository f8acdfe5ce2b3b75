import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import {
  buildTables,
  type AuthModel,
  type Entity,
  type HostingModel,
  type Project,
} from '@twofold/schema';
import type { Middleware } from 'koa';
import { createLog } from '../../runtime/core/config/log.ts';
import type { App } from '../../runtime/core/app.ts';
import { createApplication } from '../../runtime/core/application.ts';
import { createAuth, type AuthOptions } from '../../runtime/auth/create-auth.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import type { Kernel, ServerModule } from '../../runtime/core/module.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';

/** Starts the auth module alone, for tests and for the processes that tests start: nothing of vitest is imported here. */
export type DatabaseName = 'SQLite' | 'PostgreSQL';

export const GOOD = 'correct horse battery staple';
export const BETTER = 'wrong donkey charger clip';

/** A deep partial of the auth model: what a test says differs from the defaults. */
export type AuthChanges = {
  readonly [Key in keyof AuthModel]?: AuthModel[Key] extends readonly unknown[]
    ? AuthModel[Key]
    : AuthModel[Key] extends object | null
      ? Partial<AuthModel[Key]> | AuthModel[Key]
      : AuthModel[Key];
};

export interface TestOptions {
  readonly database: DatabaseName;
  readonly auth?: AuthChanges | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly entity?: Entity;
  /** Further entities. */
  readonly more?: readonly Entity[];
  readonly ids?: Project['ids'];
  readonly hosting?: Partial<HostingModel>;
  readonly options?: Partial<AuthOptions>;
  readonly server?: Partial<Project['server']>;
  readonly middleware?: readonly Middleware[];
  readonly modules?: readonly ServerModule[];
  readonly app?: Partial<App>;
  /** The port to listen on; any free one when absent. */
  readonly port?: number;
  /** A database to share: another node of the same application. */
  readonly url?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
  readonly text: string;
}

export interface TestServer {
  readonly url: string;
  readonly databaseUrl: string;
  readonly kernel: Kernel;
  readonly module: ServerModule;
  readonly logs: string[];
  /** Moves the clock of the server. */
  advance(milliseconds: number): void;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  register(email?: string, more?: Readonly<Record<string, unknown>>): Promise<Answer>;
  login(
    email: string,
    password?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  rows(table: string): Promise<Record<string, any>[]>;
  events(type: string): Promise<Record<string, any>[]>;
  close(): Promise<void>;
}

export const SECRET = 'a test secret that is long enough to be one';
export const API_KEY = 'root-key-of-the-tests-0123456789';
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
export const asRoot = { 'X-API-Key': API_KEY };

/** Starts the module behind the real request path, over a database of its own. */
export async function startServer(options: TestOptions): Promise<TestServer> {
  const database = options.url ? null : await makeDatabase(options.database);
  const databaseUrl = options.url ?? database!.url;
  const clock = { offset: 0 };
  const logs: string[] = [];
  const project = makeProject(options);
  const env = { JWT_SECRET: SECRET, API_KEY, RATE_LIMIT_ENABLED: 'false', ...options.env };
  const kernel: Kernel = {
    project,
    settings: createSettings(env),
    store: openStore(databaseUrl, process.cwd()),
    log: createLog(
      { level: 'debug' },
      new Writable({ write: (line, _, done) => (logs.push(String(line)), done()) }),
    ),
    now: () => Date.now() + clock.offset,
    root: process.cwd(),
  };
  const module = createAuth({
    kernel,
    model: project.auth,
    host: project.hosting !== null,
    bcryptCost: 4,
    ...options.options,
  });
  kernel.settings.assert();
  const modules = [module, ...(options.modules ?? [])];
  await migrate(kernel.store, module.migrations ?? []);
  await createTables(kernel.store, buildTables(project), project.ids);
  await module.start?.();
  const application = createApplication(
    { project, ...options.app },
    { kernel, modules },
    options.middleware ?? [],
  );
  const http = createServer(application);
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  await module.listening?.(port);
  const url = `http://127.0.0.1:${port}`;
  const call = caller(url);
  return {
    url,
    databaseUrl,
    kernel,
    module,
    logs,
    call,
    advance: (milliseconds) => void (clock.offset += milliseconds),
    register: (email = `u${randomBytes(6).toString('hex')}@x.test`, more = {}) =>
      call('POST', '/api/auth/register', { email, password: GOOD, ...more }),
    login: (email, password = GOOD, headers = {}) =>
      call('POST', '/api/auth/login', { email, password }, headers),
    rows: (table) => kernel.store.db.selectFrom(table).selectAll().execute(),
    events: async (type) =>
      (
        await kernel.store.db
          .selectFrom('auth_security_events')
          .selectAll()
          .where('type', '=', type)
          .orderBy('id')
          .execute()
      ).map((row) => ({ ...row, ...JSON.parse(row['data']) })),
    close: async () => {
      await stop(http);
      await module.stop?.();
      await kernel.store.close();
      await database?.drop();
    },
  };
}

async function makeDatabase(
  name: DatabaseName,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  if (name === 'SQLite') return { url: ':memory:', drop: async () => {} };
  return (await import('../engines/available.ts')).createDatabase();
}

function stop(http: HttpServer): Promise<void> {
  http.closeAllConnections();
  return new Promise((resolve) => http.close(() => resolve()));
}

/** Marks the address of an account as proved, as the link of its mail does. */
export async function markVerified(
  { kernel }: Pick<TestServer, 'kernel'>,
  { id, email }: { readonly id: number | string; readonly email: string },
): Promise<void> {
  await kernel.store.db
    .updateTable('auth_users')
    .set({ email_verified_at: 1, verified_email: email })
    .where('user_id', '=', id)
    .execute();
}

/** Calls of a server at an address, this process's or another's. */
export function caller(url: string): TestServer['call'] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, body: parse(text) };
  };
}

/** The whole answer to bytes that no client library would send. */
export function raw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket
      .setEncoding('utf8')
      .on('data', (chunk) => (answer += String(chunk)))
      .on('error', reject)
      .on('close', () => resolve(answer));
  });
}

function parse(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return text;
  }
}

const column = (name: string, type: Entity['columns'][number]['type'], required = false) => ({
  name,
  field: name,
  type,
  required,
  unique: false,
  scalar: 'String',
  list: false,
});

/** `type User { id: ID! name: String! email: String! }` */
export const USER: Entity = {
  name: 'User',
  singular: 'user',
  plural: 'users',
  table: 'users',
  fields: [],
  indexes: [],
  rules: [],
  interfaces: [],
  columns: [
    { ...column('id', 'id', true), scalar: 'ID', default: { kind: 'autoincrement' } },
    column('name', 'text', true),
    { ...column('email', 'text', true), unique: true },
  ],
};

function makeProject({
  auth,
  entity,
  more = [],
  ids = 'integer',
  hosting,
  server,
}: TestOptions): Project {
  return {
    name: 'Testshop',
    sdl: '',
    ids,
    entities: [...(entity ? [entity] : []), ...more],
    objects: [],
    abstracts: [],
    enums: [],
    scalars: [],
    operations: [],
    loaders: [],
    writes: [],
    filters: [],
    orders: [],
    api: {
      path: '/graphql',
      access: 'user',
      crud: false,
      rest: false,
      limits: {} as never,
      introspection: 'never',
      graphiql: 'never',
      suggestions: 'never',
      trustedDocuments: null,
    },
    server: {
      port: 8080,
      host: '127.0.0.1',
      cors: [],
      trustedProxies: [],
      bodyLimit: 1_048_576,
      ...server,
    },
    auth: auth === null ? null : makeAuth(auth ?? {}, entity),
    console: null,
    hosting: hosting ? ({ access: 'host', ...hosting } as HostingModel) : null,
  };
}

function makeAuth(changes: AuthChanges, entity: Entity | undefined): AuthModel {
  const user = entity
    ? {
        entity: entity.name,
        table: entity.table,
        columns: { email: 'email', name: 'name' },
        identity: [],
        registerFields: [],
      }
    : DEFAULT_AUTH.user;
  const merged: Record<string, unknown> = { ...DEFAULT_AUTH, user };
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key];
    merged[key] =
      typeof before === 'object' && before !== null && typeof value === 'object' && value !== null
        ? { ...before, ...value }
        : value;
  }
  return merged as unknown as AuthModel;
}
