import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { ConfigError } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';
import { API_ROUTE, type ApiEntry } from './api-entry.ts';
import { instanceLabels, type EngineNaming, networkName } from './deploy/containers.ts';
import { createOperations } from './deploy/operations.ts';
import { createRetries } from './deploy/retries.ts';
import { connectEngine } from './engine/connect.ts';
import { createConnection } from './engine/connection.ts';
import { createEventHub } from './events.ts';
import type { Ingress } from './ingress/ingress.ts';
import { createInlineIngress } from './ingress/inline.ts';
import { type ListenerName, type Listening, NOT_LISTENING } from './ingress/listeners.ts';
import { createRemoteIngress } from './ingress/remote.ts';
import { idleRoute } from './deploy/rollout.ts';
import type { AppRepository } from './records/app-repository.ts';
import { createDeploymentRepository } from './records/deployment-repository.ts';
import {
  createIngressRecords,
  createSettingsTable,
  createVault,
} from './records/settings-table.ts';
import type { Seal } from './records/seal.ts';
import { domainsOf } from './records/domains.ts';
import { createDeployKeys } from './ssh/deploy-keys.ts';
import { createHostKeys } from './ssh/host-keys.ts';
import { createRegistries } from './registries/registries.ts';
import { createCertificates } from './tls/certificates.ts';
import type { RunRelease } from './records/run.ts';
import type { OnStep } from './deploy/steps.ts';
import { externalAccountOf } from './tls/acme.ts';

interface Wiring {
  readonly onConnect: () => Promise<void>;
  readonly onEvent: Parameters<typeof createConnection>[0]['onEvent'];
  readonly stopRuns: (appId: string) => Promise<void>;
  readonly release: RunRelease;
}

interface CoreOptions {
  readonly model: HostingModel;
  readonly seal: Seal;
  readonly apps: AppRepository;
  readonly onStep: OnStep;
  readonly entry: ApiEntry;
}

/**
 * Creates the shared parts. Some of them call the supervisor and the reconciler, which are made
 * later: `wire` connects them.
 */
export function createCore(kernel: Kernel, { model, seal, apps, onStep, entry }: CoreOptions) {
  const { store, now, log } = kernel;
  oneOf(kernel, 'HOSTING_LOGS', ['file', 'stream']);
  const naming = { instance: '' };
  const operations = createOperations();
  const vault = createVault(store, seal);
  const hosts = () => certifiedHosts(apps, entry);
  const ingress = chooseIngress(kernel, model);
  const events = createEventHub(now);
  const certificates = createCertificates({
    ...{ store, seal, vault, log, now, hosts, ingress },
    onOutcome: (host, error) =>
      events.emit('certificate', {
        ...{ host, app: appOf(apps, host), status: error ? 'failed' : 'issued' },
        ...(error && { error: error.message }),
      }),
    acme: { ...model.ingress.acme, externalAccount: externalAccountOf(kernel.settings) },
  });
  // From its first moment an app has a page that says that it does not run.
  apps.onChange((app) => {
    if (app.deployment === null && !ingress.get(app.id)) ingress.set(idleRoute(app, 'stopped'));
  });
  let ports: Listening = NOT_LISTENING;
  let wiring: Wiring | undefined;
  const connection = connectionOf(kernel, { model, naming, wiring: () => wiring });
  return {
    ...{
      model,
      naming,
      apps,
      deployments: createDeploymentRepository(store, now),
      connection,
      ingress,
      operations,
      certificates,
      registries: registriesOf(kernel, seal),
      deployKeys: createDeployKeys(vault),
      hostKeys: createHostKeys(store, now),
      vault,
      entry,
      accessLog: accessLogOf(kernel, model),
    },
    ...{
      events,
      log,
      now,
      leaving: new Set<string>(),
      processes: new Map<string, string>(),
      oldImages: createRetries(now),
      onStep,
    },
    stopRuns: async (appId: string) => wiring?.stopRuns(appId),
    release: (asked: Parameters<RunRelease>[0]) => wiring!.release(asked),
    wire: (given: Wiring) => void (wiring = given),
    ports: () => ports,
    addressOf(domain: string) {
      const secure = ports.https !== null && certificates.has(domain);
      const [scheme, port, usual] = secure ? ['https', ports.https, 443] : ['http', ports.http, 80];
      return `${scheme}://${domain}${port === null || port === usual ? '' : `:${port}`}`;
    },
    async engineState() {
      const connected = await connection.connected();
      return {
        podman: connected ? 'connected' : 'disconnected',
        engine: connection.info()?.kind ?? null,
      };
    },
    async nameInstance(from: Kernel['store']) {
      naming.instance = await instanceOf(from);
    },
    /** Opens the listeners. Requests for an app whose containers are not known yet wait. */
    async listen() {
      routeUnknown(apps, ingress);
      entry.route(ingress);
      ports = await ingress.listen();
      refusePorts(kernel, model, ports);
    },
  };
}

/** The server that an app has moved to asks for its certificates. */
const certifiedHosts = (apps: AppRepository, { host }: ApiEntry): string[] =>
  [host ?? []].flat().concat(apps.all().flatMap(({ spec }) => (spec.moved ? [] : domainsOf(spec))));

/** The name of the app with this host; null for the host of `APP_URL`. */
const appOf = (apps: AppRepository, host: string) =>
  apps.all().find(({ spec }) => [spec.domain, ...spec.aliases].includes(host))?.name ?? null;

