import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, root, sourceFiles } from '../source-files.ts';

/** Packages that are shipped: where their `package.json` is, and where their sources are. */
const PACKAGES: readonly (readonly [home: string, ...sources: string[]])[] = [
  ['.', 'generator', 'templates'],
  ['schema', 'schema'],
  ['runtime/core', 'runtime/core'],
  ['runtime/database', 'runtime/database'],
  ['runtime/auth', 'runtime/auth'],
  ['runtime/hosting', 'runtime/hosting'],
  ['runtime/models', 'runtime/models'],
];

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** `koa` of `koa/lib/x.js`, `@koa/router` of `@koa/router`. */
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Packages that the sources import, with the file that does. */
function imported(sources: readonly string[], own: string): Map<string, string> {
  const found = new Map<string, string>();
  // What is emitted as it stands imports what the project has, as the texts of templates do.
  const files = sources.flatMap(sourceFiles).filter((file) => !file.includes('client/source/'));
  for (const file of files)
    for (const specifier of specifiersOf(file)) {
      const name = packageOf(specifier);
      if (name !== own) found.set(name, file);
    }
  return found;
}

function specifiersOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const required = [
    ...text.matchAll(
      /(?:\bload|\brequire(?:\.resolve)?|createRequire\(import\.meta\.url\)|import\.meta\.resolve)\(\s*'([^'.][^']*)'/g,
    ),
  ].map(([, name]) => name as string);
  return [...importsOf(file).map(({ specifier }) => specifier), ...required].filter(
    (name) => !name.startsWith('.') && !name.startsWith('node:'),
  );
}

describe.each(PACKAGES)('the package of %s', (home, ...sources) => {
  const { name, dependencies = {}, peerDependencies = {} } = readManifest(home);
  const declared = { ...dependencies, ...peerDependencies };
  const used = imported(sources, name);

  it('declares what its sources import', () => {
    const missing = [...used].filter(([each]) => !(each in declared));
    expect(missing.map(([each, file]) => `${each}, which ${file} imports`)).toEqual([]);
  });

  it('imports what it declares', () => {
    expect(Object.keys(declared).filter((each) => !used.has(each))).toEqual([]);
  });

  it('has the peers that its dependencies ask for: Yarn installs none by itself', () => {
    const peers = Object.keys(dependencies)
      .filter((each) => !each.startsWith('@twofold/'))
      .flatMap((each) => {
        const theirs = readManifest(`node_modules/${each}`);
        return Object.keys(theirs.peerDependencies ?? {})
          .filter((peer) => !theirs.peerDependenciesMeta?.[peer]?.optional)
          .map((peer) => ({ each, peer }));
      });
    expect(peers.filter(({ peer }) => !(peer in dependencies))).toEqual([]);
  });

  it('leaves types to development, as a peer too: npm installs those with a server', () => {
    expect(Object.keys(declared).filter((each) => each.startsWith('@types/'))).toEqual([]);
  });
});
