import type { Core } from '../core.ts';
import type { App } from '../records/app.ts';
import { imagePrefix, imageTag } from './containers.ts';

/**
 * Only the last deployments that served keep their images, and none that failed. What cannot be removed now is at the
 * next deployment or start.
 */
export async function forgetOldImages(core: Core, app: App): Promise<void> {
  try {
    const engine = core.connection.engine();
    const kept = await core.deployments.kept(app.id, core.model.deploys.keep);
    const wanted = new Set(kept.map(({ number }) => imageTag(core.naming, app, number)));
    for (const tag of await engine.tags(imagePrefix(core.naming, app))) if (!wanted.has(tag)) await engine.untag(tag);
  } catch (error) {
    core.log.warn(`${app.name}: ${(error as Error).message}`);
  }
}
