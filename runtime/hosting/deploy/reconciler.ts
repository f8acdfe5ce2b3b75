import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';
import { deploymentOf, instanceLabels, LABELS } from './containers.ts';
import { forgetOldImagesOfAll, suspectOldImages } from './kept-images.ts';
import { ensureReplicas } from './lifecycle.ts';
import { idleRoute, currentTargets, servingRoute } from './rollout.ts';
import { REMOVED, type AppSupervisor } from './supervisor.ts';

/** Brings the engine to what the database says. */
export interface Reconciler {
  /** After the engine is there (again): what an unclean stop left half done is undone, then everything is compared. */
  recover(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const RESYNC = 30_000;
/** What had to be left alone is looked at again after this, and then after twice as long. */
const SOON = 1000;
const PARALLEL = 4;

/** `every` is in milliseconds. */
export function createReconciler(
  core: Core,
  supervisor: AppSupervisor,
  every = RESYNC,
): Reconciler {
  const abort = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let recovered = false;
  /** How often in a row something had to be left alone. */
  let misses = 0;
  let next = core.now() + every;

  const resync = async (recovering: boolean) => {
    await core.apps.load();
    const containers = await core.connection.engine().list(instanceLabels(core.naming));
    const byApp = Map.groupBy(containers, (container) => container.labels[LABELS.app] ?? '');
    let left = 0;
    await inParallel([...core.apps.all()], async (app) => {
      const listed = byApp.get(app.id) ?? [];
      if (!(await reconcile(core, supervisor, { id: app.id, listed, recovering }))) left += 1;
    });
    for (const [appId, orphans] of byApp)
      if (!core.apps.byId(appId)) await removeAll(core, orphans);
    return left === 0;
  };
  const look = async (recovering: boolean) => {
    misses += 1;
    next = Infinity;
    try {
      if (await resync(recovering)) misses = 0;
    } finally {
      next = core.now() + (misses === 0 ? every : Math.min(every, SOON * 2 ** (misses - 1)));
    }
  };

  return {
    async recover() {
      const first = !recovered;
      if (first) await failUnfinished(core);
      recovered = true;
      supervisor.forgive();
      // A deployment that was cut off, with the server or with the engine, has tagged an image that nothing will run.
      suspectOldImages(core);
      misses = 0;
      await look(true);
      await forgetOldImagesOfAll(core);
    },
    start() {
      loop = (async () => {
        while (!abort.signal.aborted) {
          await sleep(Math.min(every, SOON), undefined, { signal: abort.signal, ref: false }).catch(
            () => {},
          );
          if (abort.signal.aborted || core.connection.info() === null) continue;
          if (core.now() >= next)
            await look(false).catch((error: Error) => core.log.warn(`resync: ${error.message}`));
          await forgetOldImagesOfAll(core);
        }
      })();
    },
    async stop() {
      abort.abort();
      await loop;
    },
  };
}

/** No server works on these any more. One that had reached its switch is the app's deployment and stands. */
async function failUnfinished(core: Core): Promise<void> {
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
  /** The server or the engine was away: what ended meanwhile is not held against its app. */
  readonly recovering: boolean;
}

/** An app that should run, and the containers of its deployment. */
interface AppToRun {
  readonly app: HostedApp;
  readonly present: readonly EngineContainer[];
  readonly signal: AbortSignal;
  readonly recovering: boolean;
}

/** @returns false when it was left alone, because something else is done on the app, or did not come to its end. */
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
      await removeAll(
        core,
        ours.filter((container) => !current.includes(container)),
      );
      if (app.deployment === null || app.desired === 'stopped')
        await keepStopped(core, app, current);
      else await keepRunning(core, supervisor, { app, present: current, signal, recovering });
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
  // There the ends are counted, and the pauses kept.
  if (supervisor.handles(app.id)) return;
  const dead = present.filter(({ state }) => state !== 'running');
  // While nothing was away, an end that was not noticed is an end all the same.
  if (!recovering && dead.length > 0) return dead.forEach(({ id }) => supervisor.onDeath(app, id));
  const { port, replicas } = await core.deployments.get(app.id, app.deployment as number);
  const running = present.filter(({ state }) => state === 'running');
  const trusted = app.status === 'running' ? running : [];
  const targets = await currentTargets(core, trusted, port ?? core.model.defaults.port);
  core.ingress.set(targets.length > 0 ? servingRoute(app, targets) : idleRoute(app, 'holding'));
  if (trusted.length >= replicas) return;
  const removed = present.length < replicas ? { error: REMOVED } : {};
  if (targets.length === 0) await core.apps.update(app.id, { status: 'restarting', ...removed });
  await bringUp(core, supervisor, seen, removed);
}

/** What cannot be brought up is the supervisor's to try again, and to give up on. */
async function bringUp(
  core: Core,
  supervisor: AppSupervisor,
  { app, signal }: AppToRun,
  removed: { readonly error?: string },
): Promise<void> {
  const { targets, failed } = await ensureReplicas(core, app, signal, {
    ask: app.status !== 'running',
  });
  // Another operation has the app now.
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

async function removeAll(core: Core, containers: readonly EngineContainer[]): Promise<void> {
  for (const { id } of containers)
    if (!core.leaving.has(id)) await core.connection.engine().remove(id);
}

async function inParallel<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const next = async (): Promise<void> => {
    for (let item = items.shift(); item !== undefined; item = items.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, next));
}
