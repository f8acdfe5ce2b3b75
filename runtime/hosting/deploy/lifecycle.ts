import { AppError, failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import { assertOurs } from '../engine/errors.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import { type Deployment, deploymentNumber, type HostedApp } from '../records/app.ts';
import { asDeployed } from '../records/deployed.ts';
import type { AppRuns } from '../records/run.ts';
import {
  imagePrefix,
  instanceLabels,
  listContainers,
  stagesRepository,
  volumeName,
} from '../host/containers.ts';
import { removeNetworks } from './project-networks.ts';
import { ensureVolumes, lastLines, retire } from './replicas.ts';
import { idleRoute, currentTargets, servingRoute, targetsIn } from './rollout.ts';
import { createSlot, fills, type Slot, slotOf, slotsOf, startSlot } from './slots.ts';

/** Milliseconds in which running requests can finish when a user stops an app. */
const STOP_DRAIN = 2000;

/** Start, stop, restart and delete: the operations between deployments. */
export interface Lifecycle {
  /**
   * Does nothing when the app runs already. @throws AppError 400 when it was never deployed, 502
   * when it does not become ready.
   */
  start(app: HostedApp): Promise<HostedApp>;
  stop(app: HostedApp): Promise<HostedApp>;
  /** Restarts one replica after the other. With a single replica, requests wait meanwhile. */
  restart(app: HostedApp): Promise<HostedApp>;
  remove(app: HostedApp, options: { readonly volumes: boolean }): Promise<void>;
}

export function createLifecycle(core: Core, runs: Pick<AppRuns, 'stopAll'>): Lifecycle {
  return {
    start: (app) =>
      unlessInStatus(core, app, 'running', () =>
        core.operations.run(app.id, 'start', (signal) => startInOperation(core, app.id, signal)),
      ),
    stop: (app) =>
      unlessInStatus(core, app, 'stopped', () =>
        core.operations.run(app.id, 'stop', () => stop(core, runs, app.id)),
      ),
    async restart(app) {
      deploymentNumber(app);
      assertNotMoved(app);
      return core.operations.run(app.id, 'restart', (signal) => restart(core, app.id, signal));
    },
    async remove(app, options) {
      // A running build or deployment of this app is cancelled first.
      await core.operations.cancel(app.id);
      await core.operations.run(app.id, 'delete', () => remove(core, runs, app.id, options));
    },
  };
}

async function unlessInStatus(
  core: Core,
  app: HostedApp,
  status: HostedApp['status'],
  work: () => Promise<HostedApp>,
): Promise<HostedApp> {
  deploymentNumber(app);
  core.connection.engine();
  return app.status === status && core.operations.running(app.id) === undefined ? app : work();
}

/** @throws AppError 409 for an app whose requests are passed on to another server. */
export function assertNotMoved({ spec: { moved } }: HostedApp): void {
  if (!moved) return;
  throw failure.conflict(
    `The app has moved to ${moved.to}: do it there. To take it back as it was, start it here`,
  );
}

/** Starts an app. The caller runs in an operation of the app. @throws AppError 502 */
export async function startInOperation(
  core: Core,
  appId: string,
  signal: AbortSignal,
): Promise<HostedApp> {
  const app = currentApp(core, appId);
  const { moved, ...here } = app.spec;
  await core.apps.update(appId, {
    desired: 'running',
    error: null,
    // An app that has moved is taken back.
    ...(moved && { spec: here }),
  });
  core.ingress.set(idleRoute(core.apps.byId(appId) ?? app, 'holding'));
  const { targets, reason } = await ensureReplicas(core, app, signal);
  if (reason !== null) {
    await core.apps.update(appId, { status: 'failed', desired: 'stopped', error: reason });
    core.ingress.set(idleRoute(currentApp(core, appId), 'stopped'));
    await stopContainers(core, app);
    throw new AppError(502, 'NOT_READY', `App did not become ready: ${reason}`);
  }
  core.ingress.set(servingRoute(currentApp(core, appId), targets));
  return core.apps.update(appId, { status: 'running' });
}

/**
 * The result of starting an app's replicas. `failed` has the containers that did not become ready,
 * `reason` the first error.
 */
export interface EnsuredReplicas {
  readonly targets: RouteTarget[];
  readonly reason: string | null;
  readonly failed: readonly string[];
}

/**
 * Makes every replica of the app's deployment run: existing containers are started, missing ones
 * are created. A container that runs already is used without a probe, unless `ask` is set.
 */
export async function ensureReplicas(
  core: Core,
  live: HostedApp,
  signal: AbortSignal,
  { ask = false } = {},
): Promise<EnsuredReplicas> {
  const app = asDeployed(live);
  const deployment = await core.deployments.serving(app);
  const present = await listContainers(core, app, deployment.number);
  await ensureVolumes(core, app);
  const running = ask ? [] : present.filter(({ state }) => state === 'running');
  const started = await Promise.all(
    slotsOf(deployment).map(async (slot) => {
      const known = present.find((container) => fills(container, slot));
      if (known && running.includes(known)) return [];
      const id = known?.id ?? (await createSlot(core, app, deployment, slot));
      return [await startSlot(core, app, deployment, { id, slot, signal })];
    }),
  );
  const replicas = started.flat();
  const failed = replicas.filter(({ ready }) => !ready);
  const already = await currentTargets(core, running, deployment.port);
  return {
    targets: [...already, ...targetsIn(replicas)],
    reason: failed[0]?.reason ?? null,
    failed: failed.map(({ id }) => id),
  };
}

async function stop(core: Core, runs: Pick<AppRuns, 'stopAll'>, appId: string): Promise<HostedApp> {
  const app = currentApp(core, appId);
  await core.apps.update(appId, { desired: 'stopped' });
  core.ingress.set(idleRoute(app, 'stopped'));
  await Promise.all([stopContainers(core, app), runs.stopAll(appId)]);
  return core.apps.update(appId, { status: 'stopped', error: null });
}

/** Stops the app's containers and keeps them, so that their logs can still be read. */
export async function stopContainers(core: Core, app: HostedApp): Promise<void> {
  const containers = await listContainers(core, app);
  await retire(
    core,
    containers.filter(({ id }) => !core.leaving.has(id)),
    { keep: true, drain: STOP_DRAIN },
  );
}

async function restart(core: Core, appId: string, signal: AbortSignal): Promise<HostedApp> {
  const app = currentApp(core, appId);
  const deployment = await core.deployments.serving(app);
  const containers = await listContainers(core, app, deployment.number);
  if (app.status !== 'running' || containers.length < slotsOf(deployment).length)
    return startInOperation(core, appId, signal);
  for (const container of containers) {
    const slot = slotOf(deployment, container);
    if (slot) await restartOne(core, asDeployed(app), { container, slot, deployment, signal });
  }
  return core.apps.update(appId, { status: 'running', desired: 'running', error: null });
}

/** The container that restarts, and what it runs. */
interface Restart {
  readonly container: EngineContainer;
  readonly slot: Slot;
  readonly deployment: Deployment;
  readonly signal: AbortSignal;
}

/**
 * Restarts one replica. Meanwhile its requests go to the other replicas, or wait when there are
 * none.
 */
async function restartOne(core: Core, app: HostedApp, restart: Restart): Promise<void> {
  const { container, slot, deployment, signal } = restart;
  if (slot.process) return restartProcess(core, app, restart);
  const others = (core.ingress.get(app.id)?.targets ?? []).filter(({ id }) => id !== container.id);
  core.ingress.set(others.length > 0 ? servingRoute(app, others) : idleRoute(app, 'holding'));
  await retire(core, [container], { keep: true });
  const started = await startSlot(core, app, deployment, { id: container.id, slot, signal });
  if (started.ready && started.target)
    return core.ingress.set(servingRoute(app, [...others, started.target]));
  const lines = await lastLines(core, app, [container.id]);
  core.ingress.set(others.length > 0 ? servingRoute(app, others) : idleRoute(app, 'stopped'));
  await core.apps.update(app.id, {
    error: started.reason,
    ...(others.length === 0 && { status: 'failed', desired: 'stopped' }),
  });
  if (others.length === 0) await stopContainers(core, app);
  throw new AppError(
    502,
    'NOT_READY',
    `App did not become ready: ${started.reason}${lines.length > 0 ? ` (last line: ${lines.at(-1)})` : ''}`,
  );
}

/** Restarts a container that no request goes to. The supervisor handles one that ends again. */
async function restartProcess(
  core: Core,
  app: HostedApp,
  { container, slot, deployment, signal }: Restart,
): Promise<void> {
  await retire(core, [container], { keep: true });
  const { ready, reason } = await startSlot(core, app, deployment, {
    id: container.id,
    slot,
    signal,
  });
  if (ready) return;
  const text = `App did not become ready: process ${slot.process?.name}: ${reason}`;
  throw new AppError(502, 'NOT_READY', text);
}

async function remove(
  core: Core,
  runs: Pick<AppRuns, 'stopAll'>,
  appId: string,
  { volumes }: { readonly volumes: boolean },
): Promise<void> {
  const app = core.apps.byId(appId);
  if (!app) return;
  const engine = core.connection.engine();
  if (volumes) await assertOwnVolumes(core, app);
  // If the server is killed during the removal, its next start must not start the app again.
  await core.apps.update(appId, {
    desired: 'stopped',
    status: app.deployment === null ? app.status : 'stopped',
  });
  core.ingress.remove(appId);
  await runs.stopAll(appId);
  const containers = await listContainers(core, app);
  for (const { id } of containers) {
    core.leaving.add(id);
    core.processes.delete(id);
  }
  try {
    await Promise.all(containers.map(({ id }) => engine.remove(id)));
    core.ingress.abandon(containers.map(({ id }) => id));
  } finally {
    for (const { id } of containers) core.leaving.delete(id);
  }
  // An image that another user's container still runs is left alone.
  const unlessUsed = (error: { kind?: string }) => {
    if (error.kind !== 'conflict') throw error;
  };
  for (const prefix of [imagePrefix(core, app), `${stagesRepository(core, app)}:`])
    for (const tag of await engine.images.tags(prefix))
      await engine.images.untag(tag).catch(unlessUsed);
  if (volumes)
    for (const name of ownVolumes(core, app))
      await engine.removeVolume(name, () => isUsed(core, app, name));
  await core.apps.remove(appId);
  await removeNetworks(core, app);
  core.events.emit('removed', { app: app.name });
}

/** The volumes that are removed with an app: not external ones, and none that another app uses. */
const ownVolumes = (core: Core, app: HostedApp): string[] =>
  app.spec.volumes
    .filter(({ external }) => !external)
    .map(({ name }) => volumeName(core, app, name))
    .filter((name) => !isUsed(core, app, name));

/** Whether an app other than this one has a volume. */
const isUsed = (core: Core, { id }: HostedApp, volume: string): boolean =>
  core.apps
    .all()
    .filter((app) => app.id !== id)
    .flatMap((app) => [app, asDeployed(app)])
    .some((app) => app.spec.volumes.some(({ name }) => volumeName(core, app, name) === volume));

/**
 * Is called before anything is removed. @throws AppError 409 for a volume that this server did not
 * create.
 */
async function assertOwnVolumes(core: Core, app: HostedApp): Promise<void> {
  for (const full of ownVolumes(core, app)) {
    const labels = await core.connection.engine().volumeLabels(full);
    if (labels) assertOurs(`The volume ${full}`, labels, instanceLabels(core));
  }
}

function currentApp(core: Core, appId: string): HostedApp {
  const app = core.apps.byId(appId);
  if (app) return app;
  throw failure.notFound('App not found');
}
