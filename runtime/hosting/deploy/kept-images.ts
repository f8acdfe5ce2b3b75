import type { Core } from '../host/core.ts';
import { EngineError } from '../engine/errors.ts';
import type { HostedApp } from '../records/app.ts';
import { allImagesPrefix, imagePrefix, imageTag } from '../host/containers.ts';

/** The key, among the retries, for checking the images of every app. */
const ALL_IMAGES = 'images';
const ALL_IMAGES_PAUSE = 30_000;

/**
 * Keeps the images of the last deployments that served, and no others. An image that cannot be
 * removed now is tried again by the reconciler or at the next deployment.
 */
export async function forgetOldImages(core: Core, app: HostedApp): Promise<void> {
  await retryLater(core, async () =>
    untagAllBut(core, app, await core.connection.engine().images.tags(imagePrefix(core, app))),
  );
}

/**
 * Does the same for every app, with one list request to the engine, when a check is due. Apps that
 * are busy with another operation are checked again later.
 */
export async function forgetOldImagesOfAll(core: Core): Promise<void> {
  if (!core.oldImages.anyDue()) return;
  await retryLater(core, async () => {
    const tags = await core.connection.engine().images.tags(allImagesPrefix(core));
    core.oldImages.keep((key) => key === ALL_IMAGES || tags.includes(key));
    let busy = false;
    for (const app of [...core.apps.all()]) {
      const own = tags.filter((tag) => tag.startsWith(imagePrefix(core, app)));
      if (
        own.length > 0 &&
        !(await core.operations.tryRun(app.id, 'reconcile', () => untagAllBut(core, app, own)))
      )
        busy = true;
    }
    if (!busy) core.oldImages.done(ALL_IMAGES);
    else core.oldImages.failed(ALL_IMAGES, 'something else is done on an app', ALL_IMAGES_PAUSE);
  });
}

/**
 * Requests a check of every app's images: a deployment may have been interrupted, or the engine was
 * not reachable.
 */
export function suspectOldImages({ oldImages }: Core): void {
  oldImages.failed(ALL_IMAGES, 'not looked at yet');
  oldImages.hurry();
}

async function untagAllBut(core: Core, app: HostedApp, tags: readonly string[]): Promise<void> {
  const kept = await core.deployments.kept(app.id, core.model.deploys.keep);
  const wanted = new Set(kept.map(({ number }) => imageTag(core, app, number)));
  for (const tag of tags)
    if (!wanted.has(tag) && core.oldImages.due(tag)) await untag(core, app, tag);
}

/** Removes one tag. A refusal does not stop the others, and is logged only once. */
async function untag(core: Core, app: HostedApp, tag: string): Promise<void> {
  try {
    await core.connection.engine().images.untag(tag);
    core.oldImages.done(tag);
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error;
    // The container that uses it is still being stopped, which is normal.
    const level = error.kind === 'conflict' ? 'info' : 'warn';
    if (core.oldImages.failed(tag, error.message))
      core.log[level](`${app.name}: the image ${tag} stays for now: ${error.message}`);
  }
}

async function retryLater(core: Core, work: () => Promise<void>): Promise<void> {
  await work().catch((error: Error) => {
    if (core.oldImages.failed(ALL_IMAGES, error.message, ALL_IMAGES_PAUSE))
      core.log.warn(`old images stay for now: ${error.message}`);
  });
}
