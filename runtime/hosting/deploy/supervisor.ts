import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { ContainerDetail, EngineEvent } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';
import { deploymentOf, LABELS, listContainers, replicaOf } from './containers.ts';
import { halt } from './lifecycle.ts';
import { createReplica, describeEnd, lastLines, startReplica } from './replicas.ts';
import { idleRoute, servingRoute } from './rollout.ts';

/** Starts again what ends by itself, and gives up on what keeps ending. */
export interface AppSupervisor {
  onEvent(event: EngineEvent): void;
  /** A container was found dead. */
  onDeath(app: HostedApp, containerId: string): void;
  /** A container runs and does not do well: it is stopped and started again, as one that has ended. */
  onSick(app: HostedApp, containerId: string, reason: string): void;
  /** Whether containers of the app are being brought back: the reconciler leaves it alone meanwhile. */
  handles(appId: string): boolean;
  /** The engine is there again: what ended with it did not end by itself, and is not held against its app. */
  forgive(): void;
  stop(): Promise<void>;
}

/** So many ends within this time are too many. */
const MAX_ENDS = 5;
const WINDOW = 10 * 60_000;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;
/** An engine says that a container was stopped or removed a moment after it says that it has ended. */
const SETTLE = 400;
/** Seconds from SIGTERM to SIGKILL for a container that does not do well. */
const GRACE = 5;

export const REMOVED = 'Its container was removed from outside';
const STOPPED = 'Its container was stopped from outside';

/** Exit codes of a process that was told to stop. */
const BY_SIGTERM = [0, 143];

interface SupervisorState {
  readonly core: Core;
  /** When containers of an app ended, by app and deployment. */
  readonly ends: Map<string, number[]>;
  /** When an engine said of a container that it was told to stop. */
  readonly stops: Map<string, number>;
  readonly signal: AbortSignal;
  /** Milliseconds after the first end; twice as many after each further one. */
  readonly pause: number;
}

interface EndedReplica {
  readonly appId: string;
  readonly deployment: number;
  readonly containerId: string;
  /** Why we stop it; null when it has ended already. */
  readonly sick: string | null;
}

