import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTarball } from '../generator/packages/tarball.ts';
import type { PackedFile } from '../generator/packages/pack.ts';
import { readPack } from './read-pack.ts';

/** The packs of every release: `test:upgrade` upgrades projects from each of them. */
export const RELEASES = fileURLToPath(new URL('../test/releases/', import.meta.url));

/**
 * Keeps the packs of this version, without source maps: they are more than half of the bytes, and
 * no upgrade reads them.
 *
 * @returns how many bytes were written.
 */
export async function keepPacks(
  packs: readonly PackedFile[],
  releases = RELEASES,
): Promise<number> {
  const read = packs.map(readPack);
  const [first] = read;
  if (!first) return 0;
  const folder = join(releases, first.manifest.version);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) await rm(join(folder, name));
  let bytes = 0;
  for (const { file, files } of read) {
    const tarball = createTarball(files.flatMap(withoutMap));
    bytes += tarball.length;
    await writeFile(join(folder, file), tarball);
  }
  return bytes;
}

function withoutMap(entry: { readonly path: string; readonly bytes: Buffer }) {
  const executable = entry.path.endsWith('bin.js');
  if (entry.path.endsWith('.map')) return [];
  if (!entry.path.endsWith('.js')) return [{ ...entry, executable }];
  const text = entry.bytes.toString().replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  return [{ ...entry, executable, bytes: Buffer.from(text) }];
}
