import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../../runtime/hosting/running.ts';

/** Milliseconds that one waits for another: a Docker starts within a minute, on the busiest machine. */
const PATIENCE = 240_000;

/**
 * Waits until no other process of the tests has this. A Docker that starts removes the rules by which the networks of
 * every other Docker of the machine are closed to each other: who makes networks and looks at that keeps others from it.
 *
 * @returns what gives it back; calling that twice does no harm.
 * @example const giveBack = await holdPacketRules(); try { … } finally { giveBack(); }
 */
export async function holdPacketRules(): Promise<() => void> {
  const lock = join(process.env['TEST_ENGINES_DIR'] ?? tmpdir(), 'packet-rules');
  const holder = join(lock, 'pid');
  for (const end = Date.now() + PATIENCE; !taken(lock);) {
    if (Date.now() > end) throw new Error(`${lock} is not given back by ${pidIn(holder)}`);
    if (!isRunning(pidIn(holder))) rmSync(lock, { recursive: true, force: true });
    await sleep(200);
  }
  writeFileSync(holder, String(process.pid));
  let held = true;
  return () => {
    if (held) rmSync(lock, { recursive: true, force: true });
    held = false;
  };
}

/** @example await withPacketRules(() => startDocker(directory)); */
export async function withPacketRules<T>(work: () => Promise<T>): Promise<T> {
  const giveBack = await holdPacketRules();
  try {
    return await work();
  } finally {
    giveBack();
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The process that has the lock; this one, which lives, while nobody has written a number yet. */
function pidIn(holder: string): number {
  try {
    return Number(readFileSync(holder, 'utf8')) || process.pid;
  } catch {
    return process.pid;
  }
}
