import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

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
