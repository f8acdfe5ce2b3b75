import { createSemaphore } from '@twofold/runtime/kernel';
import type { Core } from '../host/core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';
import { createLoop } from '../host/loop.ts';
import { deploymentOf, instanceLabels, isRun, LABELS, processOf } from '../host/containers.ts';
import { forgetOldImagesOfAll, suspectOldImages } from './kept-images.ts';
import { ensureReplicas } from './lifecycle.ts';
import { repairNetworks } from './project-networks.ts';
import { retire } from './replicas.ts';
import { idleRoute, currentTargets, servingRoute } from './rollout.ts';
import { slotsOf } from './slots.ts';
import { REMOVED, type AppSupervisor } from './supervisor.ts';

/** Makes the containers on the engine match the apps in the database. */
export interface Reconciler {
  /** Repairs what an unclean stop of the engine or the server has left, then compares everything. */
  recover(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const RESYNC = 30_000;
/**
 * Milliseconds after which an app that was busy or failed is tried again. The pause doubles with
 * each further attempt.
 */
const FIRST_RETRY = 1000;
const MAX_PARALLEL = 4;

/** @param every Milliseconds between two comparisons. */
export function createReconciler(
  core: Core,
  supervisor: AppSupervisor,
  every = RESYNC,
): Reconciler {
  const warn = (error: Error) => core.log.warn(`resync: ${error.message}`);
  /** How many times in a row at least one app was busy or failed. */
  let misses = 0;
  let next = core.now() + every;

  const look = async (recovering: boolean) => {
    misses += 1;
    next = Infinity;
    try {
      if (await resync(core, supervisor, recovering)) misses = 0;
    } finally {
      next = core.now() + (misses === 0 ? every : Math.min(every, FIRST_RETRY * 2 ** (misses - 1)));
    }
  };

  const loop = createLoop({
    pause: () => Math.min(every, FIRST_RETRY),
    async work() {
      if (core.connection.info() === null) return;
      if (core.now() >= next) await look(false).catch(warn);
      await forgetOldImagesOfAll(core);
    },
    onError: warn,
  });

  return {
    async recover() {
      supervisor.forgive();
      // A deployment that was interrupted has tagged an image that no container runs.
      suspectOldImages(core);
      misses = 0;
      await look(true);
      await forgetOldImagesOfAll(core);
    },
    start: loop.start,
    stop: loop.stop,
  };
}

/** Compares all apps with their containers. @returns false when one has to be tried again. */
async function resync(
  core: Core,
  supervisor: AppSupervisor,
  recovering: boolean,
): Promise<boolean> {
  await core.apps.load();
  if (recovering) await repairNetworks(core);
  const containers = await core.connection.engine().list(instanceLabels(core));
  const replicas = containers.filter(
    (each) =>
      each.labels[LABELS.task] === undefined &&
      (!isRun(each) || !core.apps.byId(each.labels[LABELS.app] ?? '')),
  );
  const byApp = Map.groupBy(replicas, (container) => container.labels[LABELS.app] ?? '');
  const semaphore = createSemaphore(MAX_PARALLEL);
  const results = await Promise.all(
    core.apps.all().map(({ id }) => {
      const listed = byApp.get(id) ?? [];
      return semaphore.run(() => reconcile(core, supervisor, { id, listed, recovering }));
    }),
  );
  for (const [appId, orphans] of byApp) if (!core.apps.byId(appId)) await removeAll(core, orphans);
  return !results.includes(false);
}

/**
 * Ends deployments that a stopped server has left. One that already serves its app stays valid. The
 * records alone decide, so it is done before any call is answered, whether or not the engine is
 * there: a deployment that has begun since is never taken for one that was left.
 */
export async function failUnfinished(core: Core): Promise<void> {
  const finished_at = new Date(core.now()).toISOString();
  for (const deployment of await core.deployments.unfinished()) {
    const app = core.apps.byId(deployment.app_id);
    const stands = app?.deployment === deployment.number;
    await core.deployments.update(
      deployment,
      stands
        ? { status: 'healthy', finished_at }
        : { status: 'failed', reason: 'The server stopped during this deployment', finished_at },
    );
  }
  for (const app of core.apps.all()) {
    if (app.deployment !== null) await core.deployments.supersede(app.id, app.deployment);
    if (app.status !== 'building' && app.status !== 'deploying') continue;
    const error = 'The server stopped during a deployment';
    await core.apps.update(
      app.id,
      app.deployment === null
        ? { status: 'failed', error }
        : { status: app.desired === 'running' ? 'restarting' : 'stopped' },
    );
  }
}

interface ListedApp {
  readonly id: string;
  readonly listed: readonly EngineContainer[];
  /** The server or the engine was away. Containers that ended meanwhile do not count as crashes. */
  readonly recovering: boolean;
}

/** An app that should run, with the containers of its deployment. */
interface AppToRun {
  readonly app: HostedApp;
  readonly present: readonly EngineContainer[];
  readonly signal: AbortSignal;
  readonly recovering: boolean;
}

/**
 * @returns false when another operation runs on the app, or when it failed: it has to be tried
 * again.
 */
async function reconcile(
  core: Core,
  supervisor: AppSupervisor,
  { id, listed, recovering }: ListedApp,
): Promise<boolean> {
  return core.operations
    .tryRun(id, 'reconcile', async (signal) => {
      const app = core.apps.byId(id);
      if (!app) return;
      const ours = listed.filter((container) => !core.leaving.has(container.id));
      const current = ours.filter((container) => deploymentOf(container) === app.deployment);
      const old = ours.filter((container) => !current.includes(container));
      const serves = app.deployment !== null && app.desired !== 'stopped';
      const finishing = serves ? old.filter((container) => mayHaveRequests(app, container)) : [];
      await removeAll(
        core,
        old.filter((container) => !finishing.includes(container)),
      );
      if (!serves) return keepStopped(core, app, current);
      await keepRunning(core, supervisor, { app, present: current, signal, recovering });
      finishOld(core, finishing);
    })
    .catch((error: Error) => {
      core.log.warn(`resync: ${error.message}`);
      return false;
    });
}

async function keepStopped(
  core: Core,
  app: HostedApp,
  current: readonly EngineContainer[],
): Promise<void> {
  core.ingress.set(idleRoute(app, 'stopped'));
  for (const container of current)
    if (container.state === 'running') await core.connection.engine().stop(container.id, 10);
}

async function keepRunning(core: Core, supervisor: AppSupervisor, seen: AppToRun): Promise<void> {
  const { app, present, recovering } = seen;
  // The supervisor counts the ends and waits between its attempts.
  if (supervisor.handles(app.id)) return;
  const dead = present.filter(({ state }) => state !== 'running');
  // The server and the engine were running, so this was a crash that no event has reported.
  if (!recovering && dead.length > 0) return dead.forEach(({ id }) => supervisor.onDeath(app, id));
  const deployment = await core.deployments.serving(app);
  const count = slotsOf(deployment).length;
  const running = present.filter(({ state }) => state === 'running');
  const trusted = app.status === 'running' ? running : [];
  const targets = await currentTargets(core, trusted, deployment.port);
  core.ingress.set(targets.length > 0 ? servingRoute(app, targets) : idleRoute(app, 'holding'));
  for (const each of trusted) if (processOf(each) !== null) core.processes.set(each.id, app.id);
  if (trusted.length >= count) return;
  const removed = present.length < count ? { error: REMOVED } : {};
  if (targets.length === 0) await core.apps.update(app.id, { status: 'restarting', ...removed });
  await startMissing(core, supervisor, seen, removed);
}

/** Starts the missing replicas. The supervisor handles those that fail. */
async function startMissing(
  core: Core,
  supervisor: AppSupervisor,
  { app, signal }: AppToRun,
  removed: { readonly error?: string },
): Promise<void> {
  const { targets, failed } = await ensureReplicas(core, app, signal, {
    ask: app.status !== 'running',
  });
  // Another operation has taken over the app.
  if (signal.aborted) return;
  core.ingress.set(targets.length > 0 ? servingRoute(app, targets) : idleRoute(app, 'holding'));
  await core.apps.update(app.id, {
    ...(targets.length > 0 && { status: 'running' }),
    ...removed,
  });
  for (const id of failed) {
    await core.connection.engine().stop(id, 1);
    supervisor.onDeath(app, id);
  }
}

/**
 * A server that has ended during a deployment may have left requests on the containers that served
 * before. Those of an attempt that did not come so far have none. An app with volumes never has
 * two: two processes must not use the same files.
 */
function mayHaveRequests(app: HostedApp, container: EngineContainer): boolean {
  if (app.spec.volumes.length > 0 || container.state !== 'running') return false;
  return app.deployment !== null && deploymentOf(container) < app.deployment;
}

/** Does not wait: the app serves without them, and they may have requests for as long as `drain`. */
function finishOld(core: Core, containers: readonly EngineContainer[]): void {
  const left = containers.filter(({ id }) => !core.leaving.has(id));
  if (left.length === 0) return;
  retire(core, left).catch((error: Error) => core.log.warn(`old containers: ${error.message}`));
}

async function removeAll(core: Core, containers: readonly EngineContainer[]): Promise<void> {
  const left = containers.filter(({ id }) => !core.leaving.has(id));
  for (const { id } of left) await core.connection.engine().remove(id);
  core.ingress.abandon(left.map(({ id }) => id));
}
