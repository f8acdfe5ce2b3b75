import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isInWorkTree } from '../write/work-tree.ts';

/** The files that some globs mean. Paths are relative to the project, with forward slashes. */
export interface FoundFiles {
  readonly files: readonly string[];
  /** The places in the list of those globs that match no file. */
  readonly unmatched: readonly number[];
  /** The places in the list of those globs that begin outside the work tree. */
  readonly outside: readonly number[];
}

/** Folders that globs never search. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git', '.generator']);

/**
 * Finds files by globs, in which `!` excludes. Folders behind
 * links are not entered, and a link to a file outside the work tree is no match.
 */
export function findFiles(
  root: string,
  globs: readonly string[],
  isExcluded: (path: string) => boolean,
): FoundFiles {
  const list = createLister(root);
  const unwanted = globs
    .filter((glob) => glob.startsWith('!'))
    .map((glob) => matcherOf(glob.slice(1)));
  const isWanted = (path: string) =>
    !isExcluded(path) && !unwanted.some((match) => match.test(path));
  const found = globs.map((glob) => {
    if (glob.startsWith('!')) return null;
    const base = baseOf(glob);
    if (!isInWorkTree(root, base)) return 'outside';
    const match = matcherOf(glob);
    return list(base).filter((path) => match.test(path) && isWanted(path));
  });
  const places = (is: (each: (typeof found)[number]) => boolean) =>
    found.flatMap((each, at) => (is(each) ? [at] : []));
  return {
    files: [...new Set(found.flatMap((each) => (Array.isArray(each) ? each : [])))].sort(),
    unmatched: places((each) => Array.isArray(each) && each.length === 0),
    outside: places((each) => each === 'outside'),
  };
}

/** The folder that a glob begins in: the part before the first wildcard. */
export function baseOf(glob: string): string {
  const parts = posix.normalize(glob).split('/');
  const first = parts.findIndex((part) => /[*?{[]/.test(part));
  return parts.slice(0, first < 0 ? -1 : first).join('/') || '.';
}

/**
 * A glob as a regular expression: two stars are any number of folders, `*` and `?` stay within a
 * name, `{a,b}` is a choice.
 */
export function matcherOf(glob: string): RegExp {
  return new RegExp(`^${patternOf(posix.normalize(glob))}$`);
}

function patternOf(glob: string): string {
  return glob.replace(
    /\{([^{}]*)\}|\*\*\/|\*\*|\[[^\]/]+\]|[*?]|[.+^$()|{}\\[\]]/g,
    (part, choice) =>
      typeof choice === 'string'
        ? `(?:${choice.split(',').map(patternOf).join('|')})`
        : (PATTERNS[part] ?? verbatim(part)),
  );
}

const PATTERNS: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

const verbatim = (part: string) =>
  part.length > 1 ? part.replace('[!', '[^').replaceAll('\\', '\\\\') : `\\${part}`;

/** Lists the files below a folder; each folder is read once. */
function createLister(root: string): (base: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (base) => {
    const files = known.get(base) ?? filesBelow(root, base);
    known.set(base, files);
    return files;
  };
}

function filesBelow(root: string, folder: string): string[] {
  return entriesOf(join(root, folder)).flatMap((entry) => {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesBelow(root, path);
    if (entry.isSymbolicLink())
      return isInWorkTree(root, path) && isFile(join(root, path)) ? [path] : [];
    return entry.isFile() ? [path] : [];
  });
}

/** Empty where there is no folder; a glob without wildcards names a file. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
