import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/host/core.ts';
import { createLivenessPoll } from '../../runtime/hosting/deploy/liveness-poll.ts';

const app = { id: '1', name: 'shop', desired: 'running' };

/** An engine with one container, whose process is what `detail` says. */
function createWorld(detail: { state: string; pid: number }) {
  const world = {
    detail,
    asked: 0,
    deaths: [] as string[],
    leaving: new Set<string>(),
  };
  const engine = { inspect: async () => ((world.asked += 1), { ...world.detail }) };
  const core = {
    apps: { all: () => [app] },
    ingress: { get: () => ({ state: 'serving', targets: [{ id: 'c1' }] }) },
    connection: { engine: () => engine, info: () => ({ kind: 'podman', oneMachine: true }) },
    leaving: world.leaving,
    processes: new Map<string, string>(),
    log: { debug: (text: string) => expect.unreachable(text) },
  };
  const poll = createLivenessPoll(
    core as unknown as Core,
    (_, id) => void world.deaths.push(id),
    5,
  );
  return { world, poll };
}

async function processOf(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return {
    pid: child.pid as number,
    end: async () => (
      child.kill('SIGKILL'),
      void (child.exitCode ?? child.signalCode ?? (await once(child, 'exit')))
    ),
  };
}

describe.skipIf(process.platform !== 'linux')('the liveness poll', () => {
  it('tells of a process that is gone, though the engine goes on to say for a while that it runs', async () => {
    const own = await processOf();
    const { world, poll } = createWorld({ state: 'running', pid: own.pid });
    poll.start();
    await expect.poll(() => world.asked, { timeout: 10_000 }).toBe(1);
    await own.end();
    await expect.poll(() => world.asked, { timeout: 10_000 }).toBeGreaterThan(3);
    expect(world.deaths).toEqual([]);
    world.detail = { state: 'stopped', pid: 0 };
    await expect.poll(() => world.deaths.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await poll.stop();
  });

  it.each([
    ['the engine has not noticed yet', 'running'],
    ['the engine knows of', 'stopped'],
  ])('tells of a process that was gone before it was looked at, which %s', async (_, state) => {
    const own = await processOf();
    await own.end();
    const { world, poll } = createWorld({ state, pid: own.pid });
    poll.start();
    await expect.poll(() => world.asked, { timeout: 10_000 }).toBeGreaterThan(0);
    world.detail = { state: 'stopped', pid: 0 };
    await expect.poll(() => world.deaths.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await poll.stop();
  });

  it('asks the engine once about a process that runs, and ever more seldom about one that is elsewhere', async () => {
    const own = await processOf();
    const [here, elsewhere] = [
      createWorld({ state: 'running', pid: own.pid }),
      createWorld({ state: 'running', pid: 2 ** 22 + 1 }),
    ];
    for (const { poll } of [here, elsewhere]) poll.start();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const { poll } of [here, elsewhere]) await poll.stop();
    expect([here.world.asked, here.world.deaths, elsewhere.world.deaths]).toEqual([1, [], []]);
    // After 1, 2, 4, 8, 16, 32 looks, and then every 64: of two hundred in a second.
    expect(elsewhere.world.asked).toBeLessThan(12);
    await own.end();
  });

  it('says nothing of what is stopped on purpose', async () => {
    const { world, poll } = createWorld({ state: 'stopped', pid: 0 });
    world.leaving.add('c1');
    poll.start();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await poll.stop();
    expect(world.deaths).toEqual([]);
  });
});
