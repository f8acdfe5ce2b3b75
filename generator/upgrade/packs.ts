import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareVersions } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import { type PackName, packNameOf } from '../packages/vendored.ts';
import { hasCode } from '../write/disk.ts';

/** The packs of one version in a folder. */
export interface Packs {
  readonly folder: string;
  readonly version: string;
  readonly names: readonly PackName[];
}

/** Without these no project runs. */
const NEEDED = ['generator', 'runtime', 'schema'];

/**
 * The packs in a folder, those of the newest version if there are several.
 *
 * @throws CommandError `PACKS_MISSING` when the folder has no complete set.
 */
export function readPacks(folder: string): Packs {
  const all = namesIn(folder).flatMap((name) => packNameOf(name) ?? []);
  const version = all
    .map((each) => each.version)
    .toSorted(compareVersions)
    .at(-1);
  const names = all.filter((each) => each.version === version);
  const missing = NEEDED.filter((short) => !names.some((each) => each.short === short));
  if (version !== undefined && missing.length === 0) return { folder, version, names };
  const what =
    version === undefined ? 'no packs' : `no pack of ${missing.join(' and ')} ${version}`;
  throw new CommandError('PACKS_MISSING', {
    message: `${folder} has ${what}`,
    fix: 'name a folder with twofold-generator-X.Y.Z.tgz and the other packages, or a version',
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** A tarball as a text with a character for each byte. */
export const readPackText = (folder: string, file: string): string =>
  readFileSync(join(folder, file), 'latin1');
