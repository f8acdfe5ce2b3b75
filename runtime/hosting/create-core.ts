import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { ConfigError } from '../errors.ts';
import type { Kernel } from '../module.ts';
import { instanceLabels, networkName, type Reach } from './deploy/containers.ts';
import { createOperations } from './deploy/operations.ts';
import { createRetries } from './deploy/retries.ts';
import type { DeployStep } from './deploy/steps.ts';
import { connectEngine } from './engine/connect.ts';
import { createConnection } from './engine/connection.ts';
import { createEventHub } from './events.ts';
import { createIngress, type Ingress } from './ingress/ingress.ts';
import { createRemoteIngress } from './ingress/remote.ts';
import type { AppBook } from './records/app-book.ts';
import { createDeploymentBook } from './records/deployment-book.ts';
import type { Seal } from './records/seal.ts';
import { createVault } from './records/vault.ts';
import { createCertificates } from './tls/certificates.ts';

interface Wiring {
  readonly onConnect: () => Promise<void>;
  readonly onEvent: Parameters<typeof createConnection>[0]['onEvent'];
}

/** The shared parts. What refers back to them is wired in afterwards. */
export function createCore(
  kernel: Kernel,
  {
    model,
    seal,
    apps,
    onStep,
  }: {
    readonly model: HostingModel;
    readonly seal: Seal;
    readonly apps: AppBook;
    readonly onStep: (step: DeployStep) => void;
  },
) {
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
  let ports: { http: number | null; https: number | null } = { http: null, https: null };
  let wiring: Wiring | undefined;
  const connection = createConnection({
    connect: () => connectEngine(model.engine, settings.env),
    labels: () => instanceLabels(naming),
    network: () => networkName(naming),
    reach: reachOf(settings.text('HOSTING_REACH')),
    log,
    onConnect: async () => wiring?.onConnect(),
    onEvent: (event) => wiring?.onEvent(event),
  });
  return {
    ...{
      model,
      naming,
      apps,
      deployments: createDeploymentBook({ store, now }),
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
    async listen() {
      ports = await ingress.listen();
      ingress.keep(apps.all().map(({ id }) => id));
      warnOfPorts(log, model, ports);
    },
  };
}

/** The API starts all the same: one line says what cannot be reached, and how to mend it. */
function warnOfPorts(
  log: Kernel['log'],
  { ingress: { http, https } }: HostingModel,
  ports: { http: number | null; https: number | null },
): void {
  const closed = [
    ports.http === null && `${http} (hosting.ingress.http)`,
    ports.https === null && `${https} (hosting.ingress.https)`,
  ].filter(Boolean);
  if (closed.length > 0)
    log.warn(
      `apps cannot be reached on port ${closed.join(' and ')}: it is taken or needs root; set another port in the manifest`,
    );
}

/** Milliseconds that an ingress process serves on without a server. */
const ALONE = 10 * 60_000;

/**
 * In production the ingress is a process of its own, which outlives this one: apps are reached while the server starts
 * again. Elsewhere it lives and ends with the server. `HOSTING_INGRESS` (`process` or `inline`) says otherwise.
 */
function chooseIngress(
  { settings, project, now, root, log }: Kernel,
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
  if (kind === 'inline') return createIngress({ ...listen, now });
  return createRemoteIngress({
    ...{ ...listen, log },
    stateFile: join(root, 'data/ingress.json'),
    alone: ALONE,
    outlives: true,
  });
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
