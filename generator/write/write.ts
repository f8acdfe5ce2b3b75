import { isAbsolute, join } from 'node:path';
import { FOLDER, type FileChange, type RenderedFile } from '../files.ts';
import { BASES, OLD_BASES, parseBases } from './bases.ts';
import { compareFiles } from './changes.ts';
import { commit, recover } from './commit.ts';
import type { Disk } from './disk.ts';
import { hashText, LOCKFILE, parseLock, printLock, type Lock, type LockEntry } from './lockfile.ts';
import { withRunLock } from './run-lock.ts';
import { newPath } from './scaffold.ts';
import { isInWorkTree } from './work-tree.ts';

export interface WantedFiles {
  readonly files: readonly RenderedFile[];
  readonly force: boolean;
  readonly removed?: readonly string[];
  /** Whether a generated file of another run stays as it is, with its line in the lockfile. */
  readonly isKept?: (path: string) => boolean;
}

/** Compares rendered files and the lockfile with the disk. Writes nothing. */
export async function planChanges(
  root: string,
  { files, force, removed = [], isKept = () => false }: WantedFiles,
  disk: Disk,
): Promise<FileChange[]> {
  const lockText = await disk.read(join(root, LOCKFILE));
  const wanted = new Set(files.map(({ path }) => path));
  const all = [...parseLock(lockText)].filter(([path]) => isOurs(root, path));
  const kept = all.filter(([path]) => isKept(path) && !wanted.has(path));
  const lock = new Map(all.filter((entry) => !kept.includes(entry)));
  const paths = [...new Set([BASES, ...files.flatMap(pathsOf), ...removed, ...lock.keys()])];
  const present = new Map(
    await Promise.all(
      paths.map(async (path) => [path, await disk.read(join(root, path))] as const),
    ),
  );
  const changes = compareFiles({ files, lock, present, force, removed });
  const text = printLock(new Map([...nextLock(changes, lock, present), ...kept]));
  const after = lockText?.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
  const kind = lockText === null ? 'create' : lockText === after ? 'same' : 'update';
  return [...changes, { path: LOCKFILE, owner: 'generated', kind, before: lockText, after }];
}

/**
 * Whether a path of the lockfile may be written or removed. A line that a merge brought may name
 * any path: outside the project only what is in its git work tree counts, and with every link
 * resolved.
 */
function isOurs(root: string, path: string): boolean {
  return (!path.split('/').includes('..') && !isAbsolute(path)) || isInWorkTree(root, path);
}

/**
 * Finishes the commit of a killed run, plans, and writes, while no other run does. If a generated
 * file was edited, nothing is written. Texts that no run wrote are copied to `.generator/rescued/`
 * before they are replaced.
 */
export async function applyChanges<Plan extends { readonly changes: readonly FileChange[] }>(
  root: string,
  plan: () => Promise<Plan>,
  disk: Disk,
): Promise<Plan> {
  return withRunLock(root, async () => {
    await recover(root, disk);
    const planned = await plan();
    await writeChanges(root, planned.changes, disk);
    return planned;
  });
}

/** Only writes: for a disk that no other run writes to. */
export async function writeChanges(
  root: string,
  changes: readonly FileChange[],
  disk: Disk,
): Promise<void> {
  if (changes.some(({ kind }) => kind === 'edited')) return;
  await rescue(root, changes, disk);
  await commit(root, changes, disk);
  if (changes.some(({ path }) => path.startsWith(`${OLD_BASES}/`)))
    await disk.removeFolder(join(root, OLD_BASES));
}

function pathsOf({ path, owner }: RenderedFile): string[] {
  return owner === 'scaffold' ? [path, newPath(path), `${OLD_BASES}/${path}`] : [path];
}

/**
 * The lockfile after the changes: generated files with the hash of their text, scaffold files with
 * the hash of their merge base, and a line for every other file that was written once, so that a
 * file that the user deleted stays deleted.
 */
function nextLock(
  changes: readonly FileChange[],
  lock: Lock,
  present: ReadonlyMap<string, string | null>,
): Lock {
  const next = new Map<string, LockEntry>();
  const bases = parseBases(changes.find(({ path }) => path === BASES)?.after ?? null);
  const removed = new Set(changes.filter(({ kind }) => kind === 'remove').map(({ path }) => path));
  for (const change of changes) {
    const entry = entryOf(change, {
      known: lock.get(change.path),
      base: bases.get(change.path)?.[0] ?? null,
    });
    if (entry) next.set(change.path, entry);
  }
  for (const [path, entry] of lock)
    if (
      entry.owner !== 'generated' &&
      // A migration that the user deleted is written anew where the schema needs it.
      (entry.owner !== 'append' || present.get(path) !== null) &&
      !path.endsWith('.new') &&
      !next.has(path) &&
      !removed.has(path)
    )
      next.set(path, entry);
  return next;
}

function entryOf(
  { path, owner, kind, after }: FileChange,
  { known, base }: { known: LockEntry | undefined; base: string | null },
): LockEntry | undefined {
  const entry = (text: string): LockEntry => ({ owner, hashes: [hashText(text)] });
  if (kind === 'remove' || path === BASES) return undefined;
  if (owner === 'generated') return kind === 'edited' || kind === 'stale' ? known : entry(after!);
  if (owner === 'scaffold')
    return base !== null ? entry(base) : path.endsWith('.new') ? entry(after!) : undefined;
  if (owner === 'append' && kind !== 'same') return entry(after!);
  return known ?? (kind === 'create' ? entry(after!) : undefined);
}

async function rescue(root: string, changes: readonly FileChange[], disk: Disk): Promise<void> {
  for (const { path, before, rescued } of changes) {
    if (!rescued) continue;
    const name = `${path.replaceAll('/', '__')}.${hashText(before!).slice(0, 8)}`;
    await disk.write(join(root, FOLDER, 'rescued', name), before!);
  }
}
