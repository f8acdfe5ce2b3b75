import type { Core } from '../host/core.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import { createLoop, type Loop } from '../host/loop.ts';
import { type HealthCheck, healthCheckOf, type HostedApp } from '../records/app.ts';
import { asDeployed } from '../records/deployed.ts';
import { createProbe } from './probe.ts';

const TICK = 1000;

interface WatchedTarget {
  next: number;
  failures: number;
  asking: boolean;
}

/**
 * Checks running apps that have a path or a command for it, and reports a replica after `retries`
 * failures in a row. Other apps are checked only when they are deployed: an open port says little
 * about an app that has run for a while.
 */
export function createHealthWatch(
  core: Core,
  onSick: (app: HostedApp, containerId: string, detail: string) => void,
): Loop {
  const watched = new Map<string, WatchedTarget>();

  const look = () => {
    const present = new Set<string>();
    for (const { app, health, target } of targetsToCheck(core)) {
      present.add(target.id);
      const state = watched.get(target.id) ?? {
        next: core.now() + health.interval_s * 1000,
        failures: 0,
        asking: false,
      };
      watched.set(target.id, state);
      if (!state.asking && state.next <= core.now()) void ask(app, target, state);
    }
    for (const id of watched.keys()) if (!present.has(id)) watched.delete(id);
  };

  const ask = async (app: HostedApp, target: RouteTarget, state: WatchedTarget) => {
    const health = deployedHealth(app);
    const engine = core.connection.engine();
    state.asking = true;
    try {
      const { ok, detail } = await createProbe(health, target, { engine, host: app.spec.domain })();
      state.failures = ok ? 0 : state.failures + 1;
      if (state.failures < health.retries || isBusy(core, app, target)) return;
      state.failures = 0;
      onSick(app, target.id, detail);
    } catch {
      // The engine is not reachable, which says nothing about the app.
    } finally {
      state.asking = false;
      state.next = core.now() + health.interval_s * 1000;
    }
  };

  return createLoop({
    pause: () => TICK,
    work: () => (core.connection.info() ? look() : undefined),
    onError: (error) => core.log.warn(`health checks: ${error.message}`),
  });
}

function* targetsToCheck({ apps, ingress }: Core): Generator<{
  readonly app: HostedApp;
  readonly health: HealthCheck;
  readonly target: RouteTarget;
}> {
  for (const app of apps.all()) {
    const health = deployedHealth(app);
    const route = ingress.get(app.id);
    const checked = health.path !== undefined || health.command !== undefined;
    if (!checked || app.desired !== 'running' || route?.state !== 'serving') continue;
    for (const target of route.targets) yield { app, health, target };
  }
}

/** A check that was changed since belongs to the next deployment, whose code may be the first to pass it. */
const deployedHealth = (app: HostedApp): HealthCheck => healthCheckOf(asDeployed(app).spec);

/** Whether something else stops or changes the replica already. */
const isBusy = ({ leaving, operations }: Core, app: HostedApp, { id }: RouteTarget) =>
  leaving.has(id) || operations.running(app.id) !== undefined;
