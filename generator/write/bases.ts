import { FOLDER } from '../files.ts';
import { hashText, type Lock } from './lockfile.ts';

/**
 * The scaffold texts by path as the generator last wrote them: the base of every three-way merge.
 * Committed with the project. Every run writes the file again and it has no line in the lockfile,
 * so the result of a git merge does not matter.
 */
export const BASES = `${FOLDER}/base.json`;

/**
 * Older projects have one file for each text here. A file is read if `BASES` has no such text, and
 * then removed.
 */
export const OLD_BASES = `${FOLDER}/base`;

/** Texts by path. A path has several after a merge of two branches that both wrote it. */
export type Bases = ReadonlyMap<string, readonly string[]>;

/** A line of the file: a path and its text, each as a JSON string. */
const LINE = /^\s*("(?:[^"\\]|\\.)*"): ("(?:[^"\\]|\\.)*"),?\s*$/;

/**
 * Reads the file line by line; lines that are not entries, such as git's conflict markers, are
 * skipped.
 */
export function parseBases(text: string | null): Bases {
  const bases = new Map<string, string[]>();
  for (const line of (text ?? '').split('\n')) {
    const [, path, base] = LINE.exec(line)?.map(parseString) ?? [];
    if (typeof path !== 'string' || typeof base !== 'string') continue;
    bases.set(path, [...(bases.get(path) ?? []), base]);
  }
  return bases;
}

function parseString(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}

/** One line for each file, sorted by path. */
export function printBases(bases: ReadonlyMap<string, string>): string {
  const sorted = [...bases].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}

/**
 * The base of a file's next merge: the file itself if it is unchanged since the last run; of
 * several texts, the one whose hash is in the lockfile.
 */
export function baseOf(
  path: string,
  mine: string,
  { bases, lock }: { readonly bases: Bases; readonly lock: Lock },
): string | null {
  const isInLock = (text: string) => lock.get(path)?.hashes.includes(hashText(text)) ?? false;
  if (isInLock(mine)) return mine;
  const texts = bases.get(path) ?? [];
  return texts.find(isInLock) ?? texts.at(-1) ?? null;
}
