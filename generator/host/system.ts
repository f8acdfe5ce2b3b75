import { CommandError } from '../failure.ts';

export type SystemId = 'debian' | 'ubuntu' | 'fedora';

/** The operating system of a host. */
export interface HostSystem {
  readonly id: SystemId;
  readonly version: string;
  /** Its own name of itself: `Debian GNU/Linux 12 (bookworm)`. */
  readonly name: string;
}

/** The oldest version of each system on which the units are tried. */
const OLDEST: Readonly<Record<SystemId, string>> = {
  debian: '12',
  ubuntu: '22.04',
  fedora: '40',
};

/**
 * Reads the text of `/etc/os-release`.
 *
 * @throws CommandError for another system, or an older version; the message names it.
 * @example readSystem('ID=debian\nVERSION_ID="12"\n').id // 'debian'
 */
export function readSystem(osRelease: string): HostSystem {
  const values = assignments(osRelease);
  const { ID: id = '', VERSION_ID: version = '' } = values;
  const name = values['PRETTY_NAME'] ?? (`${values['NAME'] ?? id} ${version}`.trim() || 'no name');
  if (!isKnown(id) || !isAtLeast(version, OLDEST[id]))
    throw new CommandError('SYSTEM_UNSUPPORTED', {
      message: `this system is ${name}; a host is installed on Debian 12, Ubuntu 22.04, Fedora 40 or newer`,
      fix: 'use one of these, or run the project with: docker compose up -d',
    });
  return { id, version, name };
}

const isKnown = (id: string): id is SystemId => Object.hasOwn(OLDEST, id);

/** os-release(5): assignments of a shell, without variables. */
function assignments(text: string): Readonly<Record<string, string | undefined>> {
  const found = text.matchAll(/^\s*([A-Z0-9_]+)=(["']?)(.*?)\2\s*$/gm);
  return Object.fromEntries([...found].map(([, name, , value]) => [name, value]));
}

function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [version, least].map((text) => text.split('.').map(Number));
  const [major = Number.NaN, minor = 0] = ours!;
  const [leastMajor = 0, leastMinor = 0] = theirs!;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
