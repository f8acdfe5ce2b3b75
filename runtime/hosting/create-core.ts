import { randomBytes } from 'node:crypto';
import type { HostingModel } from '@twofold/schema';
import { ConfigError } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';
import { instanceLabels, type EngineNaming, networkName, type Reach } from './deploy/containers.ts';
import { createOperations } from './deploy/operations.ts';
import { createRetries } from './deploy/retries.ts';
import type { DeployStep } from './deploy/steps.ts';
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
import { createIngressRecords } from './records/ingress-records.ts';
import type { Seal } from './records/seal.ts';
import { createVault } from './records/vault.ts';
import { createCertificates } from './tls/certificates.ts';

interface Wiring {
  readonly onConnect: () => Promise<void>;
  readonly onEvent: Parameters<typeof createConnection>[0]['onEvent'];
}

interface CoreOptions {
  readonly model: HostingModel;
  readonly seal: Seal;
  readonly apps: AppRepository;
  readonly onStep: (step: DeployStep) => void;
}

/** The shared parts. What refers back to them is wired in afterwards. */
export function createCore(kernel: Kernel, { model, seal, apps, onStep }: CoreOptions) {
  const { store, now, log, settings } = kernel;
  assertLogs(settings.text('HOSTING_LOGS'));
  const naming = { instance: '' };
  const operations = createOperations();
  const vault = createVault(store, seal);
  const hosts = () => apps.all().flatMap(({ spec }) => [spec.domain, ...spec.aliases]);
  const ingress = chooseIngress(kernel, model);
  const certificates = createCertificates({
    ...{ store, seal, vault, log, now, hosts, ingress },
    acme: model.ingress.acme,
  });
  let ports: Listening = NOT_LISTENING;
  let wiring: Wiring | undefined;
  const connection = connectionOf(kernel, { model, naming, wiring: () => wiring });
  return {
    ...{
      model,
      naming,
      apps,
      deployments: createDeploymentRepository({ store, now }),
      connection,
      ingress,
      operations,
      certificates,
      vault,
    },
    ...{
      events: createEventHub(now),
      log,
      now,
      leaving: new Set<string>(),
      oldImages: createRetries(now),
      onStep,
    },
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
    /** When the routes are known, as far as they can be: an app that is not known yet has its requests wait. */
    async listen() {
      routeUnknown(apps, ingress);
      ports = await ingress.listen();
      refusePorts(kernel, model, ports);
    },
  };
}

interface ConnectionParts {
  readonly model: HostingModel;
  readonly naming: EngineNaming;
  /** Who is told; undefined until it is wired. */
  readonly wiring: () => Wiring | undefined;
}

function connectionOf({ settings, log }: Kernel, { model, naming, wiring }: ConnectionParts) {
  return createConnection({
    connect: () => connectEngine(model.engine, settings.env),
    labels: () => instanceLabels(naming),
    network: () => networkName(naming),
    reach: reachOf(settings.text('HOSTING_REACH')),
    log,
    onConnect: async () => wiring()?.onConnect(),
    onEvent: (event) => wiring()?.onEvent(event),
  });
}

/** Gives every app a route, and takes those away that belong to none. */
function routeUnknown(apps: AppRepository, ingress: Ingress): void {
  for (const app of apps.all()) {
    const runs = app.desired === 'running' && app.deployment !== null;
    if (!ingress.get(app.id)) ingress.set(idleRoute(app, runs ? 'holding' : 'stopped'));
  }
  ingress.keep(apps.all().map(({ id }) => id));
}

/**
 * In production a server without its ports is of no use, and whoever restarts it has to see that. In development it goes
 * on, and `/api/health` says that apps cannot be reached.
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

/** Milliseconds that an ingress process serves on without a server. */
const ALONE = 10 * 60_000;

/**
 * In production the ingress is a process of its own, which outlives this one: apps are reached while the server starts
 * again. Elsewhere it lives and ends with the server. `HOSTING_INGRESS` (`process` or `inline`) says otherwise.
 */
function chooseIngress(
  { settings, project, store, now, log }: Kernel,
  { ingress: { http, https } }: HostingModel,
): Ingress {
  const host = settings.text('HOST', project.server.host);
  const kind = settings.text('HOSTING_INGRESS', settings.production ? 'process' : 'inline');
  if (kind !== 'process' && kind !== 'inline')
    throw new ConfigError(['HOSTING_INGRESS must be process or inline']);
  const redirect = settings.text('HOSTING_REDIRECT', 'on');
  if (redirect !== 'on' && redirect !== 'off')
    throw new ConfigError(['HOSTING_REDIRECT must be on or off']);
  const { trustedProxies } = project.server;
  const listen = { http, https, host, redirect: redirect === 'on', trustedProxies };
  const records = createIngressRecords(store);
  if (kind === 'inline') return createInlineIngress({ ...listen, now, records });
  return createRemoteIngress({ ...listen, records, log, alone: ALONE, outlives: true });
}

/** Null: found out when the engine is connected. */
function reachOf(text: string | undefined): Reach | null {
  if (text === undefined || text === '') return null;
  if (text !== 'address' && text !== 'port')
    throw new ConfigError(['HOSTING_REACH must be address or port']);
  return text;
}

/** What apps print is read from the engine's files where it can be, unless its stream is asked for. */
function assertLogs(text: string | undefined): void {
  if (text !== undefined && text !== 'file' && text !== 'stream')
    throw new ConfigError(['HOSTING_LOGS must be file or stream']);
}

/** The installation's id, made once: of two servers that start at the same time on a new database, one makes it. */
async function instanceOf({ db }: Kernel['store']): Promise<string> {
  const row = { key: 'instance', value: randomBytes(4).toString('hex') };
  await db
    .insertInto('hosting_settings')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('hosting_settings')
    .select('value')
    .where('key', '=', 'instance')
    .executeTakeFirstOrThrow();
  return value;
}
