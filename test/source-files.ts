import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's own folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** One import as it is written: what it names, from where, and whether it is erased before the program runs. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** TypeScript files below `folder` (relative to the repository), as paths with `/`; generated and installed ones left out. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file).split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !/(^|\/)(node_modules|generated|dist)\//.test(file));
}

const IMPORT = /^\s*(?:import|export)\s+(type\s)?([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** The imports of one file. A name of ours (`@twofold/…`) becomes the folder it stands for. */
export function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, type, names = '', from, bare, dynamic]) => ({
    from: file,
    to: toPath(file, from ?? bare ?? dynamic ?? ''),
    typeOnly: type !== undefined || isTypesOnly(names),
  }));
}

/** `{ type A, type B }` */
const isTypesOnly = (names: string) => /^\{/.test(names) && names.replaceAll(/[{}]/g, '').split(',').filter((name) => name.trim()).every((name) => /^\s*type\s/.test(name));

function toPath(file: string, specifier: string): string {
  if (specifier.startsWith('@twofold/')) return specifier.slice('@twofold/'.length).replace(/^(\w+)$/, '$1/index.ts');
  if (!specifier.startsWith('.')) return specifier;
  return relative(root, resolve(root, dirname(file), specifier)).split(sep).join('/');
}
