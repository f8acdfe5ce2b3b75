import { readFileSync, statSync } from 'node:fs';
import type { ContainerUsage } from './engine.ts';

/** Asks the engine for a container's first process; null when it does not run. */
export type PidOf = (id: string) => Promise<number | null>;

interface Place {
  readonly pid: number;
  /** Of the process's folder in /proc: another process of the same id has another one. */
  readonly inode: number;
  readonly memoryLimit: number;
  /** Folder of each controller; on cgroup v2 all are the same one. */
  readonly cpu: string;
  readonly memory: string;
  readonly pids: string;
  readonly version: 1 | 2;
}

const ROOT = '/sys/fs/cgroup';
const KEPT = 5000;

/**
 * What a container uses, from the kernel's own files: a hundredth of what asking the engine takes, where Docker waits
 * for its next second. Null where they cannot be read: the engine is on another machine, or this process may not.
 *
 * @example
 * const read = createUsageReader(async (id) => (await engine.inspect(id))?.pid ?? null);
 * (await read(id))?.memory
 */
export function createUsageReader(pidOf: PidOf): (id: string) => Promise<ContainerUsage | null> {
  const places = new Map<string, Place>();
  const find = async (id: string): Promise<Place | null> => {
    const pid = await pidOf(id);
    const place = pid ? placeOf(pid, id) : null;
    if (places.size >= KEPT) places.clear();
    if (place) places.set(id, place);
    else places.delete(id);
    return place;
  };
  return async (id) => {
    const known = places.get(id);
    const place = known && known.inode === inodeOf(known.pid) ? known : await find(id);
    return place && read(place);
  };
}

const inodeOf = (pid: number) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.ino ?? 0;

/** Process ids are used again: the cgroup's name holds the container's id. */
function placeOf(pid: number, id: string): Place | null {
  const inode = inodeOf(pid);
  if (inode === 0) return null;
  const lines = text(`/proc/${pid}/cgroup`).split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const path = (controller: string) => lines.find((line) => line?.[1]?.split(',').includes(controller));
  const [cpu, memory, pids] = ['cpuacct', 'memory', 'pids'].map(path);
  if (cpu?.[2]?.includes(id) && memory && pids) {
    const [cpuFolder = '', memoryFolder = '', pidsFolder = ''] = [cpu, memory, pids].map((line) => `${ROOT}/${line?.[1]}${line?.[2]}`);
    return { pid, inode, memoryLimit: limitOf(`${memoryFolder}/memory.limit_in_bytes`), cpu: cpuFolder, memory: memoryFolder, pids: pidsFolder, version: 1 };
  }
  const unified = lines.find((line) => line?.[1] === '')?.[2];
  if (!unified?.includes(id)) return null;
  const folder = ROOT + unified;
  return { pid, inode, memoryLimit: limitOf(`${folder}/memory.max`), cpu: folder, memory: folder, pids: folder, version: 2 };
}

/** A container keeps the limit that it was made with. */
function limitOf(path: string): number {
  const max = Number(text(path));
  return Number.isFinite(max) && max < 2 ** 60 ? max : 0;
}

/** Null when the container has ended meanwhile. */
function read(place: Place): ContainerUsage | null {
  try {
    const pids = Number(file(`${place.pids}/pids.current`)) || 0;
    return { cpu: readCpu(place), memory: readMemory(place), memoryLimit: place.memoryLimit, pids, ...readNetwork(place.pid) };
  } catch {
    return null;
  }
}

function readCpu({ cpu, version }: Place): number {
  if (version === 1) return Number(file(`${cpu}/cpuacct.usage`));
  return field(file(`${cpu}/cpu.stat`), USAGE) * 1000;
}

/** The page cache that can be dropped at once is not what an app uses. */
function readMemory({ memory, version }: Place): number {
  const used = Number(file(version === 1 ? `${memory}/memory.usage_in_bytes` : `${memory}/memory.current`));
  return Math.max(0, used - field(file(`${memory}/memory.stat`), version === 1 ? CACHE_1 : CACHE_2));
}

/** The process's own view of its network, without its loopback. */
function readNetwork(pid: number) {
  let [networkIn, networkOut] = [0, 0];
  for (const line of file(`/proc/${pid}/net/dev`).split('\n')) {
    const row = INTERFACE.exec(line);
    if (!row || row[1] === 'lo') continue;
    const counters = (row[2] as string).split(/\s+/);
    networkIn += Number(counters[0] ?? 0);
    networkOut += Number(counters[8] ?? 0);
  }
  return { networkIn, networkOut };
}

const USAGE = /^usage_usec (\d+)$/m;
const CACHE_1 = /^total_inactive_file (\d+)$/m;
const CACHE_2 = /^inactive_file (\d+)$/m;
const INTERFACE = /^\s*([^:\s]+):\s*(.*)$/;
const field = (stat: string, pattern: RegExp) => Number(pattern.exec(stat)?.[1] ?? 0);

/** These files are made by the kernel as they are read: the way through a thread would take longer than the reading. */
const file = (path: string) => readFileSync(path, 'utf8');

function text(path: string): string {
  try {
    return file(path);
  } catch {
    return '';
  }
}
