import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hostingRoutes, type HostingModel } from '@twofold/schema';
import { bindRoutes } from '../http/route.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { createAuditLog } from './audit.ts';
import type { Core } from './core.ts';
import { instanceLabels, networkName, type Reach } from './deploy/containers.ts';
import { createBuildLogs } from './deploy/build-logs.ts';
import { createBuilder } from './deploy/builder.ts';
import { createDeployer } from './deploy/deployer.ts';
import { createLifecycle } from './deploy/lifecycle.ts';
import { createOperations } from './deploy/operations.ts';
import { createHealthWatch } from './deploy/health-watch.ts';
import { createPulse } from './deploy/pulse.ts';
import { createReconciler } from './deploy/reconciler.ts';
import { createSourceDeploys } from './deploy/source-deploys.ts';
import { createSupervisor } from './deploy/supervisor.ts';
import { connectEngine } from './engine/connect.ts';
import { createConnection } from './engine/connection.ts';
import { createEventHub } from './events.ts';
import { createIngress } from './ingress/ingress.ts';
import { createAppBook } from './records/app-book.ts';
import { createDeploymentBook } from './records/deployment-book.ts';
import { hostingMigrations } from './records/migrations.ts';
import { createSeal, type Seal } from './records/seal.ts';
import { sealingSecrets } from './records/sealing-secrets.ts';
import { createVault } from './records/vault.ts';
import { appHandlers } from './routes/apps.ts';
import { guarded } from './routes/bind.ts';
import { certificateHandlers } from './routes/certificates.ts';
import { deploymentHandlers } from './routes/deployments.ts';
import { logHandlers } from './routes/logs.ts';
import { runtimeHandlers } from './routes/runtime.ts';
import { sourceHandlers, type SourceParts } from './routes/sources.ts';
import { systemHandlers } from './routes/system.ts';
import { templateHandlers } from './routes/templates.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import { createStatsReader } from './stats.ts';
import { createCertificates } from './tls/certificates.ts';
import { loadTemplates } from './templates/templates.ts';

export interface HostingOptions {
  readonly kernel: Kernel;
  readonly model: HostingModel;
}

/** Milliseconds that running requests have when the server stops. */
const CLOSE = 10_000;
const VERSION = '0.1.0';

/**
 * The container app hosting API: apps, deployments, the way in to them, and what keeps them running.
 *
 * @throws ConfigError when a template of the project's own is wrong.
 * @example
 * const hosting = await createHosting({ kernel, model: project.hosting });
 */
export async function createHosting({ kernel, model }: HostingOptions): Promise<ServerModule> {
  const { store, now, root, log } = kernel;
  const startedAt = now();
  const templates = await loadTemplates(join(root, model.templates));
  const seal = createSeal(sealingSecrets(kernel.settings, root));
  const core = createCore(kernel, { model, seal, apps: createAppBook({ store, seal, now }) });
  const audit = createAuditLog({ store, now });
  const supervisor = createSupervisor(core);
  const reconciler = createReconciler(core, supervisor);
  const pulse = createPulse(core, supervisor.onDeath);
  const health = createHealthWatch(core, async (app, id, detail) => {
    log.warn(`${app.name} is not well and is started again: ${detail}`);
    await core.connection.engine().stop(id, 5);
    supervisor.onDeath(app, id);
  });
  core.wire({ onConnect: () => reconciler.recover(), onEvent: (event) => supervisor.onEvent(event) });
  const buildLogs = createBuildLogs();
  const parts: SourceParts = {
    ...{ core, model, buildLogs, deployer: createDeployer(core), lifecycle: createLifecycle(core), addressOf: core.addressOf },
    sources: createSourceDeploys(core, createBuilder(core, buildLogs), buildLogs),
    vault: core.vault,
  };
  const handlers = {
    ...appHandlers(parts),
    ...deploymentHandlers(parts),
    ...sourceHandlers(parts),
    ...webhookHandlers(parts, { store, audit }),
    ...certificateHandlers(core, core.certificates),
    ...logHandlers(core),
    ...runtimeHandlers(core, createStatsReader(core)),
    ...templateHandlers(parts, templates),
    ...systemHandlers({ core, model, audit, root, startedAt, ports: core.ports, templates: () => templates.size, pruneRecords: async () => 0 }),
  };
  core.apps.onChange(() => core.certificates.wake());
  core.apps.onChange((app) => core.events.emit('app', { app: app.name, status: app.status, deployment: app.deployment }));

  return {
    name: 'hosting',
    migrations: hostingMigrations,
    routes: bindRoutes(hostingRoutes, guarded(handlers, audit)),
    async health() {
      const connected = await core.connection.connected();
      const engine = core.connection.info()?.kind ?? null;
      return { podman: connected ? 'connected' : 'disconnected', engine, version: VERSION, timestamp: new Date(now()).toISOString() };
    },
    async start() {
      await core.nameInstance(store);
      await core.apps.load();
      await core.certificates.load();
      await core.listen();
      await core.connection.start();
      reconciler.start();
      pulse.start();
      health.start();
      core.certificates.start();
      log.info(`hosting apps at *.${model.domain}, port ${core.ports().http}`);
    },
    async stop() {
      await Promise.all([pulse.stop(), health.stop(), core.certificates.stop()]);
      await reconciler.stop();
      await supervisor.stop();
      await core.operations.stop();
      await core.ingress.close(CLOSE);
      if (core.apps.all().length === 0 && core.connection.info()) await core.connection.engine().removeNetwork(networkName(core.naming)).catch(() => {});
      await core.connection.stop();
    },
  };
}

