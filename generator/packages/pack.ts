import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';
import { type Manifest, shippedManifest } from './shipped-manifest.ts';
import { createTarball, type TarEntry } from './tarball.ts';

/** A package as a tarball: its file name in `vendor/` and its bytes. */
export interface PackedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

interface PackageFolders {
  /** The name of its tarball, without the version. */
  readonly name: string;
  /** Where its `package.json` is, relative to the repo. */
  readonly home: string;
  /** The folders that the package contains. They keep their place below `home`. */
  readonly folders: readonly string[];
  /** Parts of these folders that are only sources for `build`, and are left out. */
  readonly sources?: readonly string[];
  /** A folder of TypeScript that is shipped as it is, because a run copies it into projects. */
  readonly copied?: string;
  /** Whether it has every page of the documentation, at its path in the repo. */
  readonly pages?: boolean;
  /** The function of `BUILD` that makes the files of its `dist/`. */
  readonly build?: 'buildConsole' | 'buildExplorer';
  /** Joins the modules into few files, all but these. Without it each module stays a file. */
  readonly joined?: Apart;
}

interface Apart {
  /** Modules that are started by their path, as a process or a thread. */
  readonly programs?: readonly string[];
  /** Folders whose modules browsers ask for by their path. */
  readonly browser?: readonly string[];
}

/** Builds what browsers load. */
const BUILD = 'runtime/console/build.ts';

const PACKAGES: readonly PackageFolders[] = [
  {
    name: 'twofold-generator',
    home: '.',
    folders: ['generator', 'templates'],
    copied: 'templates/client/source/',
    pages: true,
  },
  { name: 'twofold-schema', home: 'schema', folders: ['schema'], joined: {} },
  {
    name: 'twofold-runtime',
    home: 'runtime/core',
    folders: ['runtime/core'],
    build: 'buildExplorer',
    joined: { programs: ['./store/sqlite/sqlite-worker.ts'] },
  },
  {
    name: 'twofold-database',
    home: 'runtime/database',
    folders: ['runtime/database'],
    joined: {},
  },
  {
    name: 'twofold-auth',
    home: 'runtime/auth',
    folders: ['runtime/auth'],
    joined: { browser: ['pages/browser/'] },
  },
  { name: 'twofold-hosting', home: 'runtime/hosting', folders: ['runtime/hosting'] },
  { name: 'twofold-models', home: 'runtime/models', folders: ['runtime/models'] },
  {
    name: 'twofold-console',
    home: 'runtime/console',
    folders: ['runtime/console'],
    sources: ['runtime/console/web/', 'runtime/console/build.'],
    build: 'buildConsole',
  },
  { name: 'create-twofold', home: 'create', folders: ['create'] },
];

const repo = fileURLToPath(new URL('../../', import.meta.url));

/** Files of the repository's root that every package includes. */
const SHARED = ['LICENSE', 'CHANGELOG.md'] as const;

/**
 * Files that change the packages: another version of the compiler or of a dependency gives other
 * output.
 */
const INPUTS = [
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'README.md',
  'llms.txt',
  'release/join-modules.ts',
  ...SHARED,
];

/**
 * Packs the packages of this checkout as JavaScript with types. An earlier result is used again
 * while no source and no version of a dependency has changed.
 */
export async function packPackages(): Promise<PackedFile[]> {
  const sources = await readSources();
  const inputs = await Promise.all(INPUTS.map((path) => readFile(join(repo, path))));
  const key = hashOf([...sources.flatMap(({ path, bytes }) => [path, bytes]), ...inputs]);
  const cache = join(repo, '.build/packages', key);
  if (!existsSync(cache)) await fillCache(cache, await build(sources));
  const names = (await readdir(cache)).sort();
  return Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(cache, name)) })),
  );
}

/** Where the packages are compiled: its name must not stand in them. */
export const BUILD_FOLDER = join(tmpdir(), 'twofold-pack-');

