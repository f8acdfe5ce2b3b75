import { readFileSync } from 'node:fs';
import { compareVersions, last } from '@twofold/schema';
import type { ProjectText } from './codemod.ts';
import { lineAt } from './text-edits.ts';
import type { Range } from './versions.ts';

/** A change of the changelog that breaks projects. */
export interface BreakingEntry {
  readonly version: string;
  /** What breaks and what to do, on one line. */
  readonly text: string;
}

/** Where a project has what an entry is about. */
export interface PlaceInProject {
  readonly file: string;
  readonly line: number;
}

export interface TouchingEntry extends BreakingEntry {
  /** Empty for an entry that names nothing that could be looked for. */
  readonly places: readonly PlaceInProject[];
}

/** The changelog of this package. */
export const readChangelog = (): string =>
  readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');

/** The entries below "Breaking" of every version after `from` and up to `to`. */
export function breakingEntries(changelog: string, { from, to }: Range): BreakingEntry[] {
  return changelog.split(/^## /m).flatMap((section) => {
    const version = /^(\d+\.\d+\.\d+\S*)/.exec(section)?.[1];
    if (version === undefined) return [];
    if (compareVersions(version, from) <= 0 || compareVersions(version, to) > 0) return [];
    const breaking = /^### Breaking\s*$([^]*?)(?=^### |(?![^]))/m.exec(section)?.[1] ?? '';
    return breaking
      .split(/^- /m)
      .slice(1)
      .map((text) => ({ version, text: text.replace(/\s+/g, ' ').trim() }));
  });
}

/** The most places that are shown of one entry. */
const MOST_PLACES = 10;

/**
 * The entries about something that the project has: what stands in backticks, looked for in the
 * user's files. An entry that names nothing touches every project.
 */
export function touchingEntries(
  entries: readonly BreakingEntry[],
  files: readonly ProjectText[],
): TouchingEntry[] {
  return entries.flatMap((entry) => {
    const patterns = [...entry.text.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) =>
      patternsOf(name),
    );
    if (patterns.length === 0) return [{ ...entry, places: [] }];
    const places = files.flatMap((file) => placesIn(file, patterns));
    return places.length === 0 ? [] : [{ ...entry, places: places.slice(0, MOST_PLACES) }];
  });
}

interface Pattern {
  readonly expression: RegExp;
  /** Whether a file is of the kind that has such words. */
  readonly isIn: (path: string, text: string) => boolean;
}

const isManifest = (path: string) => path === 'manifest.yaml';
const isSchema = (path: string) => /\.(?:graphql|gql)$/.test(path);
const isCode = (path: string) => /\.[cm]?[jt]sx?$/.test(path);

/** What to look for when an entry names `api.crud`, `@list`, `ctx.db` or `POST /api/auth/login`. */
function patternsOf(name: string): Pattern[] {
  const directive = /^@(\w+)(?:\(.*)?$/.exec(name)?.[1];
  if (directive !== undefined && !name.startsWith('@twofold'))
    return [{ expression: new RegExp(`@${directive}\\b`), isIn: isSchema }];
  const path = /\/[\w/.:-]{3,}/.exec(name)?.[0].replace(/\/:.*$/, '');
  if (/^(?:[A-Z]+ )?\//.test(name) && path !== undefined)
    return [{ expression: new RegExp(`${escaped(path)}(?![\\w-])`), isIn: isCode }];
  const key = /^([a-z_]+(?:\.[a-z_]+)*)(?::.*)?$/.exec(name);
  if (key?.[1] !== undefined && /[.:]/.test(name) && !name.startsWith('ctx.'))
    return [keyPattern(key[1].split('.'))];
  const word = /^[A-Za-z_$@][\w$.@/-]*/.exec(name)?.[0];
  if (word === undefined || !/[A-Z._@]/.test(word) || /^[A-Z]+$/.test(word)) return [];
  return [{ expression: new RegExp(`(?<![\\w$])${escaped(word)}(?![\\w$])`), isIn: isCode }];
}

/** The last key of a path, in a manifest that has the others too, in either form of YAML's maps. */
function keyPattern(keys: readonly string[]): Pattern {
  const expressions = keys.map((key) => new RegExp(`(?:^|[\\s{,])${escaped(key)}\\s*:`, 'm'));
  return {
    expression: last(expressions),
    isIn: (path, text) => isManifest(path) && expressions.every((each) => each.test(text)),
  };
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function placesIn({ path, text }: ProjectText, patterns: readonly Pattern[]): PlaceInProject[] {
  const lines = patterns
    .filter(({ isIn }) => isIn(path, text))
    .flatMap(({ expression }) =>
      [...text.matchAll(new RegExp(expression, `g${expression.flags}`))].map((found) =>
        lineAt(text, found.index + (/^\s/.test(found[0]) ? 1 : 0)),
      ),
    );
  return [...new Set(lines)].toSorted((a, b) => a - b).map((line) => ({ file: path, line }));
}
