import type Dockerode from 'dockerode';

interface DiskUsage {
  readonly Volumes?:
    | readonly {
        readonly Name: string;
        readonly UsageData?: { readonly Size?: number } | null;
      }[]
    | null;
}

/** How many bytes each volume holds. The engine counts them at each call, which takes its time. */
export async function volumeSizes(client: Dockerode): Promise<Map<string, number | null>> {
  const { Volumes } = (await client.df({ type: 'volume' } as never)) as unknown as DiskUsage;
  // -1 means that the driver of the volume cannot tell.
  const sizeOf = (size = -1) => (size < 0 ? null : size);
  return new Map((Volumes ?? []).map(({ Name, UsageData }) => [Name, sizeOf(UsageData?.Size)]));
}
