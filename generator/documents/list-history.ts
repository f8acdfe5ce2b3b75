import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FOLDER } from '../files.ts';
import type { Disk } from '../write/disk.ts';
import { parseList, type TrustedList } from './trusted-list.ts';
import { workTreeOf } from '../write/work-tree.ts';

/**
 * Hashes that runs in this folder added and that were in no commit then. It is kept on this machine
 * only. Without git it is in the memory of `dev`.
 */
const ADDED = `${FOLDER}/documents.json`;

/** Hashes that this process added: what `dev` remembers where there is no git. */
export type AddedByProcess = Set<string>;

/** The hashes that a run in this folder added. */
export async function addedHere(
  root: string,
  disk: Disk,
  added: AddedByProcess,
): Promise<ReadonlySet<string>> {
  if (!workTreeOf(root).git) return added;
  return new Set(parseHashes(await disk.read(join(root, ADDED))));
}

/**
 * Records the hashes that a run is about to add. This is written before the list: if the run is
 * killed in between, no entry of the list looks as if another process had added it.
 */
export async function noteAdded(
  root: string,
  hashes: ReadonlySet<string>,
  { disk, added }: { readonly disk: Disk; readonly added: AddedByProcess },
): Promise<void> {
  for (const hash of hashes) added.add(hash);
  if (!workTreeOf(root).git) return;
  const path = join(root, ADDED);
  const text = `${JSON.stringify([...hashes].sort())}\n`;
  const before = await disk.read(path);
  if (before === text || (before === null && hashes.size === 0)) return;
  // The file is replaced as a whole, so that a run which is killed during the write does not lose
  // the hashes of earlier runs.
  await disk.write(`${path}.part`, text);
  await disk.rename(`${path}.part`, path);
}

/** A damaged file counts as none: entries stay that could have gone. */
function parseHashes(text: string | null): string[] {
  try {
    const hashes: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(hashes) ? hashes.map(String) : [];
  } catch {
    return [];
  }
}

/** Bytes that a list in a commit may have. */
const MAX_LIST = 256 * 1024 * 1024;

/**
 * The list in the last commit; empty where that has none, or there is no git. Null where git cannot
 * be asked: then every entry may be in a commit.
 */
export async function committedList(root: string, file: string): Promise<TrustedList | null> {
  if (!workTreeOf(root).git) return new Map();
  const text = await git(root, 'cat-file', 'blob', `HEAD:./${file}`);
  if (text === null) return (await git(root, 'rev-parse', '--git-dir')) === null ? null : new Map();
  const list = parseList(text);
  return typeof list === 'string' ? null : list;
}

/** What a git command prints; null if it fails. */
function git(root: string, ...words: string[]): Promise<string | null> {
  return promisify(execFile)('git', words, { cwd: root, maxBuffer: MAX_LIST }).then(
    ({ stdout }) => stdout,
    () => null,
  );
}
