import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostingModel } from '@twofold/schema';
import { createServerInfo, type Kernel, type RevalidateCaller } from '@twofold/runtime/kernel';
import type { ApiEntry } from './api-entry.ts';
import { createBackupsOf } from './backups/create-backups.ts';
import type { Backups } from './backups/backups.ts';
import type { HostedPart, HostedWork } from './hosted-part.ts';
import { createCore } from './create-core.ts';
import { createBuildLogs } from './deploy/build-logs.ts';
import { createImageBuilder } from './deploy/builder.ts';
import { instanceLabels, networkName } from './deploy/containers.ts';
import { createDeployer } from './deploy/deployer.ts';
import { createLifecycle, type Lifecycle } from './deploy/lifecycle.ts';
import { createHealthWatch } from './deploy/health-watch.ts';
import { createLivenessPoll } from './deploy/liveness-poll.ts';
import { createKeptUploads, type KeptUploads } from './deploy/kept-uploads.ts';
import { createReconciler, failUnfinished } from './deploy/reconciler.ts';
import { createSourceDeploys } from './deploy/source-deploys.ts';
import { createSupervisor } from './deploy/supervisor.ts';
import type { Listening } from './ingress/listeners.ts';
import { createAppRepository } from './records/app-repository.ts';
import { createNotifications, type Notifications } from './notifications/notifications.ts';
import { watchCore } from './notifications/watch.ts';
import type { LeaderSession } from './operator/operator.ts';
import { parsePortRange } from './records/ports.ts';
import { pruneRecords } from './records/prune.ts';
import type { Seal } from './records/seal.ts';
import { appHandlers } from './routes/apps.ts';
import { sayingFullDisk } from './routes/bind.ts';
import { backupHandlers } from './routes/backups.ts';
import { certificateHandlers } from './routes/certificates.ts';
import { composeHandlers } from './routes/compose.ts';
import { deploymentHandlers } from './routes/deployments.ts';
import { logHandlers } from './routes/logs.ts';
import { notificationHandlers } from './routes/notifications.ts';
import { deployKeyHandlers } from './routes/deploy-keys.ts';
import { createMoves, type Moves } from './moves/moves.ts';
import { moveHandlers } from './routes/moves.ts';
import { createPreviews, type Previews } from './previews/previews.ts';
import { previewHandlers } from './routes/previews.ts';
import { registryHandlers } from './routes/registries.ts';
import { projectHandlers } from './routes/projects.ts';
import { requestHandlers } from './routes/requests.ts';
import { runHandlers } from './routes/runs.ts';
import { runtimeHandlers } from './routes/runtime.ts';
import { settingHandlers } from './routes/settings.ts';
import type { SourceParts } from './routes/git-deploys.ts';
import { sourceHandlers } from './routes/sources.ts';
import { systemHandlers } from './routes/system.ts';
import { templateHandlers } from './routes/templates.ts';
import { terminalHandlers } from './routes/terminals.ts';
import { volumeHandlers } from './routes/volumes.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import type { OnStep } from './runs/steps.ts';
import { createRuns, type Runs } from './runs/create-runs.ts';
import { removeLeftovers } from './source/leftovers.ts';
import { createStatsReader } from './stats.ts';
import type { Template } from './templates/template.ts';
import { createTerminals, type Terminals } from './terminals/terminals.ts';

/** Milliseconds in which running requests can finish when the server stops. */
const CLOSE_TIMEOUT = 5000;
/** Milliseconds in which messages that are due can be sent when the server stops. */
const NOTIFY_TIMEOUT = 5000;
/** Milliseconds after which the ingress listens even if the engine's state is not known. */
const ENGINE_TIMEOUT = 7000;

interface LeaderSessionParts {
  readonly model: HostingModel;
  readonly seal: Seal;
  readonly templates: ReadonlyMap<string, Template>;
  readonly parts: readonly HostedPart[];
  readonly onStep: OnStep;
  readonly movePatience: number;
  readonly entry: ApiEntry;
  readonly revalidate: () => RevalidateCaller | null;
}

/**
 * Everything that operates the apps while this process is the leader. Each time the process becomes
 * the leader, a new session is created, so that no state of an earlier session is left.
 */
