import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { createTarball } from '../generator/packages/tarball.ts';
import type { PackedFile } from '../generator/packages/pack.ts';
import { type Pack, type PackFile, readPack } from './read-pack.ts';

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
  const folder = folderOf(read, releases);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) await rm(join(folder, name));
  let bytes = 0;
  for (const pack of read) {
    const tarball = createTarball(keptFiles(pack));
    bytes += tarball.length;
    await writeFile(join(folder, pack.file), tarball);
  }
  return bytes;
}

/** Whether the packs of this version that are kept have the files of these. */
export async function samePacks(
  packs: readonly PackedFile[],
  releases = RELEASES,
): Promise<boolean> {
  const read = packs.map(readPack);
  const folder = folderOf(read, releases);
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length !== read.length) return false;
  const same = read.map(async (pack) => {
    if (!names.includes(pack.file)) return false;
    // Another Node may compress in another way.
    const kept = gunzipSync(await readFile(join(folder, pack.file)));
    return kept.equals(gunzipSync(createTarball(keptFiles(pack), { level: 1 })));
  });
  return (await Promise.all(same)).every(Boolean);
}

function folderOf([first]: readonly Pack[], releases: string): string {
  if (!first) throw new TypeError('there are no packs');
  return join(releases, first.manifest.version);
}

const keptFiles = ({ files }: Pack) => files.flatMap(withoutMap);

function withoutMap(entry: PackFile) {
  const executable = entry.path.endsWith('bin.js');
  if (entry.path.endsWith('.map')) return [];
  if (!entry.path.endsWith('.js')) return [{ ...entry, executable }];
  const text = entry.bytes.toString().replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  return [{ ...entry, executable, bytes: Buffer.from(text) }];
}
