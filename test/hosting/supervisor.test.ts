import { describe, expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/core.ts';
import type { Naming } from '../../runtime/hosting/deploy/containers.ts';
import { createOperations } from '../../runtime/hosting/deploy/operations.ts';
import { createSupervisor } from '../../runtime/hosting/deploy/supervisor.ts';
import type { App } from '../../runtime/hosting/records/app.ts';

/** An app whose containers are gone when they are looked at: what is seen is how often they may end. */
function createWorld() {
  const app = {
    id: '1',
    name: 'shop',
    deployment: 1,
    desired: 'running',
    status: 'running',
    spec: { domain: 'shop.apps.test', aliases: [] },
  };
  const engine = { inspect: async () => null, list: async () => [], async *logs() {} };
  const core = {
    ...{
      naming: { instance: 'abc' } as unknown as Naming,
      operations: createOperations(),
      now: Date.now,
      model: { deploys: { drain: 0 } },
      leaving: new Set<string>(),
    },
    connection: { engine: () => engine },
    apps: {
      byId: () => app,
      update: async (_: string, change: Partial<App>) => Object.assign(app, change),
    },
    ingress: { get: () => undefined, set: () => {}, drain: async () => {} },
    log: { warn: (text: string) => expect.unreachable(text) },
  } as unknown as Core;
  const supervisor = createSupervisor(core);
  let ends = 0;
  /** So many containers end, one after the other, each when the last has been seen to. */
  const end = async (times: number) => {
    for (let turn = 0; turn < times; turn += 1) {
      supervisor.onDeath(app as unknown as App, `c${(ends += 1)}`);
      await expect.poll(() => core.operations.running(app.id) ?? seen(ends)).toBe(true);
    }
  };
  let looked = 0;
  const seen = (wanted: number) =>
    looked >= wanted || (app.status === 'crashed' && looked + 1 >= wanted);
  engine.inspect = async () => ((looked += 1), null);
  return { app, supervisor, end };
}

describe('what keeps ending', () => {
  it('is given up on at the sixth time within a minute', async () => {
    const { app, supervisor, end } = createWorld();
    await end(5);
    expect(app.status).toBe('running');
    await end(1);
    await expect.poll(() => [app.status, app.desired]).toEqual(['crashed', 'stopped']);
    await supervisor.stop();
  });

  it('is not given up on for what ended with the engine', async () => {
    const { app, supervisor, end } = createWorld();
    for (let turn = 0; turn < 4; turn += 1) {
      supervisor.forgive();
      await end(2);
    }
    expect([app.status, app.desired]).toEqual(['running', 'running']);
    await supervisor.stop();
  });
});