interface Wiring {
  readonly onConnect: () => Promise<void>;
  readonly onEvent: Parameters<typeof createConnection>[0]['onEvent'];
}

/** The shared parts. What refers back to them is wired in afterwards. */
function createCore(kernel: Kernel, { model, seal, apps }: { readonly model: HostingModel; readonly seal: Seal; readonly apps: Core['apps'] }) {
  const { store, now, log, settings, project } = kernel;
  const naming = { instance: '' };
  const operations = createOperations();
  const vault = createVault(store, seal);
  const hosts = () => apps.all().flatMap(({ spec }) => [spec.domain, ...spec.aliases]);
  const certificates = createCertificates({ ...{ store, seal, vault, log, now, hosts }, acme: model.ingress.acme });
  const ingress = createIngress({
    ...{ ...model.ingress, host: settings.text('HOST', project.server.host), now },
    certificate: certificates.find,
    challenge: certificates.challenge,
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
    ...{ model, naming, apps, deployments: createDeploymentBook({ store, now }), connection, ingress, operations, certificates, vault },
    ...{ events: createEventHub(now), log, now, leaving: new Set<string>() },
    wire: (given: Wiring) => void (wiring = given),
    ports: () => ports,
    addressOf(domain: string) {
      const secure = ports.https !== null && certificates.has(domain);
      const [scheme, port, usual] = secure ? ['https', ports.https, 443] : ['http', ports.http, 80];
      return `${scheme}://${domain}${port === null || port === usual ? '' : `:${port}`}`;
    },
    async nameInstance(from: Kernel['store']) {
      naming.instance = await instanceOf(from);
    },
    async listen() {
      ports = await ingress.listen();
      if (ports.http === null) log.error(`the ingress cannot listen on port ${model.ingress.http}: apps cannot be reached`);
      if (ports.https === null) log.warn(`the ingress cannot listen on port ${model.ingress.https}: there is no TLS`);
    },
  };
}

function reachOf(text: string | undefined): Reach | null {
  return text === 'address' || text === 'port' ? text : null;
}

/** The installation's id, made once: of two servers that start at the same time on a new database, one makes it. */
async function instanceOf({ db }: Kernel['store']): Promise<string> {
  const row = { key: 'instance', value: randomBytes(4).toString('hex') };
  await db.insertInto('hosting_settings').values(row).onConflict((conflict) => conflict.doNothing()).execute();
  const { value } = await db.selectFrom('hosting_settings').select('value').where('key', '=', 'instance').executeTakeFirstOrThrow();
  return value;
}
