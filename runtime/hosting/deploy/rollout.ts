import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { placement } from '../host/core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import type { AppRoute, RouteTarget } from '../ingress/route-table.ts';
import type { Deployment, ForwardTarget, HostedApp } from '../records/app.ts';
import { asDeployed, deployedConfig } from '../records/deployed.ts';
import { HTTP_RULES, toRouteRules } from '../records/http-rules.ts';
import { servedDomains } from '../records/domains.ts';
import { deploymentOf, listContainers, processOf, targetOf } from '../host/containers.ts';
import { ensureVolumes, lastLines, retire } from './replicas.ts';
import { createSlot, type Slot, slotOf, slotsOf, startSlot, type StartedSlot } from './slots.ts';

/** The new containers did not become ready. The old ones continue to serve. */
export class RolloutError extends AppError {
  readonly replicas: readonly StartedSlot[];
  readonly lines: readonly string[];

  constructor(reason: string, replicas: readonly StartedSlot[], lines: readonly string[]) {
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
  const before = await listContainers(core, app);
  const old = before.filter(
    (container) => !core.leaving.has(container.id) && deploymentOf(container) !== deployment.number,
  );
  const exclusive = app.spec.volumes.length > 0;
  if (exclusive) await pauseOld(core, app, old);
  await ensureVolumes(core, app);
  let replicas: StartedSlot[];
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
  core.ingress.set(servingRoute(core.apps.byId(app.id) ?? app, targetsIn(replicas)));
  core.onStep('switched');
  const gone = retire(core, old).catch((error: Error) =>
    core.log.warn(`${app.name}: old containers are left to the reconciler: ${error.message}`),
  );
  await Promise.race([gone, sleep(REMOVAL_TIMEOUT, undefined, { ref: false })]);
}

/** Where requests go: to the replicas of the app itself. */
export const targetsIn = (started: readonly StartedSlot[]): RouteTarget[] =>
  started.flatMap(({ ready, target, process }) =>
    ready && target && process === null ? [target] : [],
  );

/** The route of an app with running replicas. */
export function servingRoute(app: HostedApp, targets: readonly RouteTarget[]) {
  return { ...routeOf(app), state: 'serving', targets } as const;
}

/**
 * The route of an app without a running replica. `holding`: requests wait. `stopped`: a page says
 * that it is stopped.
 */
export function idleRoute(app: HostedApp, state: 'holding' | 'stopped'): AppRoute {
  const { moved } = app.spec;
  if (moved && state === 'stopped')
    return { ...routeOf(app), state: 'serving', targets: [forwardTargetOf(app, moved.forward)] };
  return { ...routeOf(app), state, targets: [] };
}

/** The ingress of the server that the app has moved to. Its other ports have the same numbers there. */
function forwardTargetOf({ id, spec }: HostedApp, forward: ForwardTarget): RouteTarget {
  const { host, http, https, serverName } = forward;
  const streams = (spec.usedPorts ?? []).map(({ target, protocol = 'tcp', port }) => [
    `${target}/${protocol}`,
    { host, port },
  ]);
  return {
    id: `moved:${id}`,
    host,
    port: (serverName === null ? http : https) ?? 0,
    ...(serverName !== null && { serverName }),
    ...(streams.length > 0 && { streams: Object.fromEntries(streams) }),
  };
}

/** The part of an app's route that does not depend on its containers. */
export function routeOf({ id, name, spec }: HostedApp): Omit<AppRoute, 'state' | 'targets'> {
  const { moved, arrival } = spec;
  const { max_connections } = { ...HTTP_RULES, ...spec.http };
  const hosts = servedDomains(spec);
  // An app that has moved has its rules where it is now.
  const rules = moved ? { compress: false } : toRouteRules(spec.http);
  const ports = (spec.usedPorts ?? []).map((port) => ({
    ...port,
    protocol: port.protocol ?? 'tcp',
  }));
  return {
    appId: id,
    name,
    hosts,
    maxConnections: max_connections,
    rules,
    ports,
    ...(moved && { forward: { until: moved.until, token: moved.forward.token } }),
    ...(arrival?.kept && { forwarder: { until: arrival.until, digest: arrival.forwarder } }),
  };
}

/** Creates, starts and probes every replica. When one fails, all of them are removed. */
async function startReplicas(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<StartedSlot[]> {
  const made: { readonly id: string; readonly slot: Slot }[] = [];
  try {
    for (const slot of slotsOf(deployment))
      made.push({ id: await createSlot(core, app, deployment, slot), slot });
    core.onStep('created');
    const replicas = await Promise.all(
      made.map((each) => startSlot(core, app, deployment, { ...each, signal })),
    );
    core.onStep('ready');
    await core.deployments.update(deployment, { probes: replicas.flatMap(({ probes }) => probes) });
    const failed = replicas.find(({ ready }) => !ready);
    if (failed) {
      const lines = await lastLines(core, app, failed.process ? [failed.id] : idsOf(made));
      throw new RolloutError(reasonOf(failed), replicas, lines);
    }
    return replicas;
  } catch (error) {
    for (const { id } of made) await discard(core, id);
    throw error;
  }
}

const idsOf = (made: readonly { readonly id: string }[]) => made.map(({ id }) => id);
const reasonOf = ({ process, reason }: StartedSlot) =>
  process ? `process ${process}: ${reason}` : reason;

/** Removes a failed container. Does not throw, because the reconciler removes it later. */
async function discard(core: Core, id: string): Promise<void> {
  core.leaving.add(id);
  core.processes.delete(id);
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
    deployment: deployment.number,
    desired: 'running',
    status: 'running',
    error: null,
    deployed: deployedConfig(app),
    spec: {
      ...(core.apps.byId(app.id) ?? app).spec,
      image: deployment.image,
      source: deployment.source,
      builtHealth: app.spec.builtHealth ?? null,
      usedPort: deployment.port,
      usedPorts: app.spec.ports ?? [],
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
async function restore(
  core: Core,
  live: HostedApp,
  old: readonly EngineContainer[],
): Promise<void> {
  const app = asDeployed(live);
  const current = old.filter((container) => deploymentOf(container) === app.deployment);
  if (app.desired !== 'running' || current.length === 0)
    return core.ingress.set(idleRoute(app, 'stopped'));
  const deployment = await core.deployments.serving(app);
  const { signal } = new AbortController();
  const back = await Promise.all(
    current.flatMap((container) => {
      const slot = slotOf(deployment, container);
      return slot ? startSlot(core, app, deployment, { id: container.id, slot, signal }) : [];
    }),
  );
  const targets = targetsIn(back);
  core.ingress.set(targets.length > 0 ? servingRoute(app, targets) : idleRoute(app, 'stopped'));
}

/** The addresses of the replicas of the app itself that are running now. */
export async function currentTargets(
  core: Core,
  containers: readonly EngineContainer[],
  port: number | null,
): Promise<RouteTarget[]> {
  const details = await Promise.all(
    containers
      .filter((each) => processOf(each) === null)
      .map(({ id }) => core.connection.engine().inspect(id)),
  );
  const targets = details.map((detail) =>
    detail?.state === 'running' ? targetOf(detail, port, placement(core)) : null,
  );
  return targets.filter((target): target is RouteTarget => target !== null);
}
