import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packPackages } from '../../generator/packages/pack.ts';
import { createTarball } from '../../generator/packages/tarball.ts';
import { packNameOf } from '../../generator/packages/vendored.ts';
import { RELEASES } from '../../release/keep.ts';
import { type Pack, readPack } from '../../release/read-pack.ts';
import { compareVersions } from '../../schema/releases.ts';
import { root } from '../source-files.ts';

/** Packs of a version, in a folder and installed. */
export interface Release {
  readonly version: string;
  /** The folder with its tarballs: `upgrade --to`. */
  readonly packs: string;
  /** A `node_modules` with them and the dependencies of this repository. */
  readonly modules: string;
}

/** The versions whose packs are kept, the oldest first. */
export const releasedVersions = (): string[] => readdirSync(RELEASES).sort(compareVersions);

/** A release as it was published. */
export const released = (version: string): Release =>
  installed(version, packsIn(join(RELEASES, version)));

export function packsIn(folder: string): Pack[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => readPack({ name, bytes: readFileSync(join(folder, name)) }));
}

/**
 * A version that does not exist: the sources of today with a higher version, a renamed export, a
 * changed default, a changed scaffold and a changed first line of generated files.
 *
 * @param changes the made-up versions so far: a later one has the changes of the earlier ones too.
 */
export async function madeUp(version: string, changes: readonly MadeUp[]): Promise<Release> {
  const packs = (await packPackages()).map(readPack);
  return installed(
    version,
    packs.map((pack) => changedPack(pack, version, changes)),
  );
}

/** What a made-up version changes, in the files of one package. */
export interface MadeUp {
  readonly of: string;
  readonly file: string;
  readonly change: (text: string) => string;
}

function changedPack(pack: Pack, version: string, changes: readonly MadeUp[]): Pack {
  const short = pack.manifest.name.replace('@twofold/', '');
  const older = pack.manifest.version;
  const absent = changes.find(
    ({ of, file }) => of === short && !pack.files.some(({ path }) => path === file),
  );
  if (absent)
    throw new TypeError(`a made-up change is of a file that is not there: ${absent.file}`);
  const files = pack.files
    .filter(({ path }) => !path.endsWith('.map'))
    .map((entry) => {
      const own = changes.filter(({ of, file }) => of === short && file === entry.path);
      const text = entry.bytes.toString();
      const isVersioned =
        entry.path === 'package.json' || /\bVERSION = ["']([^"']*)/.exec(text)?.[1] === older;
      if (own.length === 0 && !isVersioned) return entry;
      const plain = isVersioned ? text.replaceAll(older, version) : text;
      return {
        ...entry,
        bytes: Buffer.from(own.reduce((now, { change }) => changedText(now, change), plain)),
      };
    });
  const bytes = createTarball(
    files.map((entry) => ({ ...entry, executable: entry.path.endsWith('bin.js') })),
    { level: 1 },
  );
  return readPack({ name: pack.file.replace(older, version), bytes });
}

/** A change that finds nothing to change would make the tests prove nothing. */
function changedText(text: string, change: (text: string) => string): string {
  const changed = change(text);
  if (changed === text)
    throw new TypeError(`a made-up change finds nothing in: ${text.slice(0, 80)}`);
  return changed;
}

/** Writes the packs into a folder, and their files into a `node_modules`. */
function installed(version: string, packs: readonly Pack[]): Release {
  const home = mkdtempSync(join(tmpdir(), `twofold-release-${version}-`));
  const [folder, modules] = [join(home, 'packs'), join(home, 'node_modules')];
  mkdirSync(folder);
  mkdirSync(join(modules, '@twofold'), { recursive: true });
  for (const { file, bytes, files } of packs) {
    writeFileSync(join(folder, file), bytes);
    const short = packNameOf(file)?.short;
    if (short === undefined) continue;
    for (const entry of files) {
      const path = join(modules, '@twofold', short, entry.path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, entry.bytes);
    }
  }
  const shared = join(root, 'node_modules');
  for (const name of readdirSync(shared))
    if (name !== '@twofold') symlinkSync(join(shared, name), join(modules, name));
  return { version, packs: folder, modules };
}
