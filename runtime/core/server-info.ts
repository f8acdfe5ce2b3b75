import { statfs } from 'node:fs/promises';
import {
  arch,
  availableParallelism,
  hostname,
  release,
  totalmem,
  type as osType,
  uptime,
} from 'node:os';
import type { Kernel } from './module.ts';
import { VERSION } from './version.ts';

/** The response of `GET /api/system/info`: facts about the server and its machine. */
export interface ServerInfo {
  readonly name: string;
  /** The version of the packages that run it. */
  readonly version: string;
  readonly node: string;
  readonly environment: 'development' | 'production';
  readonly hostname: string;
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** Seconds. */
  readonly uptime: number;
  readonly machine_uptime: number;
  /** RFC 3339. */
  readonly started_at: string;
  /** Streams of the log that are open; absent where no log is kept. */
  readonly log_followers?: number;
}

/** @example const info = createServerInfo(kernel); (await info()).uptime */
export function createServerInfo({
  project,
  settings,
  recorder,
  root,
  now,
}: Kernel): () => Promise<ServerInfo> {
  const startedAt = now();
  return async () => ({
    name: project.name,
    version: VERSION,
    node: process.versions.node,
    environment: settings.production ? 'production' : 'development',
    hostname: hostname(),
    os: `${osType()} ${release()}`,
    arch: arch(),
    cpus: availableParallelism(),
    memory: totalmem(),
    disk: await diskOf(root),
    uptime: Math.floor((now() - startedAt) / 1000),
    machine_uptime: Math.floor(uptime()),
    started_at: new Date(startedAt).toISOString(),
    ...(recorder && { log_followers: await recorder.followers() }),
  });
}

/** Free and total bytes of the disk with this folder. Null when the system does not report them. */
export async function diskOf(folder: string): Promise<ServerInfo['disk']> {
  const stats = await statfs(folder).catch(() => null);
  return stats && { free: stats.bavail * stats.bsize, total: stats.blocks * stats.bsize };
}
