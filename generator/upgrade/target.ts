import { resolve } from 'node:path';
import { compareVersions } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import { packageVersion } from '../version.ts';
import { readPacks } from './packs.ts';
import { newestVersion } from './registry.ts';
import type { Target } from './set-packages.ts';
import { isVersion } from './versions.ts';

export interface UpgradeRequest {
  /** `--to`: a version, or a folder with packs. */
  readonly to: string | undefined;
  /** The project's folder, at which a relative path begins. */
  readonly root: string;
  /** The version of the project; null for an older one that does not say it. */
  readonly from: string | null;
  /** Whether the project has its packages in `vendor/`. */
  readonly vendored: boolean;
}

/**
 * Which packages the project gets: those that `--to` names. Without it, those of this generator if
 * the project's code is older, else the newest ones of the registry.
 *
 * @throws CommandError when a project with packs in `vendor/` names no target, and for a version
 * that is older than the project's.
 */
export async function resolveTarget(wanted: UpgradeRequest): Promise<Target> {
  const target = await targetOf(wanted);
  if (wanted.from === null || compareVersions(target.version, wanted.from) >= 0) return target;
  throw new CommandError('TARGET_OLDER', {
    message: `the project is of version ${wanted.from}, and ${target.version} is older`,
    fix: 'git has the project as it was; an upgrade only goes forwards',
  });
}

async function targetOf({ to, root, from, vendored }: UpgradeRequest): Promise<Target> {
  if (to !== undefined && !isVersion(to)) {
    const packs = readPacks(resolve(root, to));
    return { version: packs.version, packs };
  }
  if (to !== undefined && /\d/.test(to)) return { version: to.replace(/^v/, ''), packs: null };
  const isBehind = from === null || compareVersions(from, packageVersion()) < 0;
  if (to === undefined && vendored && isBehind) return ownTarget(root);
  if (to === undefined && isBehind) return { version: packageVersion(), packs: null };
  if (to !== undefined || !vendored)
    return { version: await newestVersion(root, to ?? 'latest'), packs: null };
  throw new CommandError('TARGET_MISSING', {
    message: 'the packages of this project are packs in vendor/, which no registry has',
    fix: 'name a folder with newer packs, or a version of the registry: --to FOLDER|VERSION',
  });
}

/** The packs of `vendor/`, after somebody has replaced and installed them by hand. */
function ownTarget(root: string): Target {
  const packs = readPacks(resolve(root, 'vendor'));
  return { version: packs.version, packs };
}
