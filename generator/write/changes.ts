import type { FileChange, FileChangeKind, TextsOnDisk, RenderedFile } from '../files.ts';
import { type Bases, BASES, OLD_BASES, parseBases, printBases } from './bases.ts';
import { hashText, type Lock, type LockEntry } from './lockfile.ts';
import { mergeScaffold, type ScaffoldOutcome } from './scaffold.ts';

export interface Comparison {
  readonly files: readonly RenderedFile[];
  readonly lock: Lock;
  readonly present: TextsOnDisk;
  /** Replaces edited generated files (after a copy is saved) instead of stopping the run. */
  readonly force: boolean;
  /** Migrations to remove. */
  readonly removed?: readonly string[];
}

/**
 * Compares the rendered files with the disk. Pure, so that `check`, `--dry-run` and `--diff` are
 * the same run without the writing. Sorted by path.
 */
export function compareFiles(comparison: Comparison): FileChange[] {
  const { lock, present } = comparison;
  const bases = basesIn(present);
  const scaffold = comparison.files
    .filter(({ owner }) => owner === 'scaffold')
    .map((file) => mergeScaffold(file, { lock, present, bases }));
  const files = comparison.files.filter(({ owner }) => owner !== 'scaffold');
  const wanted = new Set(files.map((file) => file.path));
  const gone = [...lock].filter(
    ([path, entry]) => entry.owner === 'generated' && !wanted.has(path) && !isOldBase(path),
  );
  return [
    ...files.map((file) => compareFile(file, comparison)),
    ...scaffold.flatMap(({ changes }) => changes),
    ...compareBases(scaffold, present),
    ...(comparison.removed ?? []).flatMap((path): FileChange[] => {
      const before = present.get(path) ?? null;
      return before === null
        ? []
        : [{ path, owner: 'append', kind: 'remove', before, after: null }];
    }),
    ...gone.flatMap(([path, entry]) => compareGone(path, entry, present.get(path) ?? null)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The base texts of the file, and those of the folder in older projects. */
function basesIn(present: TextsOnDisk): Bases {
  const bases = new Map(parseBases(present.get(BASES) ?? null));
  for (const [path, text] of present) {
    const name = path.slice(OLD_BASES.length + 1);
    if (isOldBase(path) && text !== null && !bases.has(name)) bases.set(name, [text]);
  }
  return bases;
}

const isOldBase = (path: string) => path.startsWith(`${OLD_BASES}/`);

/**
 * Only the generator uses this file, so any other content is replaced. The old folder is removed.
 */
function compareBases(scaffold: readonly ScaffoldOutcome[], present: TextsOnDisk): FileChange[] {
  const before = present.get(BASES) ?? null;
  const next = scaffold.flatMap(({ path, base }) => (base === null ? [] : [[path, base] as const]));
  const text = printBases(new Map(next));
  const isSame = before !== null && sameText(before, text);
  const after = isSame ? before : before === null ? text : withLineEndsOf(before, text);
  const kind = isSame ? 'same' : before === null ? 'create' : 'update';
  const old = [...present].filter(([path, there]) => isOldBase(path) && there !== null);
  return [
    { path: BASES, owner: 'generated', kind, before, after },
    ...old.map(([path, there]): FileChange => ({
      path,
      owner: 'generated',
      kind: 'remove',
      before: there,
      after: null,
    })),
  ];
}

function compareFile(file: RenderedFile, { lock, present, force }: Comparison): FileChange {
  const { path, owner, text } = file;
  const before = present.get(path) ?? null;
  const entry = lock.get(path);
  const change = (kind: FileChangeKind, after: string | null = text): FileChange => ({
    path,
    owner,
    kind,
    before,
    after,
  });
  if (owner === 'append')
    return before === null
      ? change('create')
      : sameText(before, text)
        ? change('same', before)
        : change('update', withLineEndsOf(before, text));
  if (owner !== 'generated')
    return before === null && !entry ? change('create') : change('same', before);
  if (before === null) return change('create');
  if (sameText(before, text)) return change('same', before);
  if (isOutput(before, entry)) return change('update', withLineEndsOf(before, text));
  return isMerged(before, entry) || force
    ? { ...change('update', withLineEndsOf(before, text)), rescued: true }
    : change('edited', before);
}

/**
 * A file that is no longer generated is removed if it is as a run wrote it, and stays if the user
 * changed it.
 */
function compareGone(path: string, entry: LockEntry, before: string | null): FileChange[] {
  if (before === null) return [];
  const rescued = !isOutput(before, entry);
  if (rescued && !isMerged(before, entry))
    return [{ path, owner: 'generated', kind: 'stale', before, after: before }];
  return [{ path, owner: 'generated', kind: 'remove', before, after: null, rescued }];
}

/** Whether a generated file is unchanged since a run wrote it. */
function isOutput(text: string, entry: LockEntry | undefined): boolean {
  return entry !== undefined && entry.hashes.includes(hashText(text));
}

/**
 * Whether git merged two branches in the file (two hashes in the lockfile, or git's markers in the
 * text). Such a file is not the user's edit, and is replaced.
 */
function isMerged(text: string, entry: LockEntry | undefined): boolean {
  return entry !== undefined && (entry.hashes.length > 1 || /^<{7} .*$[^]*^>{7} /m.test(text));
}

function sameText(a: string, b: string): boolean {
  return a === b || (a.includes('\r') && a.replaceAll('\r\n', '\n') === b);
}

/**
 * In a checkout with CRLF a generated file keeps CRLF; otherwise every run would report a change.
 */
function withLineEndsOf(before: string, text: string): string {
  return /^[^\n]*\r\n/.test(before) ? text.replaceAll('\n', '\r\n') : text;
}
