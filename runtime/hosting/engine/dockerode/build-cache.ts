import type Dockerode from 'dockerode';
import type { ImageStore } from '../images.ts';
import { ignoring } from './calls.ts';
import type { Dialect } from './dialect.ts';
import { diskUsage, type SizedImage } from './disk-usage.ts';
import { retryOnRace } from './retry-on-race.ts';

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
