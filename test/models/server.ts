import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostingModel, Project } from '@twofold/schema';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { createLog } from '../../runtime/core/config/log.ts';
import { createApplication } from '../../runtime/core/application.ts';
import { createAuth } from '../../runtime/auth/create-auth.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { createAuditLog } from '../../runtime/core/audit/audit-log.ts';
import { auditMigrations } from '../../runtime/core/audit/index.ts';
import { createEventHub, type HostingEvent } from '../../runtime/hosting/host/events.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { createModelKeys } from '../../runtime/models/keys/model-keys.ts';
import { readModelKey } from '../../runtime/models/keys/present-key.ts';
import { modelMigrations } from '../../runtime/models/keys/tables.ts';
import { createModels, type Machine } from '../../runtime/models/models.ts';
import { bindFlows } from '../../runtime/core/http/flow.ts';
import { drain, listen } from '../../runtime/core/listener.ts';
import type { Metrics } from '../../runtime/core/metrics/registry.ts';
import type { Kernel, ServerModule } from '../../runtime/core/module.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { validator } from '../../runtime/hosting/validator.ts';

/** Starts auth and the language models alone. Nothing of vitest is imported here: a program of its own uses it too. */
export interface ModelsServer {
  readonly url: string;
  readonly folder: string;
  /** Of the operator. */
  readonly token: string;
  readonly kernel: Kernel;
  readonly events: HostingEvent[];
  readonly logs: string[];
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; body: any; text: string; headers: Headers }>;
  model(id: string): Promise<any>;
  /** Asks until `is` holds. */
  until(id: string, is: (model: any) => boolean): Promise<any>;
  /** Stops the server and keeps the folder. */
  stop(): Promise<void>;
  end(): Promise<void>;
}

export interface ModelsServerOptions {
  readonly hub?: string;
  /** Of an earlier server, to go on where that one ended. */
  readonly folder?: string;
  readonly engine?: string | readonly string[];
  /** Further settings of `hosting.models`. */
  readonly models?: Partial<HostingModel['models']>;
  readonly database?: string;
  readonly list?: readonly unknown[];
  readonly env?: Readonly<Record<string, string>>;
  readonly machine?: Partial<Machine>;
  readonly floor?: number;
  readonly now?: () => number;
  readonly metrics?: Metrics;
  /** Whether users may sign up, and make keys of their own. */
  readonly users?: boolean;
}

/** The settings that the manifest has by default. */
export const MODEL_DEFAULTS: HostingModel['models'] = {
  directory: 'data/models',
  engine: 'auto',
  list: [],
  allow: ['*'],
  maxSize: 50 * 2 ** 30,
  loaded: { max: 3, memory: 'auto', gpuMemory: 'auto', idle: 900_000 },
  ...{ aliases: {}, fallbacks: {}, prices: {} },
};

const ROLES = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
const PASSWORD = 'the operator knows this';
export const API_KEY = 'root-key-of-the-tests-0123456789';

/** As a project has it that installed node-llama-cpp. */
export function linkLibrary(folder: string): void {
  const packages = join(folder, 'node_modules');
  if (!existsSync(packages)) symlinkSync(join(import.meta.dirname, '../node_modules'), packages);
}

export async function startModels({
  hub,
  folder = mkdtempSync(join(tmpdir(), 'tf-models-')),
  engine = 'llamacpp',
  list = [],
  env = {},
  machine = {},
  floor = 0,
  now = Date.now,
  models: given = {},
  database = 'file:data/app.db',
  metrics,
  users = false,
}: ModelsServerOptions = {}): Promise<ModelsServer> {
  linkLibrary(folder);
  const logs: string[] = [];
  const model = {
    access: 'host',
    registry: null,
    diskFloor: floor,
    models: { ...MODEL_DEFAULTS, engine, list, ...given },
  } as unknown as HostingModel;
  const project = {
    name: 'test',
    server: { port: 0, host: '127.0.0.1', cors: [], trustedProxies: [], bodyLimit: 1_048_576 },
    ids: 'integer',
    api: { path: '/graphql' },
    auth: users ? { ...DEFAULT_AUTH, roles: ROLES } : null,
    hosting: model,
    entities: [],
  } as unknown as Project;
  const settings = createSettings({
    JWT_SECRET: 'a secret of thirty-two bytes or more',
    HOST_PASSWORD: PASSWORD,
    API_KEY,
    RATE_LIMIT_ENABLED: 'false',
    PATH: process.env['PATH'] ?? '',
    ...(hub !== undefined && { HF_ENDPOINT: hub }),
    ...env,
  });
  const plain: Kernel = {
    project,
    settings,
    store: openStore(database, folder),
    log: createLog({ level: 'debug' }, { write: (line: string) => void logs.push(line) }),
    now,
    root: folder,
  };
  const kernel: Kernel = {
    ...plain,
    audit: createAuditLog({ store: plain.store, now: Date.now }),
    ...(metrics && { metrics }),
  };
  const auth = createAuth({ kernel, model: project.auth, host: true, bcryptCost: 4 });
  const events = createEventHub(Date.now);
  const seen: HostingEvent[] = [];
  events.listen((event) => void seen.push(event));
  const models = createModels({
    kernel,
    model,
    events,
    machine: { pause: 20, ...machine },
  });
  settings.assert();
  const hosting: ServerModule = {
    name: 'hosting',
    before: [readModelKey(createModelKeys(kernel.store, now))],
    routes: bindFlows(modelFlows, models.state),
    validator,
  };
  await migrate(kernel.store, [
    ...auditMigrations,
    ...(auth.migrations ?? []),
    ...hostingMigrations,
    ...modelMigrations,
  ]);
  await auth.start?.();
  await models.start();
  const modules = [auth, hosting];
  const http = await listen(
    createApplication({ project } as never, { kernel, modules }, []),
    modules,
    { host: '127.0.0.1', port: 0 },
  );
  const url = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  const call: ModelsServer['call'] = async (method, path, body, headers = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      headers: answer.headers,
      body: answer.headers.get('content-type')?.includes('application/json')
        ? JSON.parse(text)
        : undefined,
    };
  };
  let token = '';
  token = (await call('POST', '/api/auth/login', { password: PASSWORD }, { authorization: '' }))
    .body.token;
  const show: ModelsServer['model'] = async (id) =>
    (await call('GET', `/api/mlx/models/${id}`)).body;
  const stop = async () => {
    await drain(http, 500);
    await models.stop();
    await auth.stop?.();
    await kernel.store.close();
  };
  return {
    ...{ url, folder, token, kernel, logs, call, stop, model: show, events: seen },
    async until(id, is) {
      for (let turn = 0; turn < 600; turn += 1) {
        const now = await show(id);
        if (is(now)) return now;
        await sleep(50);
      }
      throw new Error(`waited for too long: ${JSON.stringify(await show(id))}`);
    },
    async end() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