export function createSupervisor(core: Core, pause = FIRST_PAUSE): AppSupervisor {
  const abort = new AbortController();
  const state = { core, ends: new Map(), stops: new Map(), signal: abort.signal, pause };
  const pending = new Set<Promise<void>>();
  /** The app of each container that is seen to. An end may be told of by an event, by the liveness poll and by a resync. */
  const handling = new Map<string, string>();

  const begin = (app: HostedApp, containerId: string, sick: string | null) => {
    if (handling.has(containerId) || core.leaving.has(containerId) || app.deployment === null)
      return;
    handling.set(containerId, app.id);
    const work = handle(state, {
      ...{ appId: app.id, deployment: app.deployment, containerId, sick },
    })
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
      if (!app || deploymentOf({ labels } as never) !== app.deployment) return;
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

/** What became of an attempt to bring a container back. `other` is one that was made in its place. */
type RestartOutcome =
  | { readonly kind: 'serves' | 'not ours' | 'interrupted' }
  | { readonly kind: 'ended'; readonly id: string; readonly reason: string };

/** Until it serves again, is not ours any more, or has ended too often. */
async function handle(state: SupervisorState, given: EndedReplica): Promise<void> {
  const { core, signal } = state;
  const { appId, sick } = given;
  let id = given.containerId;
  let reason = sick;
  takeOut(core, appId, id);
  if (sick !== null) await core.connection.engine().stop(id, GRACE);
  else await sleep(SETTLE, undefined, { signal });
  for (;;) {
    const app = current(core, given);
    if (!app) return;
    const detail = await core.connection.engine().inspect(id);
    if (detail?.state !== 'running') {
      const end = detail ? (reason ?? endOf(state, app, detail)) : REMOVED;
      const outside = end === REMOVED || end === STOPPED;
      const ends = recentEnds(state, given, !outside);
      if (ends >= MAX_ENDS) return giveUp(state, given, { id, reason: end });
      await note(core, app, end);
      await sleep(pauseAfter(ends, state.pause), undefined, { signal });
      if (!outside) await correctReason(state, given, id);
    }
    const outcome = await bringBack(state, given, id);
    if (outcome.kind === 'serves' || outcome.kind === 'not ours') return;
    if (outcome.kind === 'ended') ({ id, reason } = outcome);
  }
}

/** The app, while the container belongs to what it should run. */
function current(core: Core, { appId, deployment, containerId }: EndedReplica): HostedApp | null {
  const app = core.apps.byId(appId);
  const wanted = app?.desired === 'running' && app.deployment === deployment;
  return wanted && !core.leaving.has(containerId) ? app : null;
}

/** An engine may tell of a stop long after the container was started again. */
function endOf({ core, stops }: SupervisorState, app: HostedApp, detail: ContainerDetail): string {
  const stopped = stops.get(detail.id) ?? 0;
  if (stopped > Date.parse(detail.startedAt)) return STOPPED;
  const perhaps = !core.connection.engine().tellsStops && BY_SIGTERM.includes(detail.exitCode);
  return `${describeEnd(detail, app)}${perhaps ? ', or was stopped from outside' : ''}`;
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
 * A forced removal kills first, and a busy engine may take seconds until the container is gone: what looked like an end of
 * its own was a removal, and does not count as an end.
 */
async function correctReason(
  state: SupervisorState,
  given: EndedReplica,
  id: string,
): Promise<void> {
  const { core, ends } = state;
  const app = current(core, given);
  if (!app || (await core.connection.engine().inspect(id))) return;
  ends.get(`${given.appId}:${given.deployment}`)?.pop();
  await note(core, app, REMOVED);
}

const pauseAfter = (ends: number, first: number) =>
  Math.min(LONGEST_PAUSE, first * 2 ** Math.max(0, ends - 1));

/** Requests go to the other replicas, or wait for this one. */
function takeOut(core: Core, appId: string, containerId: string): void {
  const app = core.apps.byId(appId);
  const route = core.ingress.get(appId);
  if (!app || route?.state !== 'serving') return;
  const others = route.targets.filter(({ id }) => id !== containerId);
  core.ingress.set(others.length > 0 ? servingRoute(app, others) : idleRoute(app, 'holding'));
}

/** An app with another replica that serves goes on to be `running`. */
async function note(core: Core, app: HostedApp, reason: string): Promise<void> {
  const serves = core.ingress.get(app.id)?.state === 'serving';
  await core.apps.update(app.id, {
    error: reason,
    ...(app.status === 'running' && !serves && { status: 'restarting' }),
  });
}

/** Waits for its turn among the app's operations; nothing is done for an app that should not run any more. */
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
        const app = current(core, given);
        if (app) outcome = await startAgain(core, app, { id, signal: abort });
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
  const deployment = await core.deployments.get(app.id, app.deployment as number);
  const detail = await core.connection.engine().inspect(known);
  const id = detail ? known : await createInPlace(core, app, deployment);
  if (id === null) return { kind: 'not ours' };
  // An end may be told of twice: what runs was counted, unless the engine itself has brought it back.
  if (detail?.state !== 'running' || core.connection.engine().bringsBack)
    await core.apps.update(app.id, { restarts: app.restarts + 1 });
  const port = deployment.port ?? core.model.defaults.port;
  const started = await startReplica(core, app, { id, port, signal });
  if (signal.aborted) return { kind: 'interrupted' };
  if (!started.ready || !started.target) {
    await core.connection.engine().stop(id, 1);
    return { kind: 'ended', id, reason: started.reason };
  }
  const others = (core.ingress.get(app.id)?.targets ?? []).filter((target) => target.id !== id);
  core.ingress.set(servingRoute(core.apps.byId(app.id) ?? app, [...others, started.target]));
  await core.apps.update(app.id, { status: 'running' });
  return { kind: 'serves' };
}

/** A container for the replica that has none. @returns null when there is one for each. */
async function createInPlace(
  core: Core,
  app: HostedApp,
  deployment: Parameters<typeof createReplica>[2],
): Promise<string | null> {
  const engine = core.connection.engine();
  const present = await listContainers(engine, core.naming, app, deployment.number);
  const taken = new Set(present.map(replicaOf));
  for (let replica = 0; replica < deployment.replicas; replica += 1)
    if (!taken.has(replica)) return createReplica(core, app, deployment, replica);
  return null;
}

async function giveUp(
  state: SupervisorState,
  given: EndedReplica,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<void> {
  const { core, signal, ends } = state;
  ends.delete(`${given.appId}:${given.deployment}`);
  const work = async () => {
    const app = current(core, given);
    if (!app) return;
    const last = (await lastLines(core, app, [id])).at(-1);
    core.ingress.set(idleRoute(app, 'stopped'));
    const error = `It ended ${MAX_ENDS} times within ten minutes and was stopped. ${reason}${last ? `. Last line: ${last}` : ''}`;
    await core.apps.update(app.id, { status: 'crashed', desired: 'stopped', error });
    await halt(core, app);
  };
  while (!(await core.operations.tryRun(given.appId, 'crash', work)))
    await sleep(200, undefined, { signal });
}
