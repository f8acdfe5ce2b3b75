import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { CodegenDocument, CodegenEntry } from './entry.ts';
import { isOwnPlugin, resolveName } from './resolve-plugin.ts';

/** Changes when the outputs of the same inputs change by a new version of the generator. */
const FORMAT = '1';

/** The packages that an entry names, and those that are not installed. */
export interface NamedPackages {
  readonly missing: readonly { readonly kind: 'plugin' | 'preset'; readonly name: string }[];
  /**
   * The parts of the packages that decide the output: their versions, or the text of the user's own
   * plugin.
   */
  readonly versions: readonly string[];
}

/** Finds the packages of an entry without loading one. */
export function namedPackages(root: string, entry: CodegenEntry): NamedPackages {
  const named = [
    ...(entry.preset === undefined ? [] : [{ kind: 'preset' as const, name: entry.preset }]),
    ...entry.plugins.map(({ name }) => ({ kind: 'plugin' as const, name })),
  ];
  const found = named.map((each) => ({ ...each, file: resolveName(root, each.kind, each.name) }));
  return {
    missing: found.filter(({ file }) => file === null),
    versions: found.flatMap(({ name, file }) => (file === null ? [] : [versionOf(name, file)])),
  };
}

/** A long-running process finds an installed package again and again. */
const versions = new Map<string, { readonly time: number; readonly version: string }>();

function versionOf(name: string, file: string): string {
  if (isOwnPlugin(name)) return `${name} ${hash('sha256', readFileSync(file))}`;
  const time = statSync(file).mtimeMs;
  const known = versions.get(file);
  if (known?.time === time) return known.version;
  const version = `${packageVersion(file)} graphql ${graphqlVersion(file)}`;
  versions.set(file, { time, version });
  return version;
}

/** Name and version of the package that a file belongs to. */
function packageVersion(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const text = textOf(join(folder, 'package.json'));
    const { name, version } = (text === null ? {} : JSON.parse(text)) as Record<string, string>;
    if (name && version) return `${name} ${version}`;
  }
  return file;
}

function graphqlVersion(file: string): string {
  try {
    return packageVersion(createRequire(file).resolve('graphql'));
  } catch {
    return 'none';
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * Files that npm, pnpm and yarn write when they install. When one has changed, packages that a
 * plugin uses may have changed too.
 */
const INSTALLED = [
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-state.yml',
];

function installedAt(root: string): string {
  return INSTALLED.map(
    (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  ).join(' ');
}

export interface KeyInputs {
  readonly root: string;
  readonly sdl: string;
  readonly entry: CodegenEntry;
  readonly documents: readonly CodegenDocument[];
  readonly packages: NamedPackages;
}

/** The hash of everything that an output is made of. The place in the manifest does not count. */
export function inputsKey({ root, sdl, entry, documents, packages }: KeyInputs): string {
  const { at: _place, ...written } = entry;
  const parts = [
    FORMAT,
    root,
    sdlHash(sdl),
    JSON.stringify(written),
    packages.versions.join('\n'),
    installedAt(root),
    ...documents.map(({ location, text }) => `${location}\n${text}`),
  ];
  return hash('sha256', parts.map((part) => `${part.length} ${part}`).join('\n'));
}

/** The hash of the last SDL. The SDL is large, and every entry has the same one. */
let last = { sdl: '', hash: '' };

function sdlHash(sdl: string): string {
  if (last.sdl !== sdl) last = { sdl, hash: hash('sha256', sdl) };
  return last.hash;
}
