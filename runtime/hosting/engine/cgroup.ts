import { readFileSync, statSync } from 'node:fs';
import type { ContainerUsage } from './engine.ts';
import { createKernelFiles, type KernelFile, type KernelFiles } from './kernel-files.ts';

/** Asks the engine for a container's first process. Null when the container does not run. */
export type PidOf = (id: string) => Promise<number | null>;

/** Reads how much CPU, memory and network a container has used. */
export interface UsageReader {
  /**
   * Null when the usage cannot be read: the container does not run, its engine is on another
   * machine, or this process lacks the permission.
   */
  read(id: string): Promise<ContainerUsage | null>;
  /** Closes the files of a container that has ended. */
  forget(id: string): void;
}

interface ContainerCgroup {
  readonly pid: number;
  /** The inode of `/proc/<pid>`, which differs when the process id is reused. */
  readonly inode: number;
  readonly version: 1 | 2;
  readonly memoryLimit: number;
  readonly files: {
    readonly [name in 'cpu' | 'memory' | 'memoryStat' | 'pids' | 'network']: KernelFile;
  };
}

/** Where the kernel's `/proc` and cgroup file systems are mounted. */
export interface KernelRoots {
  readonly proc: string;
  readonly cgroup: string;
}

interface Kernel extends KernelRoots {
  readonly open: KernelFiles;
}

/** The names of the controllers' files, by the version of the cgroup API. */
const FILE_NAMES = {
  1: {
    cpu: 'cpuacct.usage',
    memory: 'memory.usage_in_bytes',
    memoryLimit: 'memory.limit_in_bytes',
    cache: /^total_inactive_file (\d+)$/m,
  },
  2: {
    cpu: 'cpu.stat',
    memory: 'memory.current',
    memoryLimit: 'memory.max',
    cache: /^inactive_file (\d+)$/m,
  },
} as const;
const MAX_CONTAINERS = 5000;

/**
 * Reads the usage of containers from the kernel's own files. That takes a hundredth of the time of
 * asking the engine: Docker waits up to a second before it answers.
 *
 * @example
 * const usage = createUsageReader(async (id) => (await engine.inspect(id))?.pid ?? null);
 * (await usage.read(id))?.memory
 */
export function createUsageReader(
  pidOf: PidOf,
  roots: KernelRoots = { proc: '/proc', cgroup: '/sys/fs/cgroup' },
): UsageReader {
  const kernel = { ...roots, open: createKernelFiles() };
  const places = new Map<string, ContainerCgroup>();
  const forget = (id: string) => {
    const place = places.get(id);
    if (!place) return;
    places.delete(id);
    for (const file of Object.values(place.files)) file.close();
  };
  const find = async (id: string): Promise<ContainerCgroup | null> => {
    const pid = await pidOf(id);
    forget(id);
    const place = pid ? cgroupOf(kernel, pid, id) : null;
    if (places.size >= MAX_CONTAINERS) for (const other of places.keys()) forget(other);
    if (place) places.set(id, place);
    return place;
  };
  return {
    async read(id) {
      const known = places.get(id);
      const usage = known && known.inode === inodeOf(kernel, known.pid) ? usageOf(known) : null;
      if (usage) return usage;
      const place = await find(id);
      return place && usageOf(place);
    },
    forget,
  };
}

const inodeOf = ({ proc }: Kernel, pid: number) =>
  statSync(`${proc}/${pid}`, { throwIfNoEntry: false })?.ino ?? 0;

/**
 * Process ids are reused, so the path of the cgroup must contain the container's id. On cgroup v2
 * all controllers share one folder.
 */
function cgroupOf(kernel: Kernel, pid: number, id: string): ContainerCgroup | null {
  const inode = inodeOf(kernel, pid);
  if (inode === 0) return null;
  const lines = textOf(`${kernel.proc}/${pid}/cgroup`)
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const folders = ['cpuacct', 'memory', 'pids'].map((controller) =>
    lines.find((line) => line?.[1]?.split(',').includes(controller)),
  );
  const version = folders.every((line) => line?.[2]?.includes(id)) ? 1 : 2;
  const unified = lines.find((line) => line?.[1] === '')?.[2];
  if (version === 2 && !unified?.includes(id)) return null;
  const [cpu, memory, pids] = folders.map(
    (line) => kernel.cgroup + (version === 1 ? `/${line?.[1]}${line?.[2]}` : unified),
  );
  const names = FILE_NAMES[version];
  const files = {
    cpu: kernel.open(`${cpu}/${names.cpu}`),
    memory: kernel.open(`${memory}/${names.memory}`),
    memoryStat: kernel.open(`${memory}/memory.stat`),
    pids: kernel.open(`${pids}/pids.current`),
    network: kernel.open(`${kernel.proc}/${pid}/net/dev`),
  };
  return { pid, inode, version, memoryLimit: limitOf(`${memory}/${names.memoryLimit}`), files };
}

/** Is read only once, because a container's limit does not change. */
function limitOf(path: string): number {
  const max = Number(textOf(path));
  return Number.isFinite(max) && max < 2 ** 60 ? max : 0;
}

/** Null when the container has ended meanwhile. */
function usageOf({ files, version, memoryLimit }: ContainerCgroup): ContainerUsage | null {
  try {
    const cpu = files.cpu.read();
    // The kernel can drop this part of the page cache at any time, so it does not count as used
    // memory.
    const memory = Math.max(
      0,
      Number(files.memory.read()) - field(files.memoryStat.read(), FILE_NAMES[version].cache),
    );
    const pids = Number(files.pids.read()) || 0;
    return {
      cpu: version === 1 ? Number(cpu) : field(cpu, USAGE) * 1000,
      memory,
      memoryLimit,
      pids,
      ...networkOf(files.network.read()),
    };
  } catch {
    return null;
  }
}

/** The traffic of all interfaces in the process's network namespace, except loopback. */
function networkOf(text: string) {
  let [networkIn, networkOut] = [0, 0];
  for (const [, name, received, sent] of text.matchAll(INTERFACE)) {
    if (name === 'lo') continue;
    networkIn += Number(received);
    networkOut += Number(sent);
  }
  return { networkIn, networkOut };
}

const USAGE = /^usage_usec (\d+)$/m;
const INTERFACE = /^ *([^:\s]+): *(\d+)(?: +\d+){7} +(\d+)/gm;
const field = (stat: string, pattern: RegExp) => Number(pattern.exec(stat)?.[1] ?? 0);

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
