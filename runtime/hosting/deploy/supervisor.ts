import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../host/core.ts';
import type { ContainerDetail, EngineEvent } from '../engine/engine.ts';
import type { Deployment, HostedApp } from '../records/app.ts';
import { asDeployed } from '../records/deployed.ts';
import { deploymentOf, isRun, LABELS, listContainers } from '../host/containers.ts';
import { stopContainers } from './lifecycle.ts';
import { describeEnd, lastLines } from './replicas.ts';
import { idleRoute, servingRoute } from './rollout.ts';
import { createSlot, fills, type Slot, slotOf, slotsOf, startSlot } from './slots.ts';

/** Restarts containers that have ended, and stops an app whose containers end again and again. */
export interface AppSupervisor {
  onEvent(event: EngineEvent): void;
  /** Call this when a container was found dead. */
  onDeath(app: HostedApp, containerId: string): void;
  /** Call this when a container runs but fails its health check: it is stopped and restarted. */
  onSick(app: HostedApp, containerId: string, reason: string): void;
  /** Whether containers of the app are being restarted. The reconciler leaves such an app alone. */
  handles(appId: string): boolean;
  /**
   * Call this when the engine is reachable again. Containers that ended together with the engine
   * did not crash: the counts are reset.
   */
  forgive(): void;
  stop(): Promise<void>;
}

/** An app whose containers end this often within `WINDOW` is stopped. */
const MAX_ENDS = 5;
const WINDOW = 10 * 60_000;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;
/**
 * Milliseconds to wait for the reason of an end: engines report first that a container has ended,
 * and a moment later that it was stopped or removed.
 */
const REASON_DELAY = 400;
/** Seconds between SIGTERM and SIGKILL for a container that fails its health check. */
const GRACE = 5;

export const REMOVED = 'Its container was removed from outside';
const STOPPED = 'Its container was stopped from outside';

/** Exit codes of a process that received SIGTERM. */
const BY_SIGTERM = [0, 143];

interface SupervisorState {
  readonly core: Core;
  /** When containers ended, for each app and deployment. */
  readonly ends: Map<string, number[]>;
  /** When the engine reported that a container was stopped, for each container. */
  readonly stops: Map<string, number>;
  readonly signal: AbortSignal;
  /** Milliseconds to wait after the first end. The wait doubles with each further end. */
  readonly pause: number;
}

interface EndedReplica {
  readonly appId: string;
  readonly deployment: number;
  readonly containerId: string;
  /** Why we stop the container; null when it has already ended. */
  readonly sick: string | null;
}

export function createSupervisor(core: Core, pause = FIRST_PAUSE): AppSupervisor {
  const abort = new AbortController();
  const state = { core, ends: new Map(), stops: new Map(), signal: abort.signal, pause };
  const pending = new Set<Promise<void>>();
  /**
   * Which app each container belongs to, for those that are being handled. One end may be reported
   * three times: by an event, by the liveness poll and by a resync.
   */
  const handling = new Map<string, string>();

  const begin = (app: HostedApp, containerId: string, sick: string | null) => {
    if (handling.has(containerId) || core.leaving.has(containerId) || app.deployment === null)
      return;
    handling.set(containerId, app.id);
    const work = handle(state, { appId: app.id, deployment: app.deployment, containerId, sick })
      .catch((error: Error) => {
        if (!abort.signal.aborted) core.log.warn(`${app.name}: ${error.message}`);
      })
      .finally(() => {
        pending.delete(work);
        handling.delete(containerId);
        state.stops.delete(containerId);
      });
    pending.add(work);
  };

  return {
    onEvent({ action, containerId, labels, at }) {
      const app = core.apps.byId(labels[LABELS.app] ?? '');
      if (!app || isRun({ labels }) || deploymentOf({ labels } as never) !== app.deployment) return;
      if (action === 'stop' && !core.leaving.has(containerId))
        state.stops.set(containerId, at ?? core.now());
      if (action === 'remove') state.stops.delete(containerId);
      if (action === 'die') begin(app, containerId, null);
    },
    onDeath: (app, containerId) => begin(app, containerId, null),
    onSick: (app, containerId, reason) => begin(app, containerId, reason),
    handles: (appId) => [...handling.values()].includes(appId),
    forgive: () => state.ends.clear(),
    async stop() {
      abort.abort();
      await Promise.all(pending);
    },
  };
}

