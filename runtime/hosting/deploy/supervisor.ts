import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { EngineEvent } from '../engine/engine.ts';
import type { App } from '../records/app.ts';
import { deploymentOf, LABELS } from './containers.ts';
import { halt } from './lifecycle.ts';
import { describeEnd, lastLines, startReplica } from './replicas.ts';
import { absent, serving } from './rollout.ts';

/** Starts again what ends by itself, and gives up on what keeps ending. */
export interface Supervisor {
  onEvent(event: EngineEvent): void;
  /** A container was found dead. */
  onDeath(app: App, containerId: string): void;
  /** The engine is there again: what ended with it did not end by itself, and is not held against its app. */
  forgive(): void;
  stop(): Promise<void>;
}

const WINDOW = 60_000;
const MAX_RESTARTS = 5;
const FIRST_PAUSE = 100;

interface State {
  readonly core: Core;
  /** When an app's containers were started again, in the last minute. */
  readonly restarts: Map<string, number[]>;
  readonly signal: AbortSignal;
}

export function createSupervisor(core: Core): Supervisor {
  const abort = new AbortController();
  const state: State = { core, restarts: new Map(), signal: abort.signal };
  const pending = new Set<Promise<void>>();
  /** An end may be told of more than once: by an event, by the pulse, by a resync. */
  const handling = new Set<string>();

  const onDeath = (app: App, containerId: string) => {
    if (handling.has(containerId) || core.leaving.has(containerId)) return;
    handling.add(containerId);
    const work = handle(state, app.id, containerId)
      .catch((error: Error) => {
        if (!abort.signal.aborted) core.log.warn(`${app.name}: ${error.message}`);
      })
      .finally(() => {
        pending.delete(work);
        handling.delete(containerId);
      });
    pending.add(work);
  };

  return {
    onEvent({ action, containerId, labels }) {
      if (action !== 'die') return;
      const app = core.apps.byId(labels[LABELS.app] ?? '');
      if (app && deploymentOf({ labels } as never) === app.deployment) onDeath(app, containerId);
    },
    onDeath,
    forgive: () => state.restarts.clear(),
    async stop() {
      abort.abort();
      await Promise.all(pending);
    },
  };
}

async function handle(state: State, appId: string, containerId: string): Promise<void> {
  const { core, restarts, signal } = state;
  takeOut(core, appId, containerId);
  const recent = (restarts.get(appId) ?? []).filter((at) => at > core.now() - WINDOW);
  if (recent.length >= MAX_RESTARTS) {
    restarts.delete(appId);
    return alone(state, appId, 'crash', (app) => giveUp(core, app, containerId));
  }
  restarts.set(appId, [...recent, core.now()]);
  await sleep(FIRST_PAUSE * 2 ** recent.length, undefined, { signal });
  await alone(state, appId, 'restart after a crash', (app, given) =>
    startAgain(core, app, { id: containerId, signal: given }),
  );
}

/** Requests go to the other replicas, or wait for this one. */
function takeOut(core: Core, appId: string, containerId: string): void {
  const app = core.apps.byId(appId);
  const route = core.ingress.get(appId);
  if (!app || route?.state !== 'serving') return;
  const others = route.targets.filter(({ id }) => id !== containerId);
  core.ingress.set(others.length > 0 ? serving(app, others) : absent(app, 'holding'));
}

/** Waits for its turn among the app's operations; nothing is done for an app that should not run any more. */
async function alone(
  { core, signal }: State,
  appId: string,
  kind: string,
  work: (app: App, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (core.apps.byId(appId)?.desired === 'running') {
    const ran = await core.operations.tryRun(appId, kind, async (given) => {
      const app = core.apps.byId(appId);
      if (app?.desired === 'running') await work(app, given);
    });
    if (ran) return;
    await sleep(200, undefined, { signal });
  }
}

async function startAgain(
  core: Core,
  app: App,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<void> {
  const detail = await core.connection.engine().inspect(id);
  // Another operation may have replaced or started it.
  if (!detail || deploymentOf(detail) !== app.deployment || core.leaving.has(id)) return;
  await core.apps.update(app.id, {
    restarts: app.restarts + 1,
    error: detail.state === 'running' ? app.error : describeEnd(detail, app),
  });
  const { port } = await core.deployments.get(app.id, app.deployment as number);
  const started = await startReplica(core, app, {
    id,
    port: port ?? core.model.defaults.port,
    signal,
  });
  // One that runs but never serves is ended, which brings it here again.
  if (!started.ready || !started.target) return core.connection.engine().stop(id, 1);
  const others = (core.ingress.get(app.id)?.targets ?? []).filter((target) => target.id !== id);
  core.ingress.set(serving(core.apps.byId(app.id) ?? app, [...others, started.target]));
  await core.apps.update(app.id, { status: 'running' });
}

async function giveUp(core: Core, app: App, id: string): Promise<void> {
  const detail = await core.connection.engine().inspect(id);
  const end = detail ? describeEnd(detail, app) : 'The container is gone';
  const last = (await lastLines(core, app, [id])).at(-1);
  core.ingress.set(absent(app, 'stopped'));
  const error = `It ended ${MAX_RESTARTS + 1} times within a minute and was stopped. ${end}${last ? `. Last line: ${last}` : ''}`;
  await core.apps.update(app.id, { status: 'crashed', desired: 'stopped', error });
  await halt(core, app);
}
