import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** The names that a plugin's package may have, in the order of graphql-codegen. */
const pluginNames = (name: string): readonly string[] => [
  `@graphql-codegen/${name}`,
  `@graphql-codegen/${name}-template`,
  `@graphql-codegen/${name}-plugin`,
  `graphql-codegen-${name}`,
  `graphql-codegen-${name}-template`,
  `graphql-codegen-${name}-plugin`,
  `codegen-${name}`,
  `codegen-${name}-template`,
  name,
];

const presetNames = (name: string): readonly string[] => [
  `@graphql-codegen/${name}`,
  `@graphql-codegen/${name}-preset`,
  name,
];

/**
 * The file that a name of a plugin or preset leads to from the project's folder; null when none of
 * the possible packages is installed.
 *
 * @example resolveName('/srv/shop', 'plugin', 'typescript') // '/srv/shop/node_modules/@graphql-codegen/typescript/cjs/index.js'
 */
export function resolveName(root: string, kind: 'plugin' | 'preset', name: string): string | null {
  const key = `${root} ${kind} ${name}`;
  const before = found.get(key);
  if (before !== undefined && existsSync(before)) return before;
  const file = search(root, kind, name);
  if (file !== null) found.set(key, file);
  return file;
}

/**
 * The result of earlier searches, because a search under eight names that finds nothing takes a
 * millisecond.
 */
const found = new Map<string, string>();

function search(root: string, kind: 'plugin' | 'preset', name: string): string | null {
  const require = createRequire(join(root, 'package.json'));
  const names = kind === 'plugin' ? pluginNames(name) : presetNames(name);
  const all = /^\.{0,2}\//.test(name) ? [resolve(root, name)] : [...names, resolve(root, name)];
  for (const each of all) {
    try {
      return require.resolve(each);
    } catch {
      // The next name may be that of a package.
    }
  }
  return null;
}

/** The package to install for a name that was not found: the name of graphql-codegen's own. */
export function packageFor(kind: 'plugin' | 'preset', name: string): string {
  if (kind === 'preset') return OWN_PRESETS.has(name) ? `@graphql-codegen/${name}-preset` : name;
  if (name.startsWith('@') || name.startsWith('graphql-codegen-')) return name;
  return OTHERS.has(name) ? `graphql-codegen-${name}` : `@graphql-codegen/${name}`;
}

const OWN_PRESETS = new Set(['client', 'near-operation-file', 'import-types', 'graphql-modules']);

/** Plugins that are not published by graphql-codegen itself. */
const OTHERS = new Set(['typescript-validation-schema']);

/** Whether a name is a file of the project, whose text counts as an input. */
export const isOwnPlugin = (name: string): boolean => /^\.{1,2}\//.test(name);
