import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@twofold/runtime/errors';
import type { Core } from '../core.ts';
import { placement } from '../core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import type { AppRoute, RouteTarget } from '../ingress/route-table.ts';
import type { HostedApp, Deployment } from '../records/app.ts';
import { HTTP_RULES, toRouteRules } from '../records/http-rules.ts';
import { servedDomains } from '../records/worker.ts';
import { deploymentOf, listContainers, targetOf } from './containers.ts';
import {
  createReplica,
  ensureVolumes,
  lastLines,
  retire,
  startReplica,
  type StartedReplica,
} from './replicas.ts';

/** The new containers did not become ready. The old ones continue to serve. */
export class RolloutError extends AppError {
  readonly replicas: readonly StartedReplica[];
  readonly lines: readonly string[];

  constructor(reason: string, replicas: readonly StartedReplica[], lines: readonly string[]) {
    const last = lines
      .at(-1)
      ?.replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, 300);
    super(
      502,
      'NOT_READY',
      `App did not become ready: ${reason}${last ? `. Last line: ${last}` : ''}`,
    );
    this.replicas = replicas;
    this.lines = lines;
  }
}

/**
 * Milliseconds that the caller waits for the removal of the old containers. The removal itself may
 * take longer.
 */
const REMOVAL_TIMEOUT = 5000;

/**
 * Replaces the running version with a deployment whose image is on the engine: create, start,
 * probe, switch, drain, stop, remove. The old containers serve until the new ones answer. Apps with
 * volumes are an exception: two processes must not use the same files, so the old containers are
 * stopped first, and requests wait meanwhile.
 *
 * @throws RolloutError when it does not become ready.
 */
export async function rollOut(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<void> {
  const before = await listContainers(core.connection.engine(), core.naming, app);
  const old = before.filter(
    (container) => !core.leaving.has(container.id) && deploymentOf(container) !== deployment.number,
  );
  const exclusive = app.spec.volumes.length > 0;
  if (exclusive) await pauseOld(core, app, old);
  await ensureVolumes(core, app);
  let replicas: StartedReplica[];
  try {
    replicas = await startReplicas(core, app, deployment, signal);
  } catch (error) {
    if (exclusive)
      await restore(core, core.apps.byId(app.id) ?? app, old).catch((failed: Error) =>
        core.log.error(`${app.name}: ${failed.message}`),
      );
    throw error;
  }
  await commit(core, app, deployment);
  core.ingress.set(
    servingRoute(
      core.apps.byId(app.id) ?? app,
      replicas.map(({ target }) => target as RouteTarget),
    ),
  );
  core.onStep('switched');
  const gone = retire(core, old).catch((error: Error) =>
    core.log.warn(`${app.name}: old containers are left to the reconciler: ${error.message}`),
  );
  await Promise.race([gone, sleep(REMOVAL_TIMEOUT, undefined, { ref: false })]);
}

/** The route of an app with running replicas. */
export function servingRoute(app: HostedApp, targets: readonly RouteTarget[]) {
  return { ...routeOf(app), state: 'serving', targets } as const;
}

/**
 * The route of an app without a running replica. `holding`: requests wait. `stopped`: a page says
 * that it is stopped.
 */
export function idleRoute(app: HostedApp, state: 'holding' | 'stopped') {
  return { ...routeOf(app), state, targets: [] } as const;
}

/** The part of an app's route that does not depend on its containers. */
export function routeOf({ id, name, spec }: HostedApp): Omit<AppRoute, 'state' | 'targets'> {
  const { max_connections } = { ...HTTP_RULES, ...spec.http };
  const hosts = servedDomains(spec);
  const rules = toRouteRules(spec.http);
  return { appId: id, name, hosts, maxConnections: max_connections, rules };
}

/** Creates, starts and probes every replica. When one fails, all of them are removed. */
async function startReplicas(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<StartedReplica[]> {
  const ids: string[] = [];
  try {
    for (let replica = 0; replica < deployment.replicas; replica += 1)
      ids.push(await createReplica(core, app, deployment, replica));
    core.onStep('created');
    const { port } = deployment;
    const replicas = await Promise.all(
      ids.map((id) => startReplica(core, app, { id, port, signal })),
    );
    core.onStep('ready');
    await core.deployments.update(deployment, { probes: replicas.flatMap(({ probes }) => probes) });
    const failed = replicas.find(({ ready }) => !ready);
    if (failed) throw new RolloutError(failed.reason, replicas, await lastLines(core, app, ids));
    return replicas;
  } catch (error) {
    for (const id of ids) await discard(core, id);
    throw error;
  }
}

/** Removes a failed container. Does not throw, because the reconciler removes it later. */
async function discard(core: Core, id: string): Promise<void> {
  core.leaving.add(id);
  try {
    await core.connection.engine().remove(id);
  } catch (error) {
    core.log.warn(`a container is left to the reconciler: ${(error as Error).message}`);
  } finally {
    core.leaving.delete(id);
  }
}

/**
 * The point of no return. When the server crashes before it, the old deployment is the app's; after
 * it, the new one is.
 */
async function commit(core: Core, app: HostedApp, deployment: Deployment): Promise<void> {
  await core.apps.update(app.id, {
    ...{ deployment: deployment.number, desired: 'running', status: 'running', error: null },
    spec: {
      ...(core.apps.byId(app.id) ?? app).spec,
      image: deployment.image,
      source: deployment.source,
      builtHealth: app.spec.builtHealth ?? null,
      usedPort: deployment.port,
    },
  });
  core.onStep('committed');
  core.operations.finishing(app.id);
  await core.deployments.update(deployment, {
    status: 'healthy',
    finished_at: new Date(core.now()).toISOString(),
  });
  core.onStep('marked');
  await core.deployments.supersede(app.id, deployment.number);
  core.onStep('superseded');
}

/** Stops the old containers while requests wait. */
async function pauseOld(
  core: Core,
  app: HostedApp,
  old: readonly EngineContainer[],
): Promise<void> {
  if (old.length === 0) return;
  core.ingress.set(idleRoute(app, 'holding'));
  await retire(core, old, { keep: true });
  core.onStep('paused');
}

/** Starts the old containers again, after the new ones failed. */
async function restore(core: Core, app: HostedApp, old: readonly EngineContainer[]): Promise<void> {
  const current = old.filter((container) => deploymentOf(container) === app.deployment);
  if (app.desired !== 'running' || current.length === 0)
    return core.ingress.set(idleRoute(app, 'stopped'));
  const { port } = await core.deployments.get(app.id, app.deployment as number);
  const back = await Promise.all(
    current.map(({ id }) =>
      startReplica(core, app, { id, port, signal: new AbortController().signal }),
    ),
  );
  const targets = back
    .map(({ target }) => target)
    .filter((target): target is RouteTarget => target !== null);
  core.ingress.set(targets.length > 0 ? servingRoute(app, targets) : idleRoute(app, 'stopped'));
}

/** The addresses of the containers that are running now. */
export async function currentTargets(
  core: Core,
  containers: readonly EngineContainer[],
  port: number | null,
): Promise<RouteTarget[]> {
  const details = await Promise.all(
    containers.map(({ id }) => core.connection.engine().inspect(id)),
  );
  const targets = details.map((detail) =>
    detail?.state === 'running' ? targetOf(detail, port, placement(core)) : null,
  );
  return targets.filter((target): target is RouteTarget => target !== null);
}
