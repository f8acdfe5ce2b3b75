import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectText } from './codemod.ts';

/** Folders that hold nothing of the user's, or nothing that is text. */
const LEFT_OUT = new Set(['node_modules', '.git', '.generator', 'vendor', 'data', 'dist']);
const GENERATED = 'src/generated';
const TEXT =
  /\.(?:[cm]?[jt]sx?|json|ya?ml|graphql|gql|sql|md|html|vue|svelte)$|(?:^|\/)Dockerfile$/;
/** Bytes above which a file is data, and not code. */
const LARGEST = 1 << 20;

/**
 * The user's text files below the project's folder, sorted by path. Files that are not UTF-8 are
 * left out: an edit could not keep their other bytes. Links are not followed.
 */
export function readProjectTexts(root: string, folder = ''): ProjectText[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return LEFT_OUT.has(entry.name) || path === GENERATED ? [] : readProjectTexts(root, path);
      const text = entry.isFile() && TEXT.test(path) ? readText(join(root, path)) : null;
      return text === null ? [] : [{ path, text }];
    });
}

function readText(path: string): string | null {
  const bytes = readFileSync(path);
  if (bytes.length > LARGEST) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
