import { describe, expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/host/core.ts';
import { createLifecycle } from '../../runtime/hosting/deploy/lifecycle.ts';
import { createOperations } from '../../runtime/hosting/host/operations.ts';
import { rollOut } from '../../runtime/hosting/deploy/rollout.ts';
import type { DeployStep } from '../../runtime/hosting/host/steps.ts';
import { EngineError } from '../../runtime/hosting/engine/errors.ts';
import type { HostedApp, Deployment } from '../../runtime/hosting/records/app.ts';

const spec = {
  domain: 'shop.apps.test',
  aliases: [],
  volumes: [],
  replicas: 2,
  resources: { memory_mb: 0, cpus: 0, pids: 0 },
  command: null,
  health: {},
};
const app = {
  id: '1',
  name: 'shop',
  deployment: 1,
  desired: 'running',
  status: 'running',
  env: {},
  secrets: {},
  spec,
} as unknown as HostedApp;
const deployment = {
  app_id: '1',
  number: 2,
  image_id: 'sha256:1',
  image: 'x',
  port: 80,
  replicas: 2,
  processes: [],
} as unknown as Deployment;
const away = () => new EngineError('unavailable', 'The container engine is away');

/** An engine that can be away, and the containers on it. */
function createWorld() {
  const world = {
    away: false,
    containers: [] as string[],
    refuses: false,
    leaving: new Set<string>(),
    said: [] as string[],
  };
  const engine = {
    ensureNetwork: async () => null,
    list: async () =>
      world.containers.map((id) => ({ id, name: id, state: 'created', labels: {} })),
    create: async () => (
      world.containers.push(`c${world.containers.length + 1}`),
      world.containers.at(-1) as string
    ),
    async remove() {
      if (world.refuses) throw new EngineError('failed', 'device or resource busy');
    },
  };
  const core = {
    ...{
      naming: { instance: 'abc' },
      operations: createOperations(),
      now: Date.now,
      model: { deploys: {}, defaults: { port: 80 } },
      leaving: world.leaving,
      processes: new Map<string, string>(),
    },
    connection: {
      reach: () => 'address',
      engine() {
        if (world.away) throw away();
        return engine;
      },
    },
    apps: { byId: () => app, update: async () => app },
    ingress: { remove: () => {} },
    log: { warn: (text: string) => world.said.push(text) },
    onStep: (step: DeployStep) => {
      if (step === 'created') world.away = true;
    },
  } as unknown as Core;
  return { world, core };
}

describe('containers that cannot be taken away', () => {
  it('of a deployment in which the engine went away are left to the reconciler', async () => {
    const { world, core } = createWorld();
    await expect(
      rollOut(core, app, deployment, new AbortController().signal),
    ).rejects.toMatchObject({ kind: 'unavailable' });
    expect([world.containers, [...world.leaving]]).toEqual([['c1', 'c2'], []]);
    expect(world.said).toEqual(
      Array.from(
        { length: 2 },
        () => 'a container is left to the reconciler: The container engine is away',
      ),
    );
  });

  it('of an app that is deleted are not forgotten', async () => {
    const { world, core } = createWorld();
    world.containers.push('c1');
    world.refuses = true;
    await expect(
      createLifecycle(core, { stopAll: async () => {} }).remove(app, { volumes: false }),
    ).rejects.toThrow('device or resource busy');
    expect([...world.leaving]).toEqual([]);
  });
});
