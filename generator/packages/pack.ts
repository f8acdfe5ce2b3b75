import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../run-program.ts';
import { createTarball, type TarEntry } from './tarball.ts';

/** A package as a file: its name in `vendor/` and its bytes. */
export interface PackedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

interface PackageFolders {
  readonly name: string;
  /** Where its `package.json` is, relative to the repo. */
  readonly home: string;
  /** Which folders of the repo it ships; they keep their place below `home`. */
  readonly folders: readonly string[];
}

const PACKAGES: readonly PackageFolders[] = [
  { name: 'generator', home: '.', folders: ['generator', 'templates'] },
  { name: 'schema', home: 'schema', folders: ['schema'] },
  { name: 'runtime', home: 'runtime/core', folders: ['runtime/core'] },
  { name: 'auth', home: 'runtime/auth', folders: ['runtime/auth'] },
  { name: 'hosting', home: 'runtime/hosting', folders: ['runtime/hosting'] },
  { name: 'models', home: 'runtime/models', folders: ['runtime/models'] },
];

const repo = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Packs the packages of this checkout as JavaScript with types. What was packed before is taken again while no
 * source has changed.
 */
export async function packPackages(): Promise<PackedFile[]> {
  const sources = await readFolders(
    repo,
    PACKAGES.flatMap(({ folders }) => folders),
  );
  const manifests = await Promise.all(
    // Other versions of what is bundled make another bundle.
    ['package-lock.json', ...PACKAGES.map(({ home }) => join(home, 'package.json'))].map((path) =>
      readFile(join(repo, path)),
    ),
  );
  const key = hashOf([...sources.flatMap(({ path, bytes }) => [path, bytes]), ...manifests]);
  const cache = join(repo, '.build/packages', key);
  if (!existsSync(cache)) await fill(cache, await build(sources));
  const names = (await readdir(cache)).sort();
  return Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(cache, name)) })),
  );
}

async function build(sources: readonly TarEntry[]): Promise<PackedFile[]> {
  const out = await mkdtemp(join(tmpdir(), 'twofold-'));
  try {
    await compile(out);
    return await Promise.all(PACKAGES.map((each) => pack(each, out, sources)));
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Types were checked in the repo; here they are only printed. */
async function compile(out: string): Promise<void> {
  const config = join(out, 'tsconfig.json');
  const base = join(repo, 'tsconfig.json');
  const compilerOptions = {
    rootDir: repo,
    outDir: join(out, 'js'),
    noEmit: false,
    noCheck: true,
    declaration: true,
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
      exclude: [],
    }),
  );
  await runProgram(
    process.execPath,
    [join(repo, 'node_modules/typescript/bin/tsc'), '-p', config],
    { cwd: repo },
  );
}

async function pack(
  { name, home, folders }: PackageFolders,
  out: string,
  sources: readonly TarEntry[],
): Promise<PackedFile> {
  const inPackage = (path: string) => (home === '.' ? path : path.slice(home.length + 1));
  const manifest = JSON.parse(await readFile(join(repo, home, 'package.json'), 'utf8')) as Manifest;
  const assets = sources.filter(
    ({ path }) =>
      folders.some((folder) => path.startsWith(`${folder}/`)) &&
      !path.endsWith('.ts') &&
      !path.endsWith('/package.json'),
  );
  const placed = [...(await readFolders(join(out, 'js'), folders)), ...assets].map((entry) => ({
    ...entry,
    path: inPackage(entry.path),
    executable: entry.path.endsWith('/bin.js'),
  }));
  const unique = new Map(placed.map((entry) => [entry.path, entry]));
  const bytes = createTarball([
    ...unique.values(),
    { path: 'package.json', bytes: Buffer.from(`${JSON.stringify(shipped(manifest), null, 2)}\n`) },
  ]);
  return { name: `twofold-${name}-${manifest.version}.tgz`, bytes };
}

interface Manifest {
  readonly version: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/**
 * The package's own `package.json`, for JavaScript: nothing that only the repo needs. Packages of ours become peers, which a
 * package manager takes from the project: as dependencies pnpm and Yarn would look for them in the public registry, where
 * somebody else could publish one under that name.
 */
function shipped(manifest: Manifest): Manifest {
  const {
    workspaces: _workspaces,
    scripts: _scripts,
    devDependencies: _development,
    allowScripts: _allowed,
    dependencies = {},
    peerDependencies = {},
    ...rest
  } = manifest;
  const ours = ([name]: readonly [string, string]) => name.startsWith('@twofold/');
  const all = Object.entries(dependencies);
  const exports = Object.entries(manifest.exports ?? {}).map(([name, path]) => [
    name,
    path.endsWith('.ts')
      ? { types: path.replace(/\.ts$/, '.d.ts'), default: path.replace(/\.ts$/, '.js') }
      : path,
  ]);
  return {
    ...rest,
    exports: Object.fromEntries(exports) as Manifest['exports'] & {},
    dependencies: Object.fromEntries(all.filter((each) => !ours(each))),
    peerDependencies: { ...Object.fromEntries(all.filter(ours)), ...peerDependencies },
  };
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

/** The folder appears whole or not at all: two runs may pack at once. */
async function fill(cache: string, files: readonly PackedFile[]): Promise<void> {
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
