import { randomUUID } from 'node:crypto';
import type { FoundEngine } from '../../dockerode/client.ts';
import type { PreparedBuild } from '../../dockerode/dialect.ts';
import type { BuildOptions } from '../../images.ts';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Prepares a build of Podman: its network, its secrets, and a control group by which its processes
 * are found.
 */
export function preparePodmanBuild(
  { info }: FoundEngine,
  { secrets, signal }: BuildOptions,
): PreparedBuild {
  const id = randomUUID();
  const group = `twofold-build-${id}`;
  const names = Object.keys(secrets);
  const files = names.map((_, index) => `.twofold-secret-${id}-${index}`);
  return {
    query: {
      // Without this option, RUN uses the host's network regardless of `networkmode`, and reaches
      // services on the loopback interface.
      nsoptions: JSON.stringify([{ Name: 'network', Host: false }]),
      // Podman moves these files out of the context before it builds.
      ...(names.length > 0 && {
        secrets: JSON.stringify(names.map((name, index) => `id=${name},src=${files[index]}`)),
      }),
      ...(!isRootless(info) && { cgroupparent: `/${group}` }),
    },
    files: Object.fromEntries(names.map((name, index) => [files[index], secrets[name] as string])),
    // Podman ends a build whose request was given up, but not the command that runs in it.
    end: async () => {
      if (signal.aborted) await killGroup(group);
    },
  };
}

/** Without root, a build cannot choose its control group. */
const isRootless = ({ SecurityOptions }: FoundEngine['info']): boolean =>
  SecurityOptions?.some((option) => option.includes('rootless')) ?? false;

/** A builder needs a moment to see that a step has ended, and does not begin the next one then. */
const PAUSE = 200;
const MAX_ROUNDS = 25;

/**
 * Ends all processes of a control group on this machine. Does nothing when the engine is on another
 * machine, and when its processes belong to another user.
 */
export async function killGroup(group: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const pids = await processesOf(group);
    if (pids.length === 0 && round > 0) return;
    if (!pids.every(kill)) return;
    await sleep(PAUSE);
  }
}

async function processesOf(group: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const found: number[] = [];
  for (const name of entries) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/cgroup`, 'utf8').catch(() => '');
    if (text.includes(`/${group}`)) found.push(Number(name));
  }
  return found;
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
