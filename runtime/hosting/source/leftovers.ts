import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../running.ts';

/** Creates a temporary folder that only this user can read, such as one for untrusted source code. */
export const makeFolder = (kind: 'source' | 'git' | 'backup'): Promise<string> =>
  mkdtemp(join(tmpdir(), `twofold-${kind}-${process.pid}-`));

/**
 * Removes the folders of processes that were killed. A folder with our own process id that is older
 * than this process belongs to an earlier process, because ids are reused.
 */
export async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = Number(/^twofold-(?:source|git|backup)-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) continue;
    const path = join(tmpdir(), name);
    const isOld =
      pid === process.pid
        ? ((await stat(path).catch(() => null))?.mtimeMs ?? 0) < performance.timeOrigin
        : !isRunning(pid);
    if (isOld) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
