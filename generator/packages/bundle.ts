import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { OutputChunk, OutputOptions, Plugin, rolldown as Rolldown } from 'rolldown';
import { fileOfRequired, requireInstead } from './require-instead.ts';
import type { TarEntry } from './tarball.ts';
import { isStandIn, type Waiting, waitingPackages } from './waiting-packages.ts';

const MAIN = 'main';
const PACKAGES = 'packages';

/** What of a package becomes JavaScript, and how it is cut. */
export interface Bundling {
  /** The package's folder, with the sources. */
  readonly folder: string;
  readonly index: string;
  /** Folders that wait behind an `import()`: each becomes a file. The rest of the package is `kernel.js`. */
  readonly parts: readonly string[];
  /** Modules that look for files beside themselves, and so stay where they are. */
  readonly placed: readonly string[];
  /** Modules that a process of their own runs; each file holds all that it needs. */
  readonly programs: readonly string[];
  /** Packages that are taken in, each a file and where it is. */
  readonly inside: Readonly<Record<string, string>>;
  /** Packages that are taken in with all that they need, in `packages.js`. All others are imported. */
  readonly together: readonly string[];
  /** Of what those need: packages that are read when the first of their functions is called. Each is a file. */
  readonly waiting: readonly string[];
}

/** The files, and the modules that they hold. */
export interface Bundled {
  readonly files: readonly TarEntry[];
  readonly modules: readonly string[];
}

/**
 * A package as few files. Node needs half a millisecond for each, and a server would load eight hundred before its first
 * answer. Names stay as they are, and a comment says from which source a piece is.
 */
export async function bundle(bundling: Bundling): Promise<Bundled> {
  const { rolldown } = await import('rolldown');
  const waiting = waitingPackages(bundling.waiting);
  const groups = [{ debugName: 'parts', name: (id: string) => fileOf(id, bundling) }];
  const builder = {
    rolldown,
    bundling,
    plugins: [requireInstead((module) => fileOf(module, bundling)), waiting.plugin],
  };
  const parts = build(builder, {
    name: MAIN,
    source: bundling.index,
    codeSplitting: { includeDependenciesRecursively: false, groups },
  });
  const programs = bundling.programs.map((name) =>
    build(builder, { name, source: name, codeSplitting: false }),
  );
  const chunks = (await Promise.all([parts, ...programs])).flat();
  const later = await Promise.all(waiting.found().map((each) => buildWaiting(rolldown, each)));
  const main = chunks.find(({ fileName }) => fileName === `${MAIN}.js`);
  const files = [
    ...[...chunks, ...later].map(({ fileName, code }) => ({ path: fileName, text: code })),
    { path: `${bundling.index}.js`, text: indexOf(main?.exports ?? []) },
  ];
  return {
    files: files.map(({ path, text }) => ({ path, bytes: Buffer.from(text) })),
    modules: [...chunks, ...later].flatMap(({ moduleIds }) => moduleIds),
  };
}

/** What is imported from outside. The cache is switched on first, and so knows what comes after. */
function indexOf(names: readonly string[]): string {
  return [
    `import { createRequire, enableCompileCache } from 'node:module';`,
    `import { fileURLToPath } from 'node:url';`,
    ``,
    `// What was compiled once is read from the package's own folder at the next start. Where that cannot be written, it is compiled again.`,
    `enableCompileCache(fileURLToPath(new URL('.cache', import.meta.url)));`,
    ``,
    `export const {`,
    ...names.toSorted().map((name) => `  ${name},`),
    `} = createRequire(import.meta.url)('./${MAIN}.js');`,
    ``,
  ].join('\n');
}

/** In which file a module goes. */
function fileOf(id: string, { folder, index, parts, placed, inside }: Bundling): string | null {
  if (isStandIn(id)) return PACKAGES;
  const required = fileOfRequired(id);
  if (required !== undefined) return required || null;
  const below = (home: string) => relative(home, id).replaceAll('\\', '/').replace(/\.ts$/, '');
  const stranger = Object.entries(inside).find(([, home]) => !below(home).startsWith('..'));
  if (stranger) return stranger[0].replace(/^@.*\//, '');
  const path = below(folder);
  if (path.startsWith('..')) return PACKAGES;
  if (path === index) return null;
  if (placed.includes(path)) return path;
  return parts.find((part) => path.startsWith(`${part}/`)) ?? 'kernel';
}

interface Builder {
  readonly rolldown: typeof Rolldown;
  readonly bundling: Bundling;
  readonly plugins: Plugin[];
}

interface Build {
  /** Of the file, and of the source. */
  readonly name: string;
  readonly source: string;
  readonly codeSplitting: OutputOptions['codeSplitting'] & {};
}

async function build(
  { rolldown, bundling, plugins }: Builder,
  { name, source, codeSplitting }: Build,
): Promise<OutputChunk[]> {
  const { folder } = bundling;
  const build = await rolldown({
    // Comments name the sources from here.
    cwd: dirname(folder),
    input: { [name]: join(folder, `${source}.ts`) },
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    // What is imported both at once and later is there at once; `depd` has an eval.
    checks: { ineffectiveDynamicImport: false, eval: false },
    external: (id, importer) => isOutside(id, importer, bundling),
    plugins,
    // What is not asked for is not read: see `require-instead.ts`.
    treeshake: { propertyReadSideEffects: false },
  });
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    minifyInternalExports: false,
    codeSplitting,
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

/** What a package that is taken in needs comes along; of what our own sources name, only what is listed. */
function isOutside(
  id: string,
  importer: string | undefined,
  { folder, inside, together }: Bundling,
): boolean {
  if (id.startsWith('.') || id.startsWith('\0') || isAbsolute(id) || isBuiltin(id)) return false;
  const ours = importer === undefined || !relative(folder, importer).startsWith('..');
  return ours && !(id in inside) && !together.includes(id);
}

async function buildWaiting(
  rolldown: typeof Rolldown,
  { file, path }: Waiting,
): Promise<OutputChunk> {
  const build = await rolldown({ input: path, platform: 'node', cwd: dirname(path) });
  const { output } = await build.generate({
    format: 'cjs',
    entryFileNames: file,
    codeSplitting: false,
  });
  await build.close();
  return output[0];
}
