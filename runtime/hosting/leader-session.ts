import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostingModel } from '@twofold/schema';
import { bindFlows, type BoundRoute, type Handler } from '@twofold/runtime/http';
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
import { FIGURES } from './flows/figures.ts';
import { hostingFlows } from './flows/index.ts';
import { asFullDisk } from './full-disk.ts';
import type { Leader } from './leader.ts';
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
import type { Seal } from './records/seal.ts';
import { createMoves, type Moves } from './moves/moves.ts';
import { createPreviews } from './previews/previews.ts';
import type { OnStep } from './deploy/steps.ts';
import { createRuns, type Runs } from './runs/create-runs.ts';
import { removeLeftovers } from './source/leftovers.ts';
import { createStatsReader } from './stats.ts';
import type { Template } from './templates/template.ts';
import { createTerminals } from './terminals/terminals.ts';

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
  const made = { templates, terminals, notifications, runs, previews, backups, moves };
  const leader = createLeader(kernel, core, made);
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
    answer: answerOf([
      ...bindFlows([...hostingFlows, FIGURES], leader),
      ...parts.flatMap(({ flows }, at) => bindFlows(flows, works[at]?.state)),
    ]),
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

/** Runs the flow of a call: one of hosting, or of a part that works inside hosting. */
function answerOf(routes: readonly BoundRoute[]): Handler {
  const handlers = new Map(routes.map(({ spec, handle }) => [spec.id, handle]));
  return async (call) => {
    try {
      return await handlers.get(call.route.id)!(call);
    } catch (error) {
      return asFullDisk(error);
    }
  };
}

type Made = Pick<
  Leader,
  'templates' | 'terminals' | 'notifications' | 'runs' | 'previews' | 'backups' | 'moves'
>;

/** Puts together what flows use. */
function createLeader(kernel: Kernel, core: WholeCore, made: Made): Leader {
  const { addressOf, model } = core;
  const { moves, backups } = made;
  const buildLogs = createBuildLogs();
  const uploads = createKeptUploads(join(kernel.root, 'data', 'uploads'));
  const builder = createImageBuilder(core, buildLogs);
  return {
    ...core,
    ...made,
    ...{ store: kernel.store, audit: kernel.audit, ownHost: core.entry.host, buildLogs },
    shown: { addressOf, port: model.defaults.port },
    sources: createSourceDeploys(core, builder, buildLogs, uploads),
    deployer: createDeployer(core),
    lifecycle: withUploads(withMoves(withBackups(createLifecycle(core), backups), moves), uploads),
    stats: createStatsReader(core),
    serverInfo: createServerInfo(kernel),
    ...{ pushes: new Map(), composing: new Set() },
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