/** Builds the packages without the cache. */
export const buildPackages = async (): Promise<PackedFile[]> => build(await readSources());

const readSources = () =>
  readFolders(repo, [...PACKAGES.flatMap(({ folders }) => folders), 'site/pages']);

async function build(sources: readonly TarEntry[]): Promise<PackedFile[]> {
  const out = await mkdtemp(BUILD_FOLDER);
  try {
    await compile(out);
    return await Promise.all(PACKAGES.map((each) => pack(each, out, sources)));
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Only emits: the types were checked in the repository. */
async function compile(out: string): Promise<void> {
  const config = join(out, 'tsconfig.json');
  const base = join(repo, 'tsconfig.json');
  const compilerOptions = {
    rootDir: repo,
    outDir: join(out, 'js'),
    noEmit: false,
    noCheck: true,
    declaration: true,
    sourceMap: true,
    inlineSources: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    typeRoots: [join(repo, 'node_modules/@types')],
  };
  await writeFile(
    config,
    JSON.stringify({
      extends: base,
      compilerOptions,
      include: ['generator', 'templates', 'schema', 'runtime'].map((folder) => join(repo, folder)),
      exclude: PACKAGES.flatMap(({ sources = [], copied = '' }) => [...sources, copied])
        .filter((path) => path.endsWith('/'))
        .map((path) => join(repo, path)),
    }),
  );
  await runProgram(
    process.execPath,
    [join(repo, 'node_modules/typescript/bin/tsc'), '-p', config],
    { cwd: repo },
  );
}

async function pack(
  {
    name,
    home,
    folders,
    sources: unshipped = [],
    copied = '',
    pages = false,
    ...made
  }: PackageFolders,
  out: string,
  sources: readonly TarEntry[],
): Promise<PackedFile> {
  const inPackage = (path: string) => (home === '.' ? path : path.slice(home.length + 1));
  const manifest = await readManifest(home);
  const { repository } = await readManifest('.');
  const assets = sources.filter(
    ({ path }) =>
      (pages && isPage(path)) ||
      (folders.some((folder) => path.startsWith(`${folder}/`)) &&
        (!path.endsWith('.ts') || (copied !== '' && path.startsWith(copied))) &&
        !path.endsWith('/package.json')),
  );
  const typescript = folders.filter((folder) => existsSync(join(out, 'js', folder)));
  const apart = (await readFolders(join(out, 'js'), typescript)).map(withPlainMap);
  const compiled = made.joined ? await withJoined(apart, manifest, home, made.joined) : apart;
  const placed = [...compiled, ...assets]
    .filter(({ path }) => !unshipped.some((start) => path.startsWith(start)))
    .map((entry) => ({
      ...entry,
      path: inPackage(entry.path),
      executable: entry.path.endsWith('/bin.js'),
    }));
  const built = made.build === undefined ? [] : await buildDist(made.build);
  const entries = [...(await sharedFiles(home)), ...placed, ...built];
  const unique = new Map<string, TarEntry>(entries.map((entry) => [entry.path, entry]));
  const shipped = shippedManifest(manifest, { home, repository, files: [...unique.keys()] });
  const bytes = createTarball([
    ...unique.values(),
    { path: 'package.json', bytes: Buffer.from(`${JSON.stringify(shipped, null, 2)}\n`) },
  ]);
  return { name: `${name}-${manifest.version}.tgz`, bytes };
}

/** A page of the documentation: links between pages are paths in the repo. */
const isPage = (path: string): boolean =>
  /\/docs\/[^/]+\.md$/.test(path) || /^site\/pages\/[^/]+\/[^/]+\.md$/.test(path);

/** The files that a package builds into its `dist/`. */
async function buildDist(build: 'buildConsole' | 'buildExplorer'): Promise<TarEntry[]> {
  const module = (await import(join(repo, BUILD))) as Record<
    typeof build,
    () => Promise<ReadonlyMap<string, Buffer>>
  >;
  return [...(await module[build]())].map(([path, bytes]) => ({ path: `dist/${path}`, bytes }));
}

/** The modules joined into one file for each export, with the types that these name. */
async function withJoined(
  compiled: readonly TarEntry[],
  { exports = {} }: Manifest,
  home: string,
  { programs = [], browser = [] }: Apart,
): Promise<TarEntry[]> {
  const { joinModules } = (await import(join(repo, 'release/join-modules.ts'))) as {
    joinModules(joined: object): Promise<ReadonlyMap<string, Buffer>>;
  };
  const entries = Object.values(exports).filter((path) => path.endsWith('.ts'));
  const joined = await joinModules({ folder: join(repo, home), entries, programs });
  const isApart = (path: string) => browser.some((folder) => path.startsWith(`${home}/${folder}`));
  const named = namedTypes(
    compiled,
    entries.map((entry) => posix.join(home, entry)),
  );
  return [
    ...compiled.filter(({ path }) =>
      path.endsWith('.d.ts') ? named.has(path) : isApart(path) || !/\.js(\.map)?$/.test(path),
    ),
    ...[...joined].map(([path, bytes]) => ({ path: `${home}/${path}`, bytes })),
  ];
}

const NAMED_MODULE = /(?:\bfrom |\bimport\(|\bimport )["'](\.[^"']+)["']/g;

/** The declarations that some modules name, and those that these name. No import reaches others. */
function namedTypes(compiled: readonly TarEntry[], modules: readonly string[]): Set<string> {
  const texts = new Map(compiled.map(({ path, bytes }) => [path, bytes]));
  const declaration = (module: string) => module.replace(/\.[jt]s$/, '.d.ts');
  const named = new Set<string>(modules.map(declaration));
  for (const path of named)
    for (const [, module = ''] of Buffer.from(texts.get(path) ?? '')
      .toString()
      .matchAll(NAMED_MODULE))
      named.add(declaration(posix.join(posix.dirname(path), module)));
  return named;
}

const readManifest = async (home: string) =>
  JSON.parse(await readFile(join(repo, home, 'package.json'), 'utf8')) as Manifest;

/**
 * The README of the generator is the one of the repository, and it has the list of all pages; the
 * other packages have their own README.
 */
const sharedFiles = (home: string): Promise<TarEntry[]> =>
  Promise.all(
    [...SHARED, ...(home === '.' ? ['README.md', 'llms.txt'] : [])].map(async (path) => ({
      path,
      bytes: await readFile(join(repo, path)),
    })),
  );

/**
 * A source map names its source by the path where it was compiled; the map contains the source's
 * text, so its file name is enough.
 */
function withPlainMap(entry: TarEntry): TarEntry {
  if (!entry.path.endsWith('.map')) return entry;
  const map = JSON.parse(Buffer.from(entry.bytes).toString()) as { sources: string[] };
  const plain = { ...map, sources: map.sources.map((source) => basename(source)) };
  return { ...entry, bytes: Buffer.from(JSON.stringify(plain)) };
}

async function readFolders(root: string, folders: readonly string[]): Promise<TarEntry[]> {
  const found = await Promise.all(folders.map((folder) => readFolder(root, folder)));
  return found.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readFolder(root: string, folder: string): Promise<TarEntry[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && !entry.parentPath.includes('node_modules'),
  );
  return Promise.all(
    files.map(async (entry) => {
      const full = join(entry.parentPath, entry.name);
      return {
        path: full
          .slice(root.length)
          .replace(/^[\\/]/, '')
          .replaceAll('\\', '/'),
        bytes: await readFile(full),
      };
    }),
  );
}

/** Renames the complete folder into place, because two runs may pack at once. */
async function fillCache(cache: string, files: readonly PackedFile[]): Promise<void> {
  const part = `${cache}.${process.pid}`;
  await mkdir(part, { recursive: true });
  for (const { name, bytes } of files) await writeFile(join(part, name), bytes);
  await rename(part, cache).catch(() => rm(part, { recursive: true, force: true }));
}

function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 24);
}
