import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Joins the modules of a package into one file for each entry, with a source map. Node needs a
 * third of a millisecond to load a module, and the schema has hundreds of them, which the generator
 * and every server load when they start. Other packages stay outside.
 *
 * @param entries paths in `folder`: './index.ts'.
 * @returns the files by their path in `folder`.
 */
export async function joinModules(
  folder: string,
  entries: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const bundle = await rolldown({
    input: Object.fromEntries(
      entries.map((entry) => [entry.replace(/^\.\/|\.ts$/g, ''), join(folder, entry)]),
    ),
    external: (name) => !name.startsWith('.') && !name.startsWith(folder),
    platform: 'node',
    logLevel: 'warn',
  });
  try {
    const { output } = await bundle.generate({
      dir: folder,
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
    });
    return new Map(
      output.map((file) => [
        file.fileName,
        Buffer.from(file.type === 'chunk' ? file.code : file.source),
      ]),
    );
  } finally {
    await bundle.close();
  }
}
