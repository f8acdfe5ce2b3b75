import { readFileSync } from 'node:fs';
import type { ContainerUsage } from './engine.ts';

/** Asks the engine for a container's first process; null when it does not run. */
export type PidOf = (id: string) => Promise<number | null>;

interface Place {
  readonly pid: number;
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
    const known = places.get(id);
    if (known && (await belongs(known.pid, id))) return known;
    const pid = await pidOf(id);
    const place = pid ? await placeOf(pid, id) : null;
    if (places.size >= KEPT) places.clear();
    if (place) places.set(id, place);
    else places.delete(id);
    return place;
  };
  return async (id) => {
    const place = await find(id);
    return place && (await read(place).catch(() => null));
  };
}

/** Process ids are used again: the cgroup's name holds the container's id. */
const belongs = async (pid: number, id: string) => (await text(`/proc/${pid}/cgroup`)).includes(id);

async function placeOf(pid: number, id: string): Promise<Place | null> {
  const lines = (await text(`/proc/${pid}/cgroup`)).split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const path = (controller: string) => lines.find((line) => line?.[1]?.split(',').includes(controller));
  const [cpu, memory, pids] = ['cpuacct', 'memory', 'pids'].map(path);
  if (cpu?.[2]?.includes(id) && memory && pids) {
    const [cpuFolder = '', memoryFolder = '', pidsFolder = ''] = [cpu, memory, pids].map((line) => `${ROOT}/${line?.[1]}${line?.[2]}`);
    return { pid, cpu: cpuFolder, memory: memoryFolder, pids: pidsFolder, version: 1 };
  }
  const unified = lines.find((line) => line?.[1] === '')?.[2];
  if (!unified?.includes(id)) return null;
  const folder = ROOT + unified;
  return { pid, cpu: folder, memory: folder, pids: folder, version: 2 };
}

async function read(place: Place): Promise<ContainerUsage> {
  const [cpu, memory, pids, network] = await Promise.all([readCpu(place), readMemory(place), file(`${place.pids}/pids.current`), readNetwork(place.pid)]);
  return { cpu, ...memory, pids: Number(pids) || 0, ...network };
}

async function readCpu({ cpu, version }: Place): Promise<number> {
  if (version === 1) return Number(await file(`${cpu}/cpuacct.usage`));
  return field(await file(`${cpu}/cpu.stat`), 'usage_usec') * 1000;
}

async function readMemory({ memory, version }: Place) {
  const names = version === 1 ? ['memory.usage_in_bytes', 'memory.limit_in_bytes', 'memory.stat'] : ['memory.current', 'memory.max', 'memory.stat'];
  const [used = '', limit = '', stat = ''] = await Promise.all(names.map((name) => file(`${memory}/${name}`)));
  // The page cache that can be dropped at once is not what an app uses.
  const cache = field(stat, version === 1 ? 'total_inactive_file' : 'inactive_file');
  const max = Number(limit);
  return { memory: Math.max(0, Number(used) - cache), memoryLimit: Number.isFinite(max) && max < 2 ** 60 ? max : 0 };
}

/** The process's own view of its network, without its loopback. */
async function readNetwork(pid: number) {
  const rows = (await file(`/proc/${pid}/net/dev`)).split('\n').map((line) => /^\s*([^:\s]+):\s*(.*)$/.exec(line));
  let [networkIn, networkOut] = [0, 0];
  for (const row of rows) {
    if (!row || row[1] === 'lo') continue;
    const counters = (row[2] as string).split(/\s+/).map(Number);
    networkIn += counters[0] ?? 0;
    networkOut += counters[8] ?? 0;
  }
  return { networkIn, networkOut };
}

/** These files are made by the kernel as they are read: the way through a thread would take longer than the reading. */
const file = async (path: string) => readFileSync(path, 'utf8');
const text = (path: string) => file(path).catch(() => '');
const field = (stat: string, name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0);
