import { readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Diagnostic, SourceText } from '@twofold/schema';
import type { DocumentText } from './document-text.ts';
import { extractTexts } from './extract.ts';
import { findFiles, type FoundFiles } from './globs.ts';
import { type ImportEnding, importEnding } from './import-ending.ts';

/** The documents that the globs of one front end match. */
export interface ReadDocuments extends Pick<FoundFiles, 'unmatched' | 'outside'> {
  readonly texts: readonly DocumentText[];
  /** The ending that `imports: auto` stands for in the folder of the front end. */
  readonly ending?: ImportEnding;
  /** Files that could not be read as text. */
  readonly problems: readonly Diagnostic[];
}

/** The keys of a section `client:` in the manifest that are needed to read documents. */
interface Written {
  readonly documents: readonly string[];
  readonly out: string;
}

/**
 * Reads the documents of each front end, in the order of the manifest. Undefined without `client:`;
 * sections of a wrong shape are reported where the manifest is checked.
 */
export async function readDocuments(
  root: string,
  manifest: SourceText,
): Promise<readonly ReadDocuments[] | undefined> {
  const { parse } = await import('yaml');
  let sections: unknown[];
  try {
    sections = [(parse(manifest.text) as { client?: unknown } | null)?.client ?? []].flat();
  } catch {
    return undefined;
  }
  const clients = sections.filter(isWritten);
  if (clients.length === 0) return undefined;
  const outs = clients.map(({ out }) => posix.join(out, '/'));
  const isOutput = (path: string) => outs.some((out) => path.startsWith(out));
  return Promise.all(
    clients.map(async ({ documents, out }) => ({
      ...(await readGlobs(root, documents, isOutput)),
      ending: importEnding(root, out),
    })),
  );
}

/**
 * Reads the documents that some globs mean: for a caller with globs of its own.
 *
 * @param isExcluded whether a path is no source, as what was generated from the documents.
 */
export async function readGlobs(
  root: string,
  globs: readonly string[],
  isExcluded: (path: string) => boolean,
): Promise<ReadDocuments> {
  const { files, unmatched, outside } = findFiles(root, globs, isExcluded);
  const problems: Diagnostic[] = [];
  const texts: DocumentText[] = [];
  for (const file of files) texts.push(...(await textsOf(root, file, problems)));
  return { texts, unmatched, outside, problems };
}

/**
 * The texts of files that were read before. A run reads its inputs two or three times, and `dev`
 * again for each save: a file with the same times and size is not parsed again.
 */
const KNOWN = new Map<string, { readonly signature: string; readonly texts: DocumentText[] }>();

async function textsOf(
  root: string,
  file: string,
  problems: Diagnostic[],
): Promise<readonly DocumentText[]> {
  const path = join(root, file);
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    const signature = [file, mtimeMs, ctimeMs, size, ino].join(' ');
    const known = KNOWN.get(path);
    if (known?.signature === signature) return known.texts;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    const texts = await extractTexts({ file, text });
    KNOWN.set(path, { signature, texts });
    return texts;
  } catch (error) {
    problems.push(unreadable(file, error instanceof TypeError));
    return [];
  }
}

function unreadable(file: string, isBinary: boolean): Diagnostic {
  return {
    code: 'FILE_UNREADABLE',
    severity: 'error',
    summary: `${file} ${isBinary ? 'is not UTF-8 text' : 'cannot be read'}`,
    fix: 'exclude it from the documents of the manifest with "!"',
    at: { file, line: 1, column: 1, length: 1 },
  };
}

function isWritten(section: unknown): section is Written {
  const { documents, out } = (section ?? {}) as Partial<Written>;
  return (
    Array.isArray(documents) &&
    documents.every((glob) => typeof glob === 'string' && glob !== '') &&
    typeof out === 'string' &&
    out !== ''
  );
}
