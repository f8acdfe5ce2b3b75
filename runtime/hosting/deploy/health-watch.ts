import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import { type HostedApp, healthCheckOf } from '../records/app.ts';
import { createProbe } from './probe.ts';

/**
 * Goes on asking apps that say how (a path or a command), and has those started again that give `retries` bad answers
 * in a row. An app without either is only asked when it is deployed: that its port is open says little afterwards.
 */
export interface HealthWatch {
  start(): void;
  stop(): Promise<void>;
}

const TICK = 1000;

interface WatchedTarget {
  next: number;
  bad: number;
  asking: boolean;
}

export function createHealthWatch(
  core: Core,
  onSick: (app: HostedApp, containerId: string, detail: string) => void,
): HealthWatch {
  const abort = new AbortController();
  const seen = new Map<string, WatchedTarget>();
  let loop: Promise<void> = Promise.resolve();

  const look = () => {
    const present = new Set<string>();
    for (const app of core.apps.all()) {
      const health = healthCheckOf(app.spec);
      const route = core.ingress.get(app.id);
      if (
        (health.path === undefined && !health.command) ||
        app.desired !== 'running' ||
        route?.state !== 'serving'
      )
        continue;
      for (const target of route.targets) {
        present.add(target.id);
        const state = seen.get(target.id) ?? {
          next: core.now() + health.interval_s * 1000,
          bad: 0,
          asking: false,
        };
        seen.set(target.id, state);
        if (!state.asking && state.next <= core.now()) void ask(app, target, state);
      }
    }
    for (const id of seen.keys()) if (!present.has(id)) seen.delete(id);
  };

  const ask = async (app: HostedApp, target: RouteTarget, state: WatchedTarget) => {
    const health = healthCheckOf(app.spec);
    state.asking = true;
    try {
      const probe = createProbe(health, target, {
        engine: core.connection.engine(),
        host: app.spec.domain,
      });
      const { ok, detail } = await probe();
      state.bad = ok ? 0 : state.bad + 1;
      if (
        state.bad >= health.retries &&
        !core.leaving.has(target.id) &&
        core.operations.running(app.id) === undefined
      ) {
        state.bad = 0;
        onSick(app, target.id, detail);
      }
    } catch {
      // The engine is away: that says nothing about the app.
    } finally {
      state.asking = false;
      state.next = core.now() + health.interval_s * 1000;
    }
  };

  return {
    start() {
      loop = (async () => {
        while (!abort.signal.aborted) {
          if (core.connection.info()) look();
          await sleep(TICK, undefined, { signal: abort.signal, ref: false }).catch(() => {});
        }
      })();
    },
    async stop() {
      abort.abort();
      await loop;
    },
  };
}
