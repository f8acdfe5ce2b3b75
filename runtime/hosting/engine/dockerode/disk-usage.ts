import type Dockerode from 'dockerode';
import { retryOnRace } from './retry-on-race.ts';

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
