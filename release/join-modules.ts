import { dirname, join, relative } from 'node:path';
import {
  type OutputAsset,
  type OutputChunk,
  type Plugin,
  rolldown,
  RolldownMagicString,
} from 'rolldown';

export interface JoinedPackage {
  /** Its folder, absolute. */
  readonly folder: string;
  /** The modules that others import: `./index.ts`. */
  readonly entries: readonly string[];
  /** The modules that are started by their path, as a process or a thread: `./store/sqlite/sqlite-worker.ts`. */
  readonly programs: readonly string[];
}

type OutputFile = OutputChunk | OutputAsset;

/**
 * Joins the modules of a package into few files with source maps: one for each entry, and one for
 * what is imported only when it is needed. Node needs a third of a millisecond to load a module,
 * and a server loads hundreds of ours when it starts. A program becomes one file at its own place.
 * Other packages stay outside.
 *
 * @returns the files by their path in the folder.
 */
export async function joinModules({
  folder,
  entries,
  programs,
}: JoinedPackage): Promise<ReadonlyMap<string, Buffer>> {
  const files = await bundle(folder, entries, true);
  for (const program of programs) files.push(...(await bundle(folder, [program], false)));
  return new Map(
    files.map((file) => [
      file.fileName,
      Buffer.from(file.type === 'chunk' ? file.code : file.source),
    ]),
  );
}

async function bundle(
  folder: string,
  entries: readonly string[],
  split: boolean,
): Promise<OutputFile[]> {
  const build = await rolldown({
    // Comments name each module from here, wherever the command was started.
    cwd: folder,
    input: Object.fromEntries(
      entries.map((entry) => [entry.replace(/^\.\/|\.ts$/g, ''), join(folder, entry)]),
    ),
    external: (name) => !name.startsWith('.') && !name.startsWith(folder),
    plugins: [keepUrls(folder)],
    platform: 'node',
    logLevel: 'warn',
  });
  try {
    const { output } = await build.generate({
      dir: folder,
      format: 'esm',
      sourcemap: true,
      codeSplitting: split,
      entryFileNames: '[name].js',
      chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? '[name].js' : 'shared/[name].js'),
    });
    return output;
  } finally {
    await build.close();
  }
}

const OWN_URL = 'import.meta.url';
/** Stands for the URL of a module until it is known which file the module is joined into. */
const URL_OF = /__urlOf\("(.*?)"\)/g;

/** A module that finds files by its own URL finds them from the joined file, too. */
const keepUrls = (folder: string): Plugin => ({
  name: 'keep-urls',
  transform: {
    filter: { id: /\.ts$/, code: OWN_URL },
    handler(code, id) {
      const path = relative(folder, id).replace(/\.ts$/, '.js');
      return replaced(new RolldownMagicString(code).replaceAll(OWN_URL, `__urlOf("${path}")`));
    },
  },
  renderChunk(code, { fileName }) {
    const text = new RolldownMagicString(code);
    for (const { 0: whole, 1: path = '', index } of code.matchAll(URL_OF)) {
      const place = relative(dirname(fileName), path);
      text.overwrite(index, index + whole.length, `new URL("${place}", ${OWN_URL}).href`);
    }
    return text.hasChanged() ? replaced(text) : null;
  },
});

const replaced = (text: RolldownMagicString) => ({
  code: text.toString(),
  map: text.generateMap().toString(),
});
