import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { realPathOf, workTreeOf } from '../write/work-tree.ts';

/** The ending in an import of a neighbouring file. */
export type ImportEnding = '' | '.ts' | '.js';

/**
 * What `imports: auto` means for a folder, by the nearest TypeScript configuration above it. Without
 * one nothing checks the types, and every bundler and runtime takes `.ts`.
 */
export function importEnding(root: string, out: string): ImportEnding {
  const file = nearestConfig(root, resolve(root, out));
  if (file === null) return '.ts';
  const options = optionsOf(file, 0);
  if (options.some(({ allowImportingTsExtensions: allowed }) => allowed === true)) return '.ts';
  const isNode = options.some(({ module, moduleResolution }) =>
    /^node(16|18|20|next)$/i.test(String(moduleResolution ?? module)),
  );
  return isNode ? '.js' : '';
}

/**
 * How `tsc` checks the front end around a folder: by the nearest configuration, where that is in a
 * folder of the project. Null for another one, which is checked with its own packages.
 *
 * @example typeCheckOf('/shop', 'web/src/api/') // '-p web'
 */
export function typeCheckOf(root: string, out: string): string | null {
  const file = nearestConfig(root, resolve(root, out));
  const folder = file === null ? '' : relative(realPathOf(root), dirname(file));
  if (folder === '' || folder.startsWith('..')) return null;
  // A configuration of nothing but references, as Vite has it, checks nothing with -p.
  const way = readConfig(file!)?.references ? '-b --noEmit' : '-p';
  return `${way} ${/\s/.test(folder) ? JSON.stringify(folder) : folder}`;
}

function nearestConfig(root: string, folder: string): string | null {
  const top = workTreeOf(root).path;
  for (let at = realPathOf(folder); at.startsWith(top); at = dirname(at)) {
    const file = join(at, 'tsconfig.json');
    if (existsSync(file)) return file;
    if (at === dirname(at)) break;
  }
  return null;
}

interface Options {
  readonly allowImportingTsExtensions?: unknown;
  readonly module?: unknown;
  readonly moduleResolution?: unknown;
}

interface Config {
  readonly compilerOptions?: Options;
  readonly extends?: string | readonly string[];
  readonly references?: readonly { readonly path?: string }[];
}

const DEEPEST = 5;

/** The options of a file, of those that it extends and of the projects that it refers to. */
function optionsOf(file: string, depth: number): Options[] {
  const config = readConfig(file);
  if (!config || depth > DEEPEST) return [];
  const others = [
    ...[config.extends ?? []].flat(),
    ...(config.references ?? []).flatMap(({ path }) => path ?? []),
  ].filter((path) => /^\.{0,2}\//.test(path));
  return [
    config.compilerOptions ?? {},
    ...others.flatMap((path) => optionsOf(configAt(dirname(file), path), depth + 1)),
  ];
}

function configAt(folder: string, path: string): string {
  const file = resolve(folder, path);
  return path.endsWith('.json')
    ? file
    : existsSync(`${file}.json`)
      ? `${file}.json`
      : join(file, 'tsconfig.json');
}

/**
 * Reads a configuration. Null for a file that does not exist, or that is not JSON apart from
 * comments and last commas.
 */
function readConfig(file: string): Config | null {
  try {
    const text = readFileSync(file, 'utf8').replace(
      /("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\/|,(?=\s*[\]}])/g,
      (_, quoted?: string) => quoted ?? '',
    );
    return JSON.parse(text) as Config;
  } catch {
    return null;
  }
}
