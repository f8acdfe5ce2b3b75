import { lookUp } from '@twofold/schema';
import { join, posix } from 'node:path';
import type { Project } from '@twofold/schema';
import type { DocumentText } from '../documents/document-text.ts';
import { extractTexts } from '../documents/extract.ts';
import { findFiles } from '../documents/globs.ts';
import type { FileChange } from '../files.ts';
import type { Disk } from '../write/disk.ts';

/** A word in a file of the user; both count from 1. */
export interface LeftOver {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const CODE = '**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,vue,svelte,astro,html,sql}';
/** Folders of what others made, or of what is history. */
const NOT_WRITTEN = /^(src\/generated|migrations|vendor|dist|data|coverage)\//;

/**
 * Where names stand that a rename ended, in code and pages of the user that it did not change.
 * Schema, seeds and documents are read by their grammar: nothing is left there.
 */
export async function findLeftOvers(
  root: string,
  { clients = [] }: Project,
  {
    gone,
    changes,
    disk,
  }: {
    readonly gone: ReadonlySet<string>;
    readonly changes: readonly FileChange[];
    readonly disk: Disk;
  },
): Promise<LeftOver[]> {
  const after = new Map(changes.map((change) => [change.path, change.after]));
  const outs = clients.map(({ out }) => posix.join(out, '/'));
  const isOther = (path: string) =>
    NOT_WRITTEN.test(path) ||
    outs.some((out) => path.startsWith(out)) ||
    /\.g(raph)?ql$/.test(path);
  const { files } = findFiles(root, [CODE, ...clients.flatMap((each) => each.documents)], isOther);
  const made = changes.filter(({ kind }) => kind === 'create').map(({ path }) => path);
  const names = [...gone].map((name) => name.replace('.', '\\.')).join('|');
  const found: LeftOver[] = [];
  for (const file of [...new Set([...files, ...made])].sort()) {
    const text = after.has(file) ? lookUp(after, file) : await disk.read(join(root, file));
    if (text !== null)
      found.push(...(await wordsIn(file, text, new RegExp(`\\b(${names})\\b`, 'g'))));
  }
  return found;
}

async function wordsIn(file: string, text: string, word: RegExp): Promise<LeftOver[]> {
  if (text.search(word) < 0) return [];
  const documents = await extractTexts({ file, text });
  const isRead = (line: number, column: number) =>
    documents.some((each) => isInside(each, line, column));
  return text
    .split('\n')
    .flatMap((each, at) =>
      [...each.matchAll(word)].map(({ index }) => [at + 1, index + 1] as const),
    )
    .filter(([line, column]) => !isRead(line, column))
    .map(([line, column]) => ({ file, line, column }));
}

function isInside(document: DocumentText, line: number, column: number): boolean {
  const lines = document.text.split('\n');
  const at = line - document.line;
  if (at < 0 || at >= lines.length) return false;
  const from = at === 0 ? document.column : 1;
  return column >= from && column < from + lines[at]!.length;
}
