import type Dockerode from 'dockerode';
import type { ContainerUsage } from '../engine.ts';

interface RawStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly limit?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
  readonly networks?: Readonly<
    Record<string, { readonly rx_bytes: number; readonly tx_bytes: number }>
  >;
  /** Podman's name for `networks`. */
  readonly network?: RawStats['networks'];
  readonly pids_stats?: { readonly current?: number };
}

/**
 * Reads one sample. `one-shot` avoids the second that Docker otherwise waits to compute a rate. Our
 * callers compute rates from two samples.
 */
export async function readUsage(container: Dockerode.Container): Promise<ContainerUsage> {
  const stats = (await container.stats({ stream: false, 'one-shot': true } as object as {
    stream: false;
  })) as unknown as RawStats;
  const networks = Object.values(stats.networks ?? stats.network ?? {});
  const memory = stats.memory_stats ?? {};
  // The kernel can drop this part of the page cache at any time, so it does not count as used
  // memory.
  const cache = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  return {
    cpu: stats.cpu_stats?.cpu_usage?.total_usage ?? 0,
    memory: Math.max(0, (memory.usage ?? 0) - cache),
    memoryLimit: memory.limit ?? 0,
    networkIn: networks.reduce((sum, network) => sum + network.rx_bytes, 0),
    networkOut: networks.reduce((sum, network) => sum + network.tx_bytes, 0),
    pids: stats.pids_stats?.current ?? 0,
  };
}