function registriesOf({ store, settings, log, now }: Kernel, seal: Seal) {
  // Asked here, so that it is listed among the settings.
  settings.text('DOCKER_CONFIG');
  return createRegistries({ store, seal, env: settings.env, log, now });
}

interface ConnectionParts {
  readonly model: HostingModel;
  readonly naming: EngineNaming;
  /** The functions to call; undefined until `wire` has been called. */
  readonly wiring: () => Wiring | undefined;
}

function connectionOf(kernel: Kernel, { model, naming, wiring }: ConnectionParts) {
  const { settings, log } = kernel;
  return createConnection({
    connect: () => connectEngine(model.engine, settings.env),
    labels: () => instanceLabels(naming),
    network: () => networkName(naming),
    reach: oneOf(kernel, 'HOSTING_REACH', ['address', 'port']) ?? null,
    log,
    onConnect: async () => wiring()?.onConnect(),
    onEvent: (event) => wiring()?.onEvent(event),
  });
}

/** Gives a route to each app that has none, and removes the routes of apps that no longer exist. */
function routeUnknown(apps: AppRepository, ingress: Ingress): void {
  for (const app of apps.all()) {
    const runs = app.desired === 'running' && app.deployment !== null;
    if (!ingress.get(app.id)) ingress.set(idleRoute(app, runs ? 'holding' : 'stopped'));
  }
  ingress.keep([API_ROUTE, ...apps.all().map(({ id }) => id)]);
}

/**
 * In production a server without its ports must exit with an error, so that the process manager
 * reports it. In development it runs on, and `/api/health` shows that apps cannot be reached.
 *
 * @throws ConfigError
 */
function refusePorts(
  { log, settings }: Kernel,
  { ingress }: HostingModel,
  { refused }: Listening,
): void {
  const problems = Object.entries(refused).map(([name, code]) => {
    const key = `hosting.ingress.${name}`;
    const why =
      code === 'EADDRINUSE'
        ? 'is in use, by another program or by another installation: stop it'
        : code === 'EACCES'
          ? 'needs more rights: let the server bind it (CAP_NET_BIND_SERVICE)'
          : `cannot be listened on (${code}): look at HOST`;
    return `${key}: port ${ingress[name as ListenerName]} ${why}, or set ${key} to another port`;
  });
  if (problems.length === 0) return;
  if (settings.production) throw new ConfigError(problems);
  for (const problem of problems) log.warn(`apps cannot be reached: ${problem}`);
}

/** Milliseconds that an ingress process continues to serve when no server is connected to it. */
const STANDALONE_TIME = 10 * 60_000;
/** Outside production: longer than the lease of a server that was killed. */
const SHORT_STANDALONE_TIME = 20_000;
/** The longest time of a timer of Node, 25 days. */
const FOREVER = 2 ** 31 - 1;

/**
 * The ingress is a separate process, which keeps running while the server restarts. With
 * `HOSTING_INGRESS=inline`, or a database in memory, in which no later server would find the process,
 * it is a part of the server.
 */
function chooseIngress(kernel: Kernel, model: HostingModel): Ingress {
  const { http, https, http2 } = model.ingress;
  const { settings, project, store, now, log } = kernel;
  const { trustedProxies } = project.server;
  const kind = oneOf(kernel, 'HOSTING_INGRESS', ['process', 'inline']);
  const redirect = oneOf(kernel, 'HOSTING_REDIRECT', ['on', 'off']) !== 'off';
  const host = settings.text('HOST', project.server.host);
  const options = {
    http,
    https,
    host,
    redirect,
    trustedProxies,
    http2,
    accessLog: accessLogOf(kernel, model),
    records: createIngressRecords(store),
  };
  return kind === 'inline' || settings.text('DATABASE_URL') === ':memory:'
    ? createInlineIngress({ ...options, now })
    : createRemoteIngress({ ...options, ...standaloneOf(kernel), log });
}

/** As a service of its own, the ingress is ended by whoever looks after services. */
function standaloneOf({ settings }: Kernel) {
  const launcher = settings.text('HOSTING_LAUNCHER') || null;
  if (launcher !== null) return { launcher, alone: FOREVER };
  return { launcher, alone: settings.production ? STANDALONE_TIME : SHORT_STANDALONE_TIME };
}

/** The folder of the access log; null when the manifest has none. */
const accessLogOf = ({ root }: Kernel, { ingress }: HostingModel): string | null =>
  ingress.accessLog ? join(root, 'data', 'requests') : null;

/** @returns undefined when it is not set. @throws ConfigError for any other value. */
function oneOf<const T extends string>(
  { settings }: Pick<Kernel, 'settings'>,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const text = settings.text(name);
  if (text === undefined || text === '') return undefined;
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new ConfigError([`${name} must be ${allowed.join(' or ')}`]);
}

const INSTANCE_KEY = 'instance';

/**
 * Reads the installation's id, or creates it. When two servers start on a new database at the same
 * time, both get the same id.
 */
async function instanceOf(store: Kernel['store']): Promise<string> {
  const settings = createSettingsTable(store);
  await settings.insert(INSTANCE_KEY, randomBytes(4).toString('hex'));
  return (await settings.get(INSTANCE_KEY)) as string;
}