export function createLeaderSession(kernel: Kernel, given: LeaderSessionParts): LeaderSession {
  const { model, seal, templates, parts, onStep, entry, revalidate } = given;
  const { store, now, settings } = kernel;
  const core = createCore(kernel, {
    model,
    seal,
    apps: createAppRepository({
      ...{ store, seal, now, appUrl: settings.text('APP_URL') },
      range: parsePortRange(model.ingress.ports),
      host: settings.text('HOST', kernel.project.server.host),
    }),
    ...{ onStep, entry },
  });
  const works = parts.map(({ hosted }) =>
    hosted.createWork({ kernel, model, events: core.events }),
  );
  core.apps.onChange(() => core.certificates.wake());
  core.apps.onChange((app) =>
    core.events.emit('app', { app: app.name, status: app.status, deployment: app.deployment }),
  );
  const appUrl = settings.text('APP_URL');
  const terminals = createTerminals({ core, audit: kernel.audit, appUrl, revalidate });
  const notifications = createNotifications(kernel, seal);
  const runs = createRuns(core, store);
  const previews = createPreviews(core, createLifecycle(core));
  const backups = createBackupsOf(kernel, core, seal);
  const moves = createMovesOf(core, backups, given.movePatience);
  const work = createWork(kernel, core, {
    ...{ works: [...works, previews], notifications, runs, backups, moves },
  });
  return {
    ...work,
    async end() {
      terminals.close();
      await work.end();
    },
    upgrade: terminals.accept,
    leave: terminals.close,
    routeApi: () => entry.route(core.ingress),
    retire: () => entry.retire(core.ingress),
    handlers: {
      ...sayingFullDisk(
        createHandlers(kernel, core, {
          ...{ templates, terminals, notifications, runs, previews, backups, moves },
        }),
      ),
      ...Object.assign({}, ...works.map(({ handlers }) => handlers)),
    },
    engineState: core.engineState,
    ingressState: () => ingressState(core.ports()),
  };
}

/** For `/api/health`: whether both ports of the ingress are open. */
export const ingressState = ({ http, https }: Pick<Listening, 'http' | 'https'>) =>
  http !== null && https !== null ? 'listening' : 'unavailable';

type WholeCore = ReturnType<typeof createCore>;

interface WorkParts {
  readonly works: readonly Pick<HostedWork, 'start' | 'stop'>[];
  readonly notifications: Notifications;
  readonly runs: Runs;
  readonly backups: Backups;
  readonly moves: Moves;
}

/** The background work of the leader. */
function createWork(
  { log, store }: Kernel,
  core: WholeCore,
  { works, notifications, runs, backups, moves }: WorkParts,
): Pick<LeaderSession, 'begin' | 'end'> {
  const supervisor = createSupervisor(core);
  const reconciler = createReconciler(core, supervisor);
  const livenessPoll = createLivenessPoll(core, supervisor.onDeath);
  const health = createHealthWatch(core, (app, id, detail) => {
    log.warn(`${app.name} failed its health check and is restarted: ${detail}`);
    supervisor.onSick(app, id, `Its health check failed: ${detail}`);
  });
  const watch = watchCore(core, notifications);
  core.wire({
    async onConnect() {
      await runs.runner.recover();
      await reconciler.recover();
    },
    onEvent(event) {
      supervisor.onEvent(event);
      runs.runner.onEvent(event);
    },
    ...runs.hooks,
  });
  return {
    async begin() {
      for (const first of [removeLeftovers, backups.adopt]) await first();
      await core.nameInstance(store);
      await core.apps.load();
      await failUnfinished(core);
      await backups.recover();
      await moves.recover();
      await core.ingress.attach();
      await core.certificates.load();
      // An app that takes long to start must not delay the other apps and the API.
      await Promise.race([
        core.connection.start(),
        sleep(ENGINE_TIMEOUT, undefined, { ref: false }),
      ]);
      await core.listen();
      notifications.start();
      for (const part of [runs.runner, runs.schedules]) part.start();
      for (const part of [
        reconciler,
        livenessPoll,
        health,
        core.certificates,
        watch,
        backups,
        moves,
      ])
        part.start();
      for (const work of works) await work.start();
      log.info(`hosting apps at *.${core.model.domain}, port ${core.ports().http ?? 'not open'}`);
    },
    async end() {
      await Promise.all([
        livenessPoll.stop(),
        health.stop(),
        watch.stop(),
        backups.stop(),
        moves.stop(),
        core.certificates.stop(),
        reconciler.stop(),
        supervisor.stop(),
        runs.schedules.stop(),
      ]);
      await Promise.all([core.operations.stop(), ...works.map((work) => work.stop())]);
      await runs.runner.end();
      await notifications.stop(NOTIFY_TIMEOUT);
      await core.ingress.close(CLOSE_TIMEOUT);
      await removeUnusedNetwork(core);
      await core.connection.stop();
    },
  };
}

