import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse } from 'yaml';
import { baseOf, matcherOf } from './globs.ts';

/** Where the documents of a project are, for a process that follows them. */
export interface WatchedDocuments {
  /** Folders beside the project that globs begin in; what is in the project is watched anyway. */
  readonly folders: readonly string[];
  /** Whether a path, from the project's folder, is one of a document. */
  has(path: string): boolean;
}

/** Reads the globs of the manifest as it is now; a manifest with mistakes has none. */
export function watchedDocuments(root: string): WatchedDocuments {
  const clients = sectionsOf(root);
  const globs = clients.flatMap(({ documents }) => [documents ?? []].flat().map(String));
  const outs = clients.map(({ out }) => posix.join(String(out), '/'));
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  const matchers = wanted.map(matcherOf);
  const bases = wanted.map(baseOf).filter((base) => base.startsWith('..'));
  return {
    folders: [...new Set(bases)].filter(
      (base) => !bases.some((other) => other !== base && base.startsWith(`${other}/`)),
    ),
    has: (path) =>
      matchers.some((matcher) => matcher.test(path)) && !outs.some((out) => path.startsWith(out)),
  };
}

function sectionsOf(root: string): { readonly documents?: unknown; readonly out?: unknown }[] {
  try {
    const text = readFileSync(join(root, 'manifest.yaml'), 'utf8');
    if (!/\bclient\b/.test(text)) return [];
    return [(parse(text) as { client?: object } | null)?.client ?? []].flat();
  } catch {
    return [];
  }
}