/** The result of one restart. `ended` has the id of the container, which may be a new one. */
type RestartOutcome =
  | { readonly kind: 'serves' | 'not ours' | 'interrupted' }
  | { readonly kind: 'ended'; readonly id: string; readonly reason: string };

/**
 * Repeats the restart until the container serves, no longer belongs to the app's deployment, or has
 * ended too often.
 */
async function handle(state: SupervisorState, given: EndedReplica): Promise<void> {
  const { core, signal } = state;
  const { appId, sick } = given;
  let id = given.containerId;
  let reason = sick;
  takeOut(core, appId, id);
  core.processes.delete(id);
  if (sick !== null) await core.connection.engine().stop(id, GRACE);
  else await sleep(REASON_DELAY, undefined, { signal });
  for (;;) {
    const app = currentApp(core, given);
    if (!app) return;
    const detail = await core.connection.engine().inspect(id);
    if (detail?.state !== 'running') {
      core.ingress.abandon([id]);
      const end = detail ? (reason ?? endOf(state, app, detail)) : REMOVED;
      const outside = end === REMOVED || end === STOPPED;
      const ends = recentEnds(state, given, !outside);
      if (ends >= MAX_ENDS) return giveUp(state, given, { id, reason: end });
      await storeReason(core, app, end);
      await sleep(pauseAfter(ends, state.pause), undefined, { signal });
      if (!outside) await correctReason(state, given, id);
    }
    const outcome = await bringBack(state, given, id);
    if (outcome.kind === 'serves' || outcome.kind === 'not ours') return;
    if (outcome.kind === 'ended') ({ id, reason } = outcome);
  }
}

/** The app, as long as the container belongs to the deployment that should run. */
function currentApp(
  core: Core,
  { appId, deployment, containerId }: EndedReplica,
): HostedApp | null {
  const app = core.apps.byId(appId);
  const wanted = app?.desired === 'running' && app.deployment === deployment;
  return wanted && !core.leaving.has(containerId) ? app : null;
}

/** Ignores a stop that was reported before the container was last started: events can be late. */
function endOf({ core, stops }: SupervisorState, app: HostedApp, detail: ContainerDetail): string {
  const stopped = stops.get(detail.id) ?? 0;
  if (stopped > Date.parse(detail.startedAt)) return STOPPED;
  const perhaps =
    !core.connection.engine().reportsStops && BY_SIGTERM.includes(detail.exitCode ?? 0);
  return `${describeEnd(detail, asDeployed(app))}${perhaps ? ', or was stopped from outside' : ''}`;
}

function recentEnds(
  { core, ends }: SupervisorState,
  { appId, deployment }: EndedReplica,
  counts: boolean,
): number {
  const key = `${appId}:${deployment}`;
  const recent = (ends.get(key) ?? []).filter((at) => at > core.now() - WINDOW);
  if (counts) recent.push(core.now());
  ends.set(key, recent);
  return recent.length;
}

/**
 * A forced removal kills the process first, and a busy engine may need seconds to remove the
 * container. An end that was such a removal is taken out of the count.
 */
async function correctReason(
  state: SupervisorState,
  given: EndedReplica,
  id: string,
): Promise<void> {
  const { core, ends } = state;
  const app = currentApp(core, given);
  if (!app || (await core.connection.engine().inspect(id))) return;
  ends.get(`${given.appId}:${given.deployment}`)?.pop();
  await storeReason(core, app, REMOVED);
}

const pauseAfter = (ends: number, first: number) =>
  Math.min(LONGEST_PAUSE, first * 2 ** Math.max(0, ends - 1));

