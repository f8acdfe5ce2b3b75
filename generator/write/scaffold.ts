import type { FileChange, TextsOnDisk, RenderedFile } from '../files.ts';
import { mergeJson } from '../text/merge-json.ts';
import { mergeLines } from '../text/merge-lines.ts';
import { baseOf, type Bases } from './bases.ts';
import type { Lock } from './lockfile.ts';

/** Changes of one scaffold file: of the file, its `.new` neighbour, and the text that the next merge starts from. */
export interface ScaffoldOutcome {
  readonly path: string;
  readonly changes: readonly FileChange[];
  /** What the next merge starts from; null when the file was never ours. */
  readonly base: string | null;
}

/** What a merge knows of the runs before. */
export interface Before {
  readonly lock: Lock;
  readonly present: TextsOnDisk;
  readonly bases: Bases;
}

/**
 * Merges what the generator would write now into what the user made of it. A file that was there before we were is
 * left alone, one that the user deleted stays deleted, and a conflict is put beside it as a `.new` file: removing that
 * says that it is solved.
 */
export function mergeScaffold(
  file: RenderedFile,
  { lock, present, bases }: Before,
): ScaffoldOutcome {
  const { path, owner, text } = file;
  const mine = present.get(path) ?? null;
  const change = (kind: FileChange['kind'], after: string | null = mine): FileChange => ({
    path,
    owner,
    kind,
    before: mine,
    after,
  });
  const settled = (...changes: FileChange[]): ScaffoldOutcome => ({
    path,
    changes,
    base: text,
  });
  const known = lock.has(path);
  if (mine === null) return settled(known ? change('same') : change('create', text));
  if (!known) return { path, changes: [change('same')], base: null };
  const base = baseOf(path, mine, { bases, lock });
  if (base === null || sameText(base, text) || isSolved(path, { lock, present }))
    return settled(change('same'));
  const merged = merge(path, { base, mine, theirs: text });
  if (merged.conflicts === 0)
    return settled(merged.text === mine ? change('same') : change('update', merged.text));
  const before = present.get(newPath(path)) ?? null;
  const beside: FileChange = {
    path: newPath(path),
    owner,
    kind: 'conflict',
    before,
    after: merged.text,
  };
  return { path, changes: [change('same'), beside], base };
}

/** The neighbour that holds a merge which needs a person. */
export function newPath(path: string): string {
  return `${path}.new`;
}

/** The lock knows of a `.new` file that is gone. */
function isSolved(path: string, { lock, present }: Pick<Before, 'lock' | 'present'>): boolean {
  return lock.has(newPath(path)) && (present.get(newPath(path)) ?? null) === null;
}

/** By lines first, which keeps every character of the user's; JSON that conflicts so is merged key by key. */
function merge(
  path: string,
  { base, mine, theirs }: { base: string; mine: string; theirs: string },
): { text: string; conflicts: number } {
  const byLines = mergeLines(base, mine, theirs);
  if (!path.endsWith('.json') || (byLines.conflicts === 0 && isJson(byLines.text))) return byLines;
  const byKeys = mergeJson(base, mine, theirs);
  return byKeys === null
    ? { ...byLines, conflicts: Math.max(1, byLines.conflicts) }
    : { text: byKeys, conflicts: 0 };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function sameText(a: string, b: string): boolean {
  return a.replaceAll('\r\n', '\n') === b.replaceAll('\r\n', '\n');
}
