import { expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/core.ts';
import { imageTag, type Naming } from '../../runtime/hosting/deploy/containers.ts';
import { createOperations } from '../../runtime/hosting/deploy/operations.ts';
import { createReconciler } from '../../runtime/hosting/deploy/reconciler.ts';
import type { App } from '../../runtime/hosting/records/app.ts';

const naming = { instance: 'abc' } as unknown as Naming;
const app = { id: '1', name: 'shop', deployment: 2, desired: 'stopped', status: 'stopped', spec: { domain: 'shop.apps.test', aliases: [] } } as unknown as App;

/** An engine with these tags and no containers, and an app whose last two deployments served. */
function coreWith(tags: Set<string>) {
  const operations = createOperations();
  const engine = { list: async () => [], tags: async () => [...tags], untag: async (tag: string) => void tags.delete(tag) };
  const core = {
    ...{ naming, operations, now: Date.now, model: { deploys: { keep: 2 } }, leaving: new Set<string>() },
    connection: { engine: () => engine, info: () => ({}) },
    apps: { load: async () => {}, all: () => [app], byId: (id: string) => (id === app.id ? app : undefined) },
    deployments: { unfinished: async () => [], supersede: async () => {}, kept: async () => [{ number: 1 }, { number: 2 }] },
    ingress: { set: () => {} },
    log: { warn: (text: string) => expect.unreachable(text) },
  };
  return { core: core as unknown as Core, operations };
}

it('images that a failed deployment left go as soon as nothing else is done on the app, though the engine was found while something was', async () => {
  const tagOf = (number: number) => imageTag(naming, app, number);
  const tags = new Set([1, 2, 3].map(tagOf));
  const { core, operations } = coreWith(tags);
  const reconciler = createReconciler(core, { onDeath: () => {} } as never, 10);
  let finish = () => {};
  const restart = operations.run(app.id, 'restart', () => new Promise<void>((resolve) => void (finish = resolve)));
  await reconciler.recover();
  expect([...tags]).toEqual([1, 2, 3].map(tagOf));
  reconciler.start();
  finish();
  await restart;
  await expect.poll(() => [...tags]).toEqual([1, 2].map(tagOf));
  await reconciler.stop();
});
