import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from '../write/disk.ts';
import type { CodegenFile } from './entry.ts';
import { printedIn } from './types-entry.ts';
import { TYPES_FILE } from '../files.ts';

/** The file that records which outputs earlier runs made. It may be deleted at any time. */
export const CODEGEN_CACHE = '.generator/codegen.json';

/** For each entry: the key of its inputs, and the hashes of the files that were made from them. */
export type CodegenCache = ReadonlyMap<string, CachedEntry>;

interface CachedEntry {
  readonly key: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Reads the cache. A damaged one is as none. */
export async function readCache(root: string, disk: Disk): Promise<CodegenCache> {
  const text = await disk.read(join(root, CODEGEN_CACHE));
  try {
    const entries = Object.entries(JSON.parse(text ?? '{}') as Record<string, CachedEntry>);
    return new Map(entries.filter(([, each]) => isEntry(each)));
  } catch {
    return new Map();
  }
}

function isEntry(value: unknown): value is CachedEntry {
  const { key, files } = (value ?? {}) as Partial<CachedEntry>;
  return (
    typeof key === 'string' &&
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every((each) => typeof each === 'string')
  );
}

/** The files of an entry from the disk, if they are those that were made for the key. */
export async function cachedFiles(
  root: string,
  entry: CachedEntry | undefined,
  { key, disk }: { readonly key: string; readonly disk: Disk },
): Promise<readonly CodegenFile[] | null> {
  if (entry?.key !== key) return null;
  const files: CodegenFile[] = [];
  for (const [path, wanted] of Object.entries(entry.files)) {
    const whole = await disk.read(join(root, path));
    const text = whole !== null && path === TYPES_FILE ? printedIn(whole) : whole;
    if (text === null || hashOf(text) !== wanted) return null;
    files.push({ path, text });
  }
  return files;
}

const hashOf = (text: string) => hash('sha256', text);

export interface MadeEntry {
  readonly path: string;
  readonly key: string;
  readonly files: readonly CodegenFile[];
}

/**
 * @param made the entries of this run.
 * @param others the paths of entries that this run left alone: what is known of them stays.
 */
export function printCache(
  made: readonly MadeEntry[],
  others: readonly string[],
  before: CodegenCache,
): string {
  const known = others.flatMap((path) => {
    const entry = before.get(path);
    return entry ? [[path, entry] as const] : [];
  });
  const now = made.map(({ path, key, files }): [string, CachedEntry] => [
    path,
    { key, files: Object.fromEntries(files.map((file) => [file.path, hashOf(file.text)])) },
  ]);
  return `${JSON.stringify(Object.fromEntries([...known, ...now]), null, 2)}\n`;
}
