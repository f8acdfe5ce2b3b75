import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import type { HostFacts } from './install-plan.ts';
import { type HostPlace, PATHS, placeOfUnit } from './place.ts';
import { type HostSystem, readSystem } from './system.ts';

/** `hosting.engine.kind` of the manifest. */
export type EngineKind = HostingModel['engine']['kind'];

/**
 * The system below this folder, which is `/` for this machine.
 *
 * @throws CommandError when it is not one that a host is installed on.
 */
export function systemBelow(root: string): HostSystem {
  const text = textOf(join(root, 'etc/os-release')) ?? textOf(join(root, 'usr/lib/os-release'));
  if (text === null)
    throw new CommandError('SYSTEM_UNKNOWN', {
      message: `there is no ${join(root, 'etc/os-release')}, which names the system`,
      fix: 'a host is installed on Debian, Ubuntu or Fedora; --root DIR is the root folder of one',
    });
  return readSystem(text);
}

/** Where an earlier run has installed a host below this folder. */
export function placeBelow(root: string): HostPlace | null {
  const unit = textOf(join(root, PATHS.server));
  return unit === null ? null : placeOfUnit(unit);
}

export function factsBelow(root: string, { dir }: HostPlace, kind: EngineKind): HostFacts {
  const releases = join(root, dir, 'releases');
  return {
    releases: existsSync(releases) ? readdirSync(releases).sort() : [],
    current: targetOf(join(root, dir, 'current')),
    env: textOf(join(root, PATHS.env)),
    engine: engineBelow(root, kind),
  };
}

function engineBelow(root: string, kind: EngineKind): HostFacts['engine'] {
  const has = (...paths: string[]) => paths.some((path) => existsSync(join(root, path)));
  if (kind !== 'podman' && has('usr/bin/dockerd', 'run/docker.sock', 'usr/local/bin/dockerd'))
    return 'docker';
  const podman = kind === 'podman' || kind === 'auto';
  return podman && has('usr/bin/podman') ? 'podman' : null;
}

function targetOf(link: string): string | null {
  try {
    return basename(readlinkSync(link));
  } catch {
    return null;
  }
}

/** @returns null when there is no such file. @throws when it cannot be read. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
