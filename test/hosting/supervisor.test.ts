import { describe, expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/host/core.ts';
import type { EngineNaming } from '../../runtime/hosting/host/containers.ts';
import { createOperations } from '../../runtime/hosting/host/operations.ts';
import { createSupervisor } from '../../runtime/hosting/deploy/supervisor.ts';
import type { HostedApp } from '../../runtime/hosting/records/app.ts';

/** An app whose containers have ended when they are looked at, and end at each start: what is seen is how often they may. */
function createWorld(pause = 1) {
  const app = {
    id: '1',
    name: 'shop',
    deployment: 1,
    desired: 'running',
    status: 'running',
    restarts: 0,
    error: null as string | null,
    spec: { domain: 'shop.apps.test', aliases: [], resources: { memory_mb: 0 } },
  };
  const world = { now: 1_000_000, starts: [] as number[], known: true, seen: [] as string[] };
  const engine = {
    inspect: async (id: string) =>
      world.known
        ? {
            ...{
              id,
              state: 'stopped',
              exitCode: 9,
              error: '',
              outOfMemory: false,
              addresses: {},
              labels: { 'twofold.replica': '0' },
              ports: {},
            },
            startedAt: new Date(world.now - 5000).toISOString(),
          }
        : null,
    tellsStops: true,
    bringsBack: false,
    list: async () => [{ labels: { 'twofold.deployment': '1', 'twofold.replica': '0' } }],
    async *logs() {},
    stop: async () => {},
    start: async () => void world.starts.push(performance.now()),
  };
  const core = {
    ...{
      naming: { instance: 'abc' } as unknown as EngineNaming,
      operations: createOperations(),
      now: () => world.now,
      model: { deploys: { drain: 0 }, defaults: { port: 8080 } },
      leaving: new Set<string>(),
      processes: new Map<string, string>(),
      onStep: () => {},
    },
    connection: { engine: () => engine, reach: () => 'address' },
    deployments: { serving: async () => ({ number: 1, port: 8080, replicas: 1, processes: [] }) },
    apps: {
      byId: () => app,
      update: async (_: string, change: Partial<HostedApp>) => {
        if (change.status !== undefined) world.seen.push(change.status);
        return Object.assign(app, change);
      },
    },
    ingress: { get: () => undefined, set: () => {}, drain: async () => {}, abandon: () => {} },
    log: { warn: (text: string) => expect.unreachable(text) },
  } as unknown as Core;
  const supervisor = createSupervisor(core, pause);
  const labels = { 'twofold.app': '1', 'twofold.deployment': '1' };
  return { app, world, supervisor, labels, given: app as unknown as HostedApp };
}

describe('what keeps ending', () => {
  it('is given up on at the fifth time, however long each start takes', async () => {
    const { app, world, supervisor, given } = createWorld();
    supervisor.onDeath(given, 'c');
    expect(supervisor.handles('1')).toBe(true);
    await expect.poll(() => [app.status, app.desired]).toEqual(['crashed', 'stopped']);
    expect(world.seen).toContain('restarting');
    expect(app.restarts).toBe(4);
    expect(app.error).toMatch(/^It ended 5 times within ten minutes and was stopped\. .*code 9/);
    await supervisor.stop();
    expect([world.starts.length, supervisor.handles('1')]).toEqual([4, false]);
  });

  it('is started again after a pause that grows', async () => {
    const { app, world, supervisor, given } = createWorld(100);
    supervisor.onDeath(given, 'c');
    await expect.poll(() => app.status, { timeout: 5000 }).toBe('crashed');
    const pauses = world.starts.slice(1).map((at, index) => at - (world.starts[index] as number));
    expect(pauses.map((pause, index) => pause >= 100 * 2 ** (index + 1) - 5)).toEqual(
      pauses.map(() => true),
    );
    await supervisor.stop();
  });

  it('is not given up on for ends of more than ten minutes ago', async () => {
    const { app, world, supervisor, given } = createWorld(500);
    supervisor.onDeath(given, 'c');
    await expect.poll(() => world.starts.length, { timeout: 10_000 }).toBe(3);
    world.now += 10 * 60_000 + 1;
    await expect.poll(() => world.starts.length, { timeout: 10_000 }).toBe(5);
    expect(app.status).toBe('restarting');
    await supervisor.stop();
  });

  it('is not held against its app when its container was removed from outside', async () => {
    const { app, world, supervisor, given } = createWorld();
    world.known = false;
    for (let turn = 0; turn < 6; turn += 1) {
      supervisor.onDeath(given, `gone${turn}`);
      await expect.poll(() => supervisor.handles('1')).toBe(false);
    }
    expect([app.status, app.error]).toEqual([
      'restarting',
      'Its container was removed from outside',
    ]);
    await supervisor.stop();
  });

  it('says that it was removed although the engine takes seconds from the kill to the removal', async () => {
    const { app, world, supervisor, given } = createWorld(300);
    for (let turn = 0; turn < 6; turn += 1) {
      world.known = true;
      supervisor.onDeath(given, `slow${turn}`);
      await expect.poll(() => app.error).toMatch(/code 9/);
      world.known = false;
      await expect.poll(() => supervisor.handles('1'), { timeout: 5000 }).toBe(false);
      expect([app.status, app.error]).toEqual([
        'restarting',
        'Its container was removed from outside',
      ]);
    }
    await supervisor.stop();
  });

  it('says that it was stopped from outside when the engine says so', async () => {
    const { app, world, supervisor, labels } = createWorld(5000);
    const told = { containerId: 'c', labels, exitCode: null, at: world.now };
    supervisor.onEvent({ ...told, action: 'die' });
    supervisor.onEvent({ ...told, action: 'stop' });
    await expect.poll(() => app.error).toBe('Its container was stopped from outside');
    await supervisor.stop();
  });
});
