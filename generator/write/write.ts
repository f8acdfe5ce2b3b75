import { join } from 'node:path';
import type { Change, RenderedFile } from '../files.ts';
import { compareFiles, rescuable } from './changes.ts';
import { commit, FOLDER, recover } from './commit.ts';
import type { Disk } from './disk.ts';
import { hashText, type Lock, LOCKFILE, parseLock, printLock } from './lockfile.ts';
import { withRunLock } from './run-lock.ts';

/** Compares rendered files, and the lock that goes with them, with the disk. Writes nothing. */
export async function planChanges(root: string, { files, force }: { files: readonly RenderedFile[]; force: boolean }, disk: Disk): Promise<Change[]> {
  const lockText = await disk.read(join(root, LOCKFILE));
  const lock = parseLock(lockText);
  const paths = [...new Set([...files.map(({ path }) => path), ...lock.keys()])];
  const present = new Map(await Promise.all(paths.map(async (path) => [path, await disk.read(join(root, path))] as const)));
  const changes = compareFiles({ files, lock, present, force });
  const text = printLock(nextLock(changes, { files, lock }));
  const after = lockText?.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
  const kind = lockText === null ? 'create' : lockText === after ? 'same' : 'update';
  return [...changes, { path: LOCKFILE, owner: 'generated', kind, before: lockText, after }];
}

/**
 * Finishes what a killed run left, plans, and writes, while no other run does. A plan in which a generated file was edited
 * writes nothing; replaced texts that are nobody's output are kept under `.generator/rescued/` first.
 */
export async function applyChanges<Plan extends { readonly changes: readonly Change[] }>(root: string, plan: () => Promise<Plan>, disk: Disk): Promise<Plan> {
  return withRunLock(root, async () => {
    await recover(root, disk);
    const planned = await plan();
    const { changes } = planned;
    if (changes.some(({ kind }) => kind === 'edited')) return planned;
    await rescue(root, changes, disk);
    await commit(root, changes, disk);
    return planned;
  });
}

/** What the lock says after the changes. User files keep the line that says they were seeded, so that one deleted stays so. */
function nextLock(changes: readonly Change[], { files, lock }: { files: readonly RenderedFile[]; lock: Lock }): Lock {
  const next = new Map(lock);
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  for (const { path, owner, kind, before } of changes) {
    if (kind === 'remove' || (owner === 'generated' && before === null && !texts.has(path))) next.delete(path);
    else if (owner === 'generated' && kind !== 'stale' && kind !== 'edited') next.set(path, { owner, hashes: [hashText(texts.get(path)!)] });
    else if (kind === 'create') next.set(path, { owner, hashes: [hashText(texts.get(path)!)] });
    else if (!lock.has(path) && texts.has(path)) next.set(path, { owner, hashes: [hashText(texts.get(path)!)] });
  }
  for (const [path, { owner }] of lock) if (owner === 'generated' && !changes.some((change) => change.path === path)) next.delete(path);
  return next;
}

async function rescue(root: string, changes: readonly Change[], disk: Disk): Promise<void> {
  const lock = parseLock(await disk.read(join(root, LOCKFILE)));
  for (const { path, before } of rescuable(changes, lock)) {
    const name = `${path.replaceAll('/', '__')}.${hashText(before!).slice(0, 8)}`;
    if (path !== LOCKFILE) await disk.write(join(root, FOLDER, 'rescued', name), before!);
  }
}
