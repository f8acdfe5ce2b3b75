import { describe, expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/host/core.ts';
import { imageTag, LABELS, type EngineNaming } from '../../runtime/hosting/host/containers.ts';
import { forgetOldImages, forgetOldImagesOfAll } from '../../runtime/hosting/deploy/kept-images.ts';
import { createOperations } from '../../runtime/hosting/host/operations.ts';
import { createReconciler } from '../../runtime/hosting/deploy/reconciler.ts';
import { createRetries } from '../../runtime/hosting/host/retries.ts';
import { EngineError } from '../../runtime/hosting/engine/errors.ts';
import type { HostedApp } from '../../runtime/hosting/records/app.ts';

const naming = { instance: 'abc' } as unknown as EngineNaming;
const app = {
  id: '1',
  name: 'shop',
  deployment: 2,
  desired: 'stopped',
  status: 'stopped',
  spec: { domain: 'shop.apps.test', aliases: [] },
} as unknown as HostedApp;
const tagOf = (number: number) => imageTag({ naming }, app, number);

/** An engine with the images of three deployments, of which the last has failed. One that a container has cannot go. */
function createWorld() {
  const tags = new Set([1, 2, 3].map(tagOf));
  const containers: { id: string; name: string; state: string; labels: Record<string, string> }[] =
    [];
  const refusals = new Map<string, EngineError>();
  const said: string[] = [];
  const asked: string[] = [];
  const world = {
    tags,
    containers,
    refusals,
    said,
    asked,
    now: 0,
    lists: 0,
    operations: createOperations(),
  };
  const engine = {
    list: async () => [...containers],
    ensureNetwork: async () => null,
    remove: async (id: string) =>
      void containers.splice(
        containers.findIndex((each) => each.id === id),
        1,
      ),
    images: {
      tags: async () => ((world.lists += 1), [...tags]),
      async untag(tag: string) {
        asked.push(tag);
        const refusal =
          refusals.get(tag) ??
          (containers.some(({ labels }) => tagOf(Number(labels[LABELS.deployment])) === tag) &&
            new EngineError('conflict', `a container has ${tag}`));
        if (refusal) throw refusal;
        tags.delete(tag);
      },
    },
  };
  const core = {
    ...{
      naming,
      operations: world.operations,
      model: { deploys: { keep: 2 } },
      leaving: new Set<string>(),
    },
    connection: { engine: () => engine, info: () => ({}) },
    apps: {
      load: async () => {},
      all: () => [app],
      byId: (id: string) => (id === app.id ? app : undefined),
    },
    deployments: {
      unfinished: async () => [],
      supersede: async () => {},
      kept: async () => [{ number: 1 }, { number: 2 }],
    },
    ingress: { set: () => {}, abandon: () => {} },
    log: {
      warn: (text: string) => said.push(`warn ${text}`),
      info: (text: string) => said.push(`info ${text}`),
    },
  };
  const onClock = (now: () => number) =>
    ({ ...core, now, oldImages: createRetries(now) }) as unknown as Core;
  return { ...world, world, core: onClock(Date.now), clocked: onClock(() => world.now) };
}

/** Something that is done on the app until it is told to end. */
function busy(operations: ReturnType<typeof createOperations>) {
  let finish = () => {};
  const done = operations.run(
    app.id,
    'restart',
    () => new Promise<void>((resolve) => void (finish = resolve)),
  );
  return () => (finish(), done);
}

describe('images that a failed deployment left', () => {
  it('go as soon as nothing else is done on the app, though the engine was found while something was', async () => {
    const { core, tags, operations, said } = createWorld();
    const reconciler = createReconciler(core, {
      onDeath: () => {},
      forgive: () => {},
      handles: () => false,
    } as never);
    const finish = busy(operations);
    await reconciler.recover();
    expect([...tags]).toEqual([1, 2, 3].map(tagOf));
    reconciler.start();
    await finish();
    await expect.poll(() => [...tags], { timeout: 10_000 }).toEqual([1, 2].map(tagOf));
    expect(said).toEqual([]);
    await reconciler.stop();
  });

  it('go with its container, though that could not go when the engine was found', async () => {
    const { core, tags, containers, operations, asked } = createWorld();
    containers.push({
      id: 'c3',
      name: 'c3',
      state: 'created',
      labels: { [LABELS.app]: app.id, [LABELS.deployment]: '3' },
    });
    const finish = busy(operations);
    const { apps } = core as unknown as { apps: { all(): HostedApp[] } };
    const all = apps.all;
    let looks = 0;
    // The operation ends between the look at the containers and the one at the images: the container is still there.
    // The first look is for the networks.
    apps.all = () => ((looks += 1) === 2 && void finish(), all());
    const reconciler = createReconciler(core, {
      onDeath: () => {},
      forgive: () => {},
      handles: () => false,
    } as never);
    await reconciler.recover();
    expect([asked, [...tags]]).toEqual([[tagOf(3)], [1, 2, 3].map(tagOf)]);
    reconciler.start();
    await expect
      .poll(() => [containers.length, [...tags]], { timeout: 10_000 })
      .toEqual([0, [1, 2].map(tagOf)]);
    await reconciler.stop();
  });
});

describe('an image that the engine does not let go', () => {
  it('is said once for each reason, and tried again less and less often, up to once an hour', async () => {
    const { clocked: core, world, refusals, said, asked } = createWorld();
    refusals.set(tagOf(3), new EngineError('failed', 'the disk is read only'));
    await forgetOldImages(core, app);
    const hours = 5;
    for (; world.now < hours * 3_600_000; world.now += 500) await forgetOldImagesOfAll(core);
    expect(said).toEqual([`warn shop: the image ${tagOf(3)} stays for now: the disk is read only`]);
    // Twelve within the first hour, as each pause is twice the last; then one an hour.
    expect(asked.length).toBeLessThanOrEqual(13 + hours);
    expect(world.lists).toBeLessThanOrEqual(asked.length);
    refusals.set(tagOf(3), new EngineError('failed', 'the disk is broken'));
    for (const end = world.now + 3_600_001; world.now < end; world.now += 500)
      await forgetOldImagesOfAll(core);
    expect(said.slice(1)).toEqual([
      `warn shop: the image ${tagOf(3)} stays for now: the disk is broken`,
    ]);
    refusals.clear();
    for (const end = world.now + 3_600_001; world.now < end; world.now += 500)
      await forgetOldImagesOfAll(core);
    expect([...world.tags]).toEqual([1, 2].map(tagOf));
    const { lists } = world;
    for (const end = world.now + 3_600_001; world.now < end; world.now += 500)
      await forgetOldImagesOfAll(core);
    expect([world.lists - lists, said.length]).toEqual([0, 2]);
  });

  it('holds up no other', async () => {
    const { clocked: core, tags, refusals } = createWorld();
    tags.add(tagOf(4));
    refusals.set(tagOf(3), new EngineError('failed', 'no'));
    await forgetOldImages(core, app);
    expect([...tags]).toEqual([1, 2, 3].map(tagOf));
  });

  it('is tried again at once when the engine comes back', async () => {
    const { clocked: core, world, tags, refusals, said } = createWorld();
    refusals.set(tagOf(3), new EngineError('failed', 'no'));
    await forgetOldImages(core, app);
    for (; world.now < 3_600_000; world.now += 500) await forgetOldImagesOfAll(core);
    refusals.clear();
    await createReconciler(core, {
      onDeath: () => {},
      forgive: () => {},
      handles: () => false,
    } as never).recover();
    expect([[...tags], said.length]).toEqual([[1, 2].map(tagOf), 1]);
  });
});
