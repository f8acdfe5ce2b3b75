import type { Core } from '../core.ts';
import type { App } from '../records/app.ts';
import { allImagesPrefix, imagePrefix, imageTag } from './containers.ts';

/**
 * Only the last deployments that served keep their images, and none that failed. What cannot be removed now is at the
 * next deployment, or when the engine is found again.
 */
export async function forgetOldImages(core: Core, app: App): Promise<void> {
  await warned(core, app.name, async () => {
    await untagAllBut(core, app, await core.connection.engine().tags(imagePrefix(core.naming, app)));
    return true;
  });
}

/**
 * The same for every app, with one look at the engine's images.
 *
 * @returns whether all is done. An app on which something else is done now has to be asked again.
 */
export async function forgetOldImagesOfAll(core: Core): Promise<boolean> {
  return warned(core, 'images', async () => {
    const tags = await core.connection.engine().tags(allImagesPrefix(core.naming));
    let done = true;
    for (const app of [...core.apps.all()]) {
      const own = tags.filter((tag) => tag.startsWith(imagePrefix(core.naming, app)));
      if (own.length > 0) done = (await core.operations.tryRun(app.id, 'reconcile', () => untagAllBut(core, app, own))) && done;
    }
    return done;
  });
}

async function untagAllBut(core: Core, app: App, tags: readonly string[]): Promise<void> {
  const kept = await core.deployments.kept(app.id, core.model.deploys.keep);
  const wanted = new Set(kept.map(({ number }) => imageTag(core.naming, app, number)));
  for (const tag of tags) if (!wanted.has(tag)) await core.connection.engine().untag(tag);
}

async function warned(core: Core, what: string, work: () => Promise<boolean>): Promise<boolean> {
  return work().catch((error: Error) => {
    core.log.warn(`${what}: ${error.message}`);
    return false;
  });
}
