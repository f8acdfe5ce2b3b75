import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'node:http';
import type { HostingModel, Project } from '@twofold/schema';
import { createAuditLog } from '../../runtime/core/audit/audit-log.ts';
import { createAudit } from '../../runtime/core/audit/index.ts';
import { createLog } from '../../runtime/core/config/log.ts';
import { createApplication } from '../../runtime/core/application.ts';
import { hasScope } from '../../runtime/core/context/scopes.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import type { RequestContext } from '../../runtime/core/context/request-context.ts';
import { failure } from '../../runtime/core/errors.ts';
import { createHosting, type HostingOptions } from '../../runtime/hosting/hosting.ts';
import { drain, listen } from '../../runtime/core/listener.ts';
import { createMetricsModule } from '../../runtime/core/metrics/index.ts';
import { createMetrics } from '../../runtime/core/metrics/registry.ts';
import type { Kernel, ServerModule } from '../../runtime/core/module.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';

/** The token that the tests' own guard takes. */
export const token = 'test-host-token';

/** A running server with only the hosting module in it. */
export interface TestServer {
  readonly url: string;
  readonly folder: string;
  readonly kernel: Kernel;
  /** The ingress's port. */
  readonly ingress: number;
  /** Calls the API with the token; the answer's body parsed when it is JSON. */
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: any; headers: Headers }>;
  /** Asks an app through the ingress. */
  visit(
    host: string,
    path?: string,
    options?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<{ status: number; text: string; headers: Record<string, any> }>;
  /** Deletes every app. */
  clear(): Promise<void>;
  /** Stops the server; the folder and what runs on the engine stay. */
  stop(): Promise<void>;
  /** Deletes every app, stops, and removes the folder. */
  end(): Promise<void>;
}

export interface TestServerOptions {
  readonly socket?: string;
  readonly kind?: HostingModel['engine']['kind'];
  /** A folder of an earlier server, to start on its state. */
  readonly folder?: string;
  readonly database?: string;
  readonly model?: Partial<HostingModel>;
  readonly env?: Record<string, string>;
  readonly logTo?: { write(line: string): void };
  readonly onStep?: HostingOptions['onStep'];
  readonly movePatience?: number;
  /** Other capabilities that work inside hosting. */
  readonly parts?: HostingOptions['parts'];
}

export function testModel({ socket, kind = 'auto', model }: TestServerOptions = {}): HostingModel {
  return {
    engine: { kind, socket: socket ?? null },
    domain: 'apps.test',
    access: 'host',
    defaults: { port: 8080, memory: 128 * 1024 * 1024, cpus: 1, pids: 256 },
    deploys: { keep: 5, readyTimeout: 20_000, drain: 5000 },
    build: {
      timeout: 120_000,
      memory: 1024 * 1024 * 1024,
      concurrency: 1,
      buildkit: 'auto',
      cache: 10 * 1024 ** 3,
      allowAddUrl: false,
      from: ['*'],
    },
    source: { max: 64 * 1024 * 1024, maxUnpacked: 512 * 1024 * 1024, entries: 5000 },
    git: { allowHttp: false, allowPrivate: false },
    ingress: {
      ...{ http: 0, https: 0, http2: true, accessLog: true, api: true, ports: '1024-65535' },
      acme: { email: null, directory: null },
    },
    registry: null,
    previews: { limit: 10, expire: 72 * 3_600_000 },
    diskFloor: 0,
    templates: 'templates',
    models: {
      ...{ directory: 'data/models', engine: 'auto', list: [], allow: ['*'], maxSize: 2 ** 40 },
      loaded: { max: 3, memory: 'auto', gpuMemory: 'auto', idle: 900_000 },
      ...{ aliases: {}, fallbacks: {}, prices: {} },
    },
    backups: { directory: 'data/backups' },
    ...model,
  };
}

const METRICS_TOKEN = 'a-token-of-prometheus';

/** The headers of a caller who may read the page of figures. */
export const scraper = { authorization: `Bearer ${METRICS_TOKEN}` };

