import { join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { createServerInfo, type Kernel, type RevalidateCaller } from '@twofold/runtime/kernel';
import type { ApiEntry } from './api-entry.ts';
import { createBackups } from './backups/backups.ts';
import type { Core } from './host/core.ts';
import { createBuildLogs } from './deploy/build-logs.ts';
import { createImageBuilder } from './deploy/builder.ts';
import { instanceLabels, networkName } from './host/containers.ts';
import { createDeployer } from './deploy/deployer.ts';
import { createKeptUploads } from './deploy/kept-uploads.ts';
import { createLifecycle, type Lifecycle } from './deploy/lifecycle.ts';
import { createOperations } from './host/operations.ts';
import { createRetries } from './host/retries.ts';
import { createSourceDeploys } from './deploy/source-deploys.ts';
import type { OnStep } from './host/steps.ts';
import { connectEngine } from './engine/connect.ts';
import { createConnection } from './engine/connection.ts';
import { createEventHub, type EventHub } from './host/events.ts';
import { accessLogOf, chooseIngress, createFront, oneOf } from './front.ts';
import { createMoves } from './moves/moves.ts';
import { createNotifications } from './notifications/notifications.ts';
import { createPreviews } from './previews/previews.ts';
import { type AppRepository, createAppRepository } from './records/app-repository.ts';
import type { GitSource } from './records/app.ts';
import { createDeploymentRepository } from './records/deployment-repository.ts';
import { domainsOf } from './records/domains.ts';
import { parsePortRange } from './records/ports.ts';
import type { Seal } from './records/seal.ts';
import { createVault } from './records/settings-table.ts';
import { createRegistries } from './registries/registries.ts';
import { createRuns } from './runs/runs.ts';
import { createDeployKeys } from './ssh/deploy-keys.ts';
import { createHostKeys } from './ssh/host-keys.ts';
import { createStatsReader } from './host/stats.ts';
import type { Template } from './templates/templates.ts';
import { createTerminals } from './terminals/terminals.ts';
import { externalAccountOf } from './tls/acme.ts';
import { createCertificates } from './tls/certificates.ts';

/** What a leader is made of. */
export interface LeaderOptions {
  readonly model: HostingModel;
  readonly seal: Seal;
  readonly templates: ReadonlyMap<string, Template>;
  readonly onStep: OnStep;
  readonly movePatience: number;
  readonly entry: ApiEntry;
  readonly revalidate: () => RevalidateCaller | null;
}

/** The objects of the process that operates the apps. A flow takes those that it uses. */
export type Leader = ReturnType<typeof createLeader>;

/** Makes them, each from those before it. */
export function createLeader(kernel: Kernel, options: LeaderOptions) {
  const { store, now, audit, root, settings } = kernel;
  const { model, seal, templates, entry, movePatience: patience } = options;
  const events = createEventHub(now);
  const vault = createVault(store, seal);
  const core = createCore(kernel, options, events);
  const { apps, ingress } = core;
  const certificates = createCertificates({
    store,
    seal,
    vault,
    ingress,
    now,
    log: core.log,
    hosts: () => certifiedHosts(apps, entry),
    onOutcome: (host, error) => tellOutcome({ apps, events }, host, error),
    acme: { ...model.ingress.acme, externalAccount: externalAccountOf(settings) },
  });
  const front = createFront(kernel, { model, apps, ingress, entry, certificates });
  const deployKeys = createDeployKeys(vault);
  const buildLogs = createBuildLogs();
  const uploads = createKeptUploads(join(root, 'data', 'uploads'));
  const runs = createRuns(core, store);
  const deployer = createDeployer(core, runs.runner);
  const ended = createLifecycle(core, runs.runner);
  const backups = createBackups(kernel, { ...core, seal, deployer, lifecycle: ended });
  const lifecycle: Lifecycle = {
    ...ended,
    /** A backup that runs holds the volumes of its app, and so does a move. */
    async remove(app, asked) {
      moves.departures.end(app);
      await backups.cancel(app);
      await ended.remove(app, asked);
      await uploads.forget(app.id);
    },
  };
  const moves = createMoves({
    ...core,
    vault,
    certificates,
    deployKeys,
    deployer,
    lifecycle,
    runs: runs.runner,
    targets: backups.parts.targets,
    patience,
  });
  return {
    ...core,
    ...front,
    store,
    audit,
    events,
    vault,
    certificates,
    deployKeys,
    templates,
    buildLogs,
    deployer,
    lifecycle,
    runs,
    backups,
    moves,
    sources: createSourceDeploys(core, createImageBuilder(core, buildLogs), buildLogs, uploads),
    previews: createPreviews(core, lifecycle),
    notifications: createNotifications(kernel, seal),
    terminals: createTerminals({ ...options, core, audit, appUrl: settings.text('APP_URL') }),
    stats: createStatsReader(core),
    serverInfo: createServerInfo(kernel),
    /** The host of `APP_URL`, if the ingress serves it. */
    ownHost: entry.host,
    accessLog: accessLogOf(kernel, model),
    /** What the view of an app needs of the server. */
    shown: { addressOf: front.addressOf, port: model.defaults.port },
    /** Pushes that wait for a running deployment, by the id of the app. */
    pushes: new Map<string, GitSource>(),
    /** The projects whose compose files are being applied. */
    composing: new Set<string>(),
  };
}

/** What every part works on: the records of the apps, their engine and the ingress to them. */
function createCore(kernel: Kernel, options: LeaderOptions, events: EventHub): Core {
  const { store, now, log, settings, project } = kernel;
  const { model, seal, onStep } = options;
  const naming = { instance: '' };
  oneOf(kernel, 'HOSTING_LOGS', ['file', 'stream']);
  // Asked here, so that it is listed among the settings.
  settings.text('DOCKER_CONFIG');
  return {
    model,
    naming,
    events,
    log,
    now,
    onStep,
    apps: createAppRepository({
      store,
      seal,
      now,
      appUrl: settings.text('APP_URL'),
      range: parsePortRange(model.ingress.ports),
      host: settings.text('HOST', project.server.host),
    }),
    deployments: createDeploymentRepository(store, now),
    connection: createConnection({
      connect: () => connectEngine(model.engine, settings.env),
      labels: () => instanceLabels({ naming }),
      network: () => networkName({ naming }),
      reach: oneOf(kernel, 'HOSTING_REACH', ['address', 'port']) ?? null,
      log,
    }),
    ingress: chooseIngress(kernel, model),
    registries: createRegistries({ store, seal, env: settings.env, log, now }),
    hostKeys: createHostKeys(store, now),
    operations: createOperations(),
    leaving: new Set(),
    processes: new Map(),
    oldImages: createRetries(now),
  };
}

/** The server that an app has moved to asks for its certificates. */
const certifiedHosts = (apps: AppRepository, { host }: ApiEntry): string[] =>
  [host ?? []].flat().concat(apps.all().flatMap(({ spec }) => (spec.moved ? [] : domainsOf(spec))));

/** The host of `APP_URL` belongs to no app. */
function tellOutcome(
  { apps, events }: Pick<Core, 'apps' | 'events'>,
  host: string,
  error: Error | null,
): void {
  const app = apps.all().find(({ spec }) => [spec.domain, ...spec.aliases].includes(host));
  events.emit('certificate', {
    host,
    app: app?.name ?? null,
    status: error ? 'failed' : 'issued',
    ...(error && { error: error.message }),
  });
}
