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

/**
 * Reads the globs of `client:` and `codegen:` in the manifest as it is now, and the plugins of the
 * project's own. A manifest with mistakes has none.
 */
export function watchedDocuments(root: string): WatchedDocuments {
  const sections = sectionsOf(root);
  const globs = sections.flatMap(({ documents }) => [documents ?? []].flat().map(String));
  const outs = sections.map(({ out }) => posix.normalize(String(out)));
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  const matchers = wanted.map(matcherOf);
  const bases = wanted.map(baseOf).filter((base) => base.startsWith('..'));
  return {
    folders: [...new Set(bases)].filter(
      (base) => !bases.some((other) => other !== base && base.startsWith(`${other}/`)),
    ),
    has: (path) =>
      matchers.some((matcher) => matcher.test(path)) &&
      !outs.some((out) => path === out || path.startsWith(posix.join(out, '/'))),
  };
}

interface Section {
  readonly documents?: unknown;
  readonly out?: unknown;
}

interface Written {
  readonly client?: Section | readonly Section[];
  readonly codegen?: Readonly<Record<string, WrittenEntry>>;
}

interface WrittenEntry {
  readonly documents?: string | readonly string[];
  readonly plugins?: readonly (string | object)[];
}

function sectionsOf(root: string): Section[] {
  try {
    const text = readFileSync(join(root, 'manifest.yaml'), 'utf8');
    if (!/\b(client|codegen)\b/.test(text)) return [];
    const { client = [], codegen = {} } = (parse(text) as Written | null) ?? {};
    const entries = Object.entries(codegen).map(([out, entry]) => ({
      out,
      documents: [entry.documents ?? [], ownPlugins(entry)].flat(2),
    }));
    return [client, entries].flat(2) as Section[];
  } catch {
    return [];
  }
}

/** The files of plugins that the project has itself. A save of one prints its outputs again. */
function ownPlugins({ plugins = [] }: WrittenEntry): string[] {
  const names = plugins.flatMap((use) => (typeof use === 'string' ? use : Object.keys(use)));
  return names.filter((name) => name.startsWith('.')).map((name) => posix.normalize(name));
}