/** Sends the requests to the other replicas, or lets them wait for this one. */
function takeOut(core: Core, appId: string, containerId: string): void {
  const app = core.apps.byId(appId);
  const route = core.ingress.get(appId);
  if (!app || route?.state !== 'serving') return;
  const others = route.targets.filter(({ id }) => id !== containerId);
  core.ingress.set(others.length > 0 ? servingRoute(app, others) : idleRoute(app, 'holding'));
}

/** Stores the reason. An app whose other replicas serve keeps the status `running`. */
async function storeReason(core: Core, app: HostedApp, reason: string): Promise<void> {
  const serves = core.ingress.get(app.id)?.state === 'serving';
  await core.apps.update(app.id, {
    error: reason,
    ...(app.status === 'running' && !serves && { status: 'restarting' }),
  });
}

/**
 * Waits for other operations on the app, then restarts the container if the app should still run.
 */
async function bringBack(
  state: SupervisorState,
  given: EndedReplica,
  id: string,
): Promise<RestartOutcome> {
  const { core, signal } = state;
  for (;;) {
    let outcome: RestartOutcome = { kind: 'not ours' };
    const ran = await core.operations.tryRun(
      given.appId,
      'restart after a crash',
      async (abort) => {
        const app = currentApp(core, given);
        if (app) outcome = await startAgain(core, asDeployed(app), { id, signal: abort });
      },
    );
    if (ran) return outcome;
    await sleep(200, undefined, { signal });
  }
}

async function startAgain(
  core: Core,
  app: HostedApp,
  { id: known, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<RestartOutcome> {
  const deployment = await core.deployments.serving(app);
  const detail = await core.connection.engine().inspect(known);
  const place = detail ? foundSlot(deployment, detail) : await createInPlace(core, app, deployment);
  if (place === null) return { kind: 'not ours' };
  const { id } = place;
  // One end may be reported twice: a container that runs again was already counted, unless the
  // engine restarts containers itself.
  if (detail?.state !== 'running' || core.connection.engine().reschedules)
    await core.apps.update(app.id, { restarts: app.restarts + 1 });
  const started = await startSlot(core, app, deployment, { ...place, signal });
  if (signal.aborted) return { kind: 'interrupted' };
  if (!started.ready || !started.target) {
    await core.connection.engine().stop(id, 1);
    return { kind: 'ended', id, reason: started.reason };
  }
  if (started.process !== null) return { kind: 'serves' };
  const others = (core.ingress.get(app.id)?.targets ?? []).filter((target) => target.id !== id);
  core.ingress.set(servingRoute(core.apps.byId(app.id) ?? app, [...others, started.target]));
  await core.apps.update(app.id, { status: 'running' });
  return { kind: 'serves' };
}

interface PlacedContainer {
  readonly id: string;
  readonly slot: Slot;
}

function foundSlot(deployment: Deployment, detail: ContainerDetail): PlacedContainer | null {
  const slot = slotOf(deployment, detail);
  return slot ? { id: detail.id, slot } : null;
}

/** Creates a container for a slot that has none. @returns null when every slot has one. */
async function createInPlace(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
): Promise<PlacedContainer | null> {
  const present = await listContainers(core, app, deployment.number);
  const slot = slotsOf(deployment).find((each) => !present.some((one) => fills(one, each)));
  return slot ? { id: await createSlot(core, app, deployment, slot), slot } : null;
}

async function giveUp(
  state: SupervisorState,
  given: EndedReplica,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<void> {
  const { core, signal, ends } = state;
  ends.delete(`${given.appId}:${given.deployment}`);
  const work = async () => {
    const app = currentApp(core, given);
    if (!app) return;
    const last = (await lastLines(core, app, [id])).at(-1);
    core.ingress.set(idleRoute(app, 'stopped'));
    const error = `It ended ${MAX_ENDS} times within ten minutes and was stopped. ${reason}${last ? `. Last line: ${last}` : ''}`;
    await core.apps.update(app.id, { status: 'crashed', desired: 'stopped', error });
    await stopContainers(core, app);
  };
  while (!(await core.operations.tryRun(given.appId, 'crash', work)))
    await sleep(200, undefined, { signal });
}
