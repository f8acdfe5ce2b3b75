import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Migration } from './migration.ts';
import { type MigrationModule, runnable } from './load-migrations.ts';

/** The steps from one text of a draft to the next. They keep the values of rows. */
export type Transition = Pick<Migration, 'up'>;

/**
 * The folder in which the generator writes them. A file `<from>-<to>.ts` has the steps between two
 * texts, each named by the beginning of its hash.
 */
export const TRANSITIONS = '.generator/draft';

const FILE = /^([0-9a-f]{16})-([0-9a-f]{16})\.ts$/;

/**
 * The shortest way from one text to another; null when the files have none. Without one, the draft
 * is undone and the new text applied.
 */
export async function transitionsBetween(
  folders: readonly string[],
  from: string,
  to: string,
): Promise<readonly Transition[] | null> {
  const [start, end] = [from.slice(0, 16), to.slice(0, 16)];
  const ways = new Map<string, readonly string[]>([[start, []]]);
  const files = folders.flatMap(filesIn);
  for (const [hash, paths] of ways)
    for (const file of files)
      if (file.from === hash && !ways.has(file.to)) ways.set(file.to, [...paths, file.path]);
  const way = ways.get(end);
  if (!way || way.length === 0) return null;
  return Promise.all(
    way.map(async (path) => runnable((await import(pathToFileURL(path).href)) as MigrationModule)),
  );
}

function filesIn(folder: string) {
  return namesIn(folder).flatMap((name) => {
    const [, from, to] = FILE.exec(name) ?? [];
    return from && to ? [{ from, to, path: join(folder, name) }] : [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
