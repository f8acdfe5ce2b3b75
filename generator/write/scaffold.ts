import type { FileChange, TextsOnDisk, RenderedFile } from '../files.ts';
import { mergeJson } from '../text/merge-json.ts';
import { mergeLines } from '../text/merge-lines.ts';
import { baseOf, type Bases } from './bases.ts';
import type { Lock } from './lockfile.ts';

/**
 * Changes of one scaffold file: of the file itself, its `.new` file, and the base of the next
 * merge.
 */
export interface ScaffoldOutcome {
  readonly path: string;
  readonly changes: readonly FileChange[];
  /** The base of the next merge; null when the generator never wrote the file. */
  readonly base: string | null;
}

/** The state of the project that earlier runs left. */
export interface Before {
  readonly lock: Lock;
  readonly present: TextsOnDisk;
  readonly bases: Bases;
}

/**
 * Merges the new scaffold text into the user's version. A file that existed before the first run is
 * not changed, and a file that the user deleted stays deleted. A conflict is written beside the
 * file as `.new`; the user removes that file when the conflict is resolved.
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
  const last = baseOf(path, mine, { bases, lock });
  const base = last && path === 'package.json' ? withoutLost(last, mine, text) : last;
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

/**
 * The base without the packages that the server needs and that are gone from the user's version, as
 * by a merge of branches: they then come back.
 */
function withoutLost(base: string, mine: string, theirs: string): string {
  const [before, now, wanted] = [base, mine, theirs].map(dependenciesOf);
  const lost = Object.keys(wanted!).filter((name) => name in before! && !(name in now!));
  const lines = base
    .split('\n')
    .filter((line) => !lost.some((name) => line.startsWith(`    "${name}": `)));
  return lines.join('\n').replace(/,(?=\n {2}\})/g, '');
}

/**
 * The packages of a server, whether or not they are marked as needed in development only. Node is
 * none of them: a project without it runs on the Node that is installed.
 */
function dependenciesOf(text: string): Readonly<Record<string, unknown>> {
  if (!isJson(text)) return {};
  const { dependencies, devDependencies } = (JSON.parse(text) ?? {}) as Record<string, object>;
  const { node: _, ...packages } = { ...dependencies, ...devDependencies } as Record<
    string,
    unknown
  >;
  return packages;
}

/** The file beside `path` that holds a merge with conflicts. */
export function newPath(path: string): string {
  return `${path}.new`;
}

/** The lockfile lists a `.new` file that no longer exists: the user has resolved the conflict. */
function isSolved(path: string, { lock, present }: Pick<Before, 'lock' | 'present'>): boolean {
  return lock.has(newPath(path)) && (present.get(newPath(path)) ?? null) === null;
}

/**
 * Merges by lines first, which keeps every character of the user; JSON with conflicts is then
 * merged key by key.
 */
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