/** Without apps the network is not needed, and engines have a limited number of networks. */
async function removeUnusedNetwork({ apps, connection, naming }: WholeCore): Promise<void> {
  if (apps.all().length > 0 || !connection.info()) return;
  await connection
    .engine()
    .removeNetwork(networkName(naming), instanceLabels(naming))
    .catch(() => {});
}

interface HandlerParts extends Pick<LeaderSessionParts, 'templates'> {
  readonly terminals: Terminals;
  readonly notifications: Notifications;
  readonly runs: Runs;
  readonly previews: Previews;
  readonly backups: Backups;
  readonly moves: Moves;
}

function createHandlers(kernel: Kernel, core: WholeCore, given: HandlerParts) {
  const { templates, terminals, notifications, runs, previews, backups, moves } = given;
  const { store, now, audit } = kernel;
  const { model, vault, addressOf, certificates } = core;
  const buildLogs = createBuildLogs();
  const uploads = createKeptUploads(join(kernel.root, 'data', 'uploads'));
  const builder = createImageBuilder(core, buildLogs);
  const sources = createSourceDeploys(core, builder, buildLogs, uploads);
  const parts: SourceParts = {
    core,
    model,
    buildLogs,
    sources,
    vault,
    addressOf,
    targets: backups.parts.targets,
    deployer: createDeployer(core),
    lifecycle: withUploads(withMoves(withBackups(createLifecycle(core), backups), moves), uploads),
  };
  return {
    ...appHandlers(parts),
    ...settingHandlers(parts),
    ...deploymentHandlers(parts),
    ...sourceHandlers(parts),
    ...webhookHandlers(parts, { store, audit, previews }),
    ...certificateHandlers(core, certificates, core.entry.host),
    ...notificationHandlers(notifications, now),
    ...registryHandlers(core),
    ...previewHandlers(parts, previews),
    ...deployKeyHandlers(core),
    ...projectHandlers(parts),
    ...composeHandlers({ ...parts, runs }),
    ...backupHandlers(core, backups),
    ...moveHandlers(moves),
    ...requestHandlers(core, core.accessLog),
    ...logHandlers(core),
    ...runtimeHandlers(core, createStatsReader(core)),
    ...terminalHandlers(core, terminals),
    ...runHandlers({ core, ...runs }),
    ...volumeHandlers(core),
    ...templateHandlers(parts, templates),
    ...systemHandlers({
      core,
      model,
      info: createServerInfo(kernel),
      ports: core.ports,
      templates: () => templates.size,
      pruneRecords: async () =>
        (await pruneRecords(store, { now: now(), keep: model.deploys.keep })) +
        ((await audit?.prune()) ?? 0),
    }),
  };
}

function withMoves(lifecycle: Lifecycle, { departures }: Moves): Lifecycle {
  return {
    ...lifecycle,
    async remove(app, options) {
      departures.end(app);
      await lifecycle.remove(app, options);
    },
  };
}

function withUploads(lifecycle: Lifecycle, uploads: KeptUploads): Lifecycle {
  return {
    ...lifecycle,
    async remove(app, options) {
      await lifecycle.remove(app, options);
      await uploads.forget(app.id);
    },
  };
}

function createMovesOf(core: WholeCore, backups: Backups, patience: number): Moves {
  return createMoves({
    ...{ core, vault: core.vault },
    ...{ certificates: core.certificates, ports: core.ports, patience },
    targets: backups.parts.targets,
    ...{ deployer: createDeployer(core), lifecycle: withBackups(createLifecycle(core), backups) },
  });
}

/** A backup that runs holds the volumes of its app, so it is ended before the app is deleted. */
function withBackups(lifecycle: Lifecycle, backups: Backups): Lifecycle {
  return {
    ...lifecycle,
    async remove(app, options) {
      await backups.cancel(app);
      await lifecycle.remove(app, options);
    },
  };
}
