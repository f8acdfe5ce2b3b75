import type Dockerode from 'dockerode';
import type { ImageStore } from '../images.ts';
import { ignoring, pairs, retryOnRace } from './calls.ts';
import type { Dialect } from './dialect.ts';

/**
 * Reduces the build cache: first BuildKit's, which knows what was used last, then the tagged stages
 * of the other builders, the oldest first.
 */
export async function trimCache(
  client: Dockerode,
  dialect: Dialect,
  { cache, limit }: Parameters<ImageStore['trimCache']>[0],
): Promise<void> {
  if (dialect.pruneBuilds) await pruneBuilds(client, limit);
  const stages = await stagesOf(client, cache);
  // Layers that stages share count for each of them here, so the exact sizes are needed only then.
  if (sumOf(stages) <= limit) return;
  const { Images } = await diskUsage(client);
  const own = new Map((Images ?? []).map((image) => [image.Id, ownSize(image)]));
  let left = sumOf(stages.map((stage) => ({ ...stage, size: own.get(stage.id) ?? stage.size })));
  for (const { id, tag, size } of stages) {
    if (left <= limit) return;
    await ignoring(
      ['not_found', 'conflict'],
      async () => void (await client.getImage(tag).remove()),
    );
    left -= own.get(id) ?? size;
  }
}

/**
 * Reduces BuildKit's cache to `limit` bytes. dockerode's own call drops its options, with which the
 * engine would keep everything that an image still uses.
 */
export async function pruneBuilds(client: Dockerode, limit: number): Promise<void> {
  const call = {
    path: `/build/prune?all=true&keep-storage=${limit}`,
    method: 'POST',
    statusCodes: { 200: true, 500: 'server error' },
  };
  await new Promise<void>((resolve, reject) => {
    client.modem.dial(call as never, (error) => (error ? reject(error as Error) : resolve()));
  });
}

interface Stage {
  readonly id: string;
  readonly tag: string;
  /** Bytes. */
  readonly size: number;
}

const ownSize = ({ Size = 0, SharedSize = 0 }: SizedImage) => Size - Math.max(0, SharedSize);
const sumOf = (stages: readonly Stage[]) => stages.reduce((sum, { size }) => sum + size, 0);

/** The oldest first. */
async function stagesOf(client: Dockerode, cache: string): Promise<Stage[]> {
  const images = await retryOnRace(() => client.listImages());
  return images
    .sort((a, b) => a.Created - b.Created)
    .flatMap(({ Id, RepoTags, Size }) =>
      (RepoTags ?? [])
        .filter((tag) => tag.startsWith(cache))
        .map((tag) => ({ id: Id, tag, size: Size })),
    );
}

interface DiskUsage {
  readonly LayersSize?: number;
  readonly Images?: readonly SizedImage[] | null;
  readonly BuildCache?: readonly { readonly Size?: number }[] | null;
  readonly Volumes?:
    | readonly {
        readonly Name: string;
        readonly UsageData?: { readonly Size?: number } | null;
      }[]
    | null;
}

export interface SizedImage {
  readonly Id: string;
  readonly Size?: number;
  readonly SharedSize?: number;
}

/** What images, volumes and the build cache hold. The engine counts it at each call, which takes its time. */
export const diskUsage = (client: Dockerode, options: { type?: 'volume' } = {}) =>
  retryOnRace(() => client.df(options as never) as unknown as Promise<DiskUsage>);

/** How many bytes each volume holds. */
export async function volumeSizes(client: Dockerode): Promise<Map<string, number | null>> {
  const { Volumes } = await diskUsage(client, { type: 'volume' });
  // -1 means that the driver of the volume cannot tell.
  const sizeOf = (size = -1) => (size < 0 ? null : size);
  return new Map((Volumes ?? []).map(({ Name, UsageData }) => [Name, sizeOf(UsageData?.Size)]));
}

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
