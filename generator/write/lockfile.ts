import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { FileChange, Owner } from '../files.ts';
import { disk } from './disk.ts';

export const LOCKFILE = 'generator.lock';

/** One line of `generator.lock`: a file that the generator wrote, and the hash of its text. */
export interface LockEntry {
  readonly owner: Owner;
  /** Has several entries after a merge of two branches that both wrote the file. */
  readonly hashes: readonly string[];
}

export type Lock = ReadonlyMap<string, LockEntry>;

const OWNERS: ReadonlySet<string> = new Set<Owner>(['generated', 'user', 'scaffold', 'append']);

/**
 * Reads the lockfile. After a merge the lines of both branches count. Lines that are not entries
 * (conflict markers, comments) are skipped: a damaged lockfile must not stop a run.
 */
export function parseLock(text: string | null): Lock {
  const lock = new Map<string, LockEntry>();
  for (const line of (text ?? '').split(/\r?\n/)) {
    const [owner = '', path = '', hash = '', ...rest] = line.split(' ');
    if (!OWNERS.has(owner) || path === '' || hash === '' || rest.length > 0) continue;
    const before = lock.get(path);
    lock.set(path, {
      owner: owner as Owner,
      hashes: [...(before?.hashes ?? []).filter((each) => each !== hash), hash],
    });
  }
  return lock;
}

/**
 * One line for each file, sorted by path, so that branches that add files merge without a conflict.
 */
export function printLock(lock: Lock): string {
  const paths = [...lock.keys()].sort();
  return `${paths.flatMap((path) => lock.get(path)!.hashes.map((hash) => `${lock.get(path)!.owner} ${path} ${hash}`)).join('\n')}\n`;
}

/** The hash of a text. Line ends do not count, because a checkout may change them. */
export function hashText(text: string): string {
  return hash('sha256', text.includes('\r') ? text.replaceAll('\r\n', '\n') : text).slice(0, 32);
}

/** The change of the lockfile for migrations that a command writes or removes, as a run leaves it. */
export async function lockOf(
  root: string,
  migrations: readonly FileChange[],
): Promise<FileChange[]> {
  if (migrations.length === 0) return [];
  const before = await disk.read(join(root, LOCKFILE));
  const lock = new Map(parseLock(before));
  for (const { path, after } of migrations)
    if (after === null) lock.delete(path);
    else lock.set(path, { owner: 'append', hashes: [hashText(after)] });
  const kind = before === null ? 'create' : 'update';
  return [{ path: LOCKFILE, owner: 'generated', kind, before, after: printLock(lock) }];
}