/** Starts a server on a folder of its own. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tf-hosting-'));
  const settings = createSettings({
    JWT_SECRET: 'a secret of thirty-two bytes or more',
    METRICS_TOKEN,
    // A process that outlives the server would have to be ended by each test.
    HOSTING_INGRESS: 'inline',
    ...options.env,
  });
  const store = openStore(options.database ?? 'file:data/app.db', folder);
  const project = {
    api: { path: '/graphql' },
    observability: { metrics: { path: '/metrics', port: null } },
    server: { port: 0, host: '127.0.0.1', cors: [], trustedProxies: [], bodyLimit: 1024 * 1024 },
  } as unknown as Project;
  const log = createLog(
    { level: options.logTo || process.env['TEST_LOG'] ? 'debug' : 'silent' },
    options.logTo ?? process.stderr,
  );
  const metrics = createMetrics();
  const audit = createAuditLog({ store, now: Date.now });
  const kernel: Kernel = {
    ...{ project, settings, store, log, metrics, audit },
    now: Date.now,
    root: folder,
  };
  const hosting = await createHosting({
    kernel,
    model: testModel(options),
    ...(options.onStep && { onStep: options.onStep }),
    ...(options.movePatience && { movePatience: options.movePatience }),
    ...(options.parts && { parts: options.parts }),
  });
  const modules: ServerModule[] = [createAudit(kernel, audit), auth, hosting];
  const figures = createMetricsModule(kernel, () => modules);
  modules.push(figures);
  for (const { migrations = [] } of modules) await migrate(store, migrations);
  await hosting.start?.();
  const http = await listen(
    createApplication({ project } as never, { kernel, modules } as never, []),
    modules,
    { host: '127.0.0.1', port: 0 },
  );
  await hosting.serve?.(http);
  const url = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  const api: TestServer['api'] = (method, path, body, headers) =>
    call(url + path, { method, body, headers: headers ?? {} });
  const config = await configOf(api);
  if (config.status === 200) await untilConnected(api, options.socket);
  const clear = async () => {
    const { body } = await api('GET', '/api/apps');
    for (const { name } of body.apps ?? []) await api('DELETE', `/api/apps/${name}?volumes=true`);
  };
  const stop = async () => {
    await hosting.retire?.();
    await drain(http);
    await hosting.stop?.();
    await figures.stop?.();
    await store.close();
  };
  return {
    ...{ url, folder, kernel, api, clear, stop, ingress: config.body.ingress.http },
    visit: (host, path = '/', request) => visit(config.body.ingress.http, host, path, request),
    async end() {
      await clear();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ENGINES = [process.env['TEST_DOCKER_SOCKET'], process.env['TEST_PODMAN_SOCKET']];

/**
 * Waits until an engine that is there answers: on a busy machine that takes longer than a server's
 * start waits for it.
 */
async function untilConnected(api: TestServer['api'], socket: string | undefined): Promise<void> {
  if (socket === undefined || !ENGINES.includes(socket)) return;
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await api('GET', '/api/health')).body.podman === 'connected') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A server that takes over from another answers 503 until the other has left. */
async function configOf(api: TestServer['api']) {
  for (let tries = 0; ; tries += 1) {
    const answer = await api('GET', '/api/system/config');
    if (answer.status === 200 || tries === 100) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Stands in for the auth module: a fixed token is the host's; `user apps:read` and `api_key apps:*` are who they say. */
const auth: ServerModule = {
  name: 'auth',
  guards: Object.fromEntries(
    ['apps:read', 'apps:write', 'apps:exec', 'system:read', 'system:write']
      .concat('models:read', 'models:write')
      .map((permission) => [permission, (context) => asHost(context, permission)]),
  ),
};

function asHost(context: RequestContext, permission: string): void {
  const given = String(context.headers['authorization'] ?? '').replace(/^Bearer /, '');
  const [kind = '', words = ''] = given.split(' ');
  const granted = words.split(',').filter(Boolean);
  if (given === token) context.principal = { kind: 'host', sessionId: 'test' };
  else if (kind === 'user')
    context.principal = { kind, id: 'u', role: 'user', permissions: granted } as never;
  else if (kind === 'api_key') context.principal = { kind, id: 'k', scopes: granted } as never;
  else throw failure.unauthenticated();
  if (given !== token && !hasScope(granted, permission))
    throw failure.forbidden(`Permission ${permission} is required`);
}

async function call(
  url: string,
  { method, body, headers }: { method: string; body: unknown; headers: Record<string, string> },
) {
  const raw =
    body instanceof FormData || body instanceof ReadableStream || body instanceof Uint8Array;
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: raw ? (body as never) : JSON.stringify(body),
      duplex: 'half',
    }),
  } as RequestInit);
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('application/json');
  return { status: answer.status, body: isJson ? JSON.parse(text) : text, headers: answer.headers };
}

export function visit(
  port: number,
  host: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  return new Promise<{ status: number; text: string; headers: Record<string, any> }>(
    (resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path, method, agent: false, headers: { ...headers, host } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(chunks).toString(),
              headers: answer.headers,
            }),
          );
        },
      );
      sent.on('error', reject).end(body);
    },
  );
}
