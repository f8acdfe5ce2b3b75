import { FOLDER } from './commit.ts';
import { hashText, type Lock } from './lockfile.ts';

/**
 * The scaffold as we wrote it, text by path: the third text of every merge. Committed with the project. It is written
 * again by every run and has no line in the lock, so it does not matter what a merge of two branches makes of it.
 */
export const BASES = `${FOLDER}/base.json`;

/** Older projects have a file for each text here. It is read where `BASES` has none, and removed. */
export const OLD_BASES = `${FOLDER}/base`;

/** Texts by path. Several of one path after a merge of two branches that both wrote it. */
export type Bases = ReadonlyMap<string, readonly string[]>;

/** A line of the file: a path and its text, each as a JSON string. */
const LINE = /^\s*("(?:[^"\\]|\\.)*"): ("(?:[^"\\]|\\.)*"),?\s*$/;

/** Reads the file line by line; lines that are not entries, as git's conflict markers, are skipped. */
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

/** One line a file, sorted by path. */
export function printBases(bases: ReadonlyMap<string, string>): string {
  const sorted = [...bases].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}

/**
 * The text that the next merge of a file starts from: the file itself where it is as a run left it; of several texts, the
 * one that the lock speaks of.
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
