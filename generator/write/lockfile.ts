import { hash } from 'node:crypto';
import type { Owner } from '../files.ts';

export const LOCKFILE = 'generator.lock';

/** One line of `generator.lock`: a file of ours and the hash of the text that we gave it. */
export interface LockEntry {
  readonly owner: Owner;
  /** Several after a merge of two branches that both wrote the file. */
  readonly hashes: readonly string[];
}

export type Lock = ReadonlyMap<string, LockEntry>;

const OWNERS: ReadonlySet<string> = new Set<Owner>(['generated', 'user', 'scaffold', 'append']);

/**
 * Reads the lock. After a merge the lines of both branches count, and lines that are not entries (conflict markers, comments)
 * are skipped: a damaged lock must not stop a run.
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

/** One line a file, sorted by path: branches that add files merge without a conflict. */
export function printLock(lock: Lock): string {
  const paths = [...lock.keys()].sort();
  return `${paths.flatMap((path) => lock.get(path)!.hashes.map((hash) => `${lock.get(path)!.owner} ${path} ${hash}`)).join('\n')}\n`;
}

/** Hash of a text. Line ends do not count: a checkout may change them. */
export function hashText(text: string): string {
  return hash('sha256', text.includes('\r') ? text.replaceAll('\r\n', '\n') : text).slice(0, 32);
}
