import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { OutputChunk, OutputOptions, Plugin, rolldown as Rolldown } from 'rolldown';
import type { TarEntry } from './tarball.ts';

const MAIN = 'main';

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
  /** Packages that are taken in, each a file and where it is; all others are imported. */
  readonly inside: Readonly<Record<string, string>>;
}

/**
 * A package as few files. Node needs half a millisecond for each, and a server would load eight hundred before its first
 * answer. Names stay as they are, and a comment says from which source a piece is.
 */
export async function bundle(bundling: Bundling): Promise<TarEntry[]> {
  const { rolldown } = await import('rolldown');
  const groups = [{ debugName: 'parts', name: (id: string) => fileOf(id, bundling) }];
  const parts = build(rolldown, bundling, { name: MAIN, source: bundling.index, codeSplitting: { includeDependenciesRecursively: false, groups } });
  const programs = bundling.programs.map((name) => build(rolldown, bundling, { name, source: name, codeSplitting: false }));
  const chunks = (await Promise.all([parts, ...programs])).flat();
  const main = chunks.find(({ fileName }) => fileName === `${MAIN}.js`);
  const files = [...chunks.map(({ fileName, code }) => ({ path: fileName, text: code })), { path: `${bundling.index}.js`, text: indexOf(main?.exports ?? []) }];
  return files.map(({ path, text }) => ({ path, bytes: Buffer.from(text) }));
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
  const below = (home: string) => relative(home, id).replaceAll('\\', '/').replace(/\.ts$/, '');
  const stranger = Object.entries(inside).find(([, home]) => !below(home).startsWith('..'));
  if (stranger) return stranger[0].replace(/^@.*\//, '');
  const path = below(folder);
  if (path === index) return null;
  if (placed.includes(path)) return path;
  return parts.find((part) => path.startsWith(`${part}/`)) ?? 'kernel';
}

interface Build {
  /** Of the file, and of the source. */
  readonly name: string;
  readonly source: string;
  readonly codeSplitting: OutputOptions['codeSplitting'] & {};
}

async function build(rolldown: typeof Rolldown, { folder, inside }: Bundling, { name, source, codeSplitting }: Build): Promise<OutputChunk[]> {
  const build = await rolldown({
    // Comments name the sources from here.
    cwd: dirname(folder),
    input: { [name]: join(folder, `${source}.ts`) },
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    // What is imported both at once and later is there at once.
    checks: { ineffectiveDynamicImport: false },
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !REQUIRED.test(id) && !(id in inside),
    plugins: [requireInstead],
    // What is not asked for is not read: see below.
    treeshake: { propertyReadSideEffects: false },
  });
  const { output } = await build.generate({ format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js', minifyInternalExports: false, codeSplitting });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

/**
 * An `import` of a module of Node's reads all that it has, `node:http` its WebSocket client as well: 40 ms, and 5 ms each for
 * the other two. A `require` reads what it is asked for. `@koa/router` imports `http` in its ES module, and requires it in the other.
 */
const REQUIRED = /^((node:)?(http|fs|util)|@koa\/router)$/;
const MARK = '\0required:';

const requireInstead: Plugin = {
  name: 'require-instead',
  resolveId: (id) => (REQUIRED.test(id) ? `${MARK}${id}` : null),
  load: (id) => (id.startsWith(MARK) ? required(id.slice(MARK.length)) : null),
};

function required(id: string): string {
  const names = Object.keys(createRequire(import.meta.url)(id) as object).filter((name) => name !== 'default');
  return [
    `import { createRequire } from 'node:module';`,
    `const required = createRequire(import.meta.url)('${id}');`,
    `export default required;`,
    ...names.map((name) => `export const ${name} = required.${name};`),
  ].join('\n');
}
