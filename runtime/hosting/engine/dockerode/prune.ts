import type Dockerode from 'dockerode';
import { pruneBuilds } from './build-cache.ts';
import { ignoring, pairs } from './calls.ts';
import type { Dialect } from './dialect.ts';
import { diskUsage } from './disk-usage.ts';
import type { ImageStore } from '../images.ts';
import { retryOnRace } from './retry-on-race.ts';

/**
 * Removes unused images. The tags of build stages are removed first, because engines prune only
 * images without a tag.
 */
export async function prune(
  client: Dockerode,
  dialect: Dialect,
  { labels, cache, note }: Parameters<ImageStore['prune']>[0],
) {
  note('measuring what is used');
  const before = await spaceOf(client);
  const stages = (await retryOnRace(() => client.listImages()))
    .flatMap((image) => image.RepoTags ?? [])
    .filter((tag) => tag.startsWith(cache));
  for (const [index, tag] of stages.entries()) {
    note(`removing build stage ${index + 1} of ${stages.length}`);
    await ignoring(
      ['not_found', 'conflict'],
      async () => void (await client.getImage(tag).remove()),
    );
  }
  note('removing images without a name');
  const images = await retryOnRace(() =>
    client.pruneImages({ filters: { label: pairs(labels), dangling: ['true'] } }),
  );
  if (dialect.pruneBuilds) {
    note('removing the build cache');
    await pruneBuilds(client, 0).catch(() => {});
  }
  const after = await spaceOf(client);
  return {
    images: stages.length + (images?.ImagesDeleted?.length ?? 0),
    reclaimed: Math.max(images?.SpaceReclaimed ?? 0, before - after),
  };
}

/**
 * The bytes of all layers and of the build cache. Engines do not report how much space the removal
 * of a tag frees, so the sizes before and after are compared.
 */
async function spaceOf(client: Dockerode): Promise<number> {
  const { LayersSize = 0, Images, BuildCache } = await diskUsage(client);
  const builds = (BuildCache ?? []).reduce((sum, { Size = 0 }) => sum + Size, 0);
  // Podman does not report the size of all layers.
  const images = (Images ?? []).reduce(
    (sum, { Size = 0, SharedSize = 0 }) => sum + Size - Math.max(0, SharedSize),
    0,
  );
  return builds + (LayersSize || images);
}
