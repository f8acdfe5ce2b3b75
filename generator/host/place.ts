import { CommandError } from '../failure.ts';

/** Where a host is installed, and the user that it runs as. */
export interface HostPlace {
  readonly user: string;
  readonly dir: string;
}

/** What the user chose. */
export interface InstallOptions extends HostPlace {
  /** Apps answer at names below it. */
  readonly domain: string | null;
  /** The address of the server itself. */
  readonly url: string | null;
  /** For the account at Let's Encrypt. */
  readonly email: string | null;
}

export const DEFAULT_PLACE: HostPlace = { user: 'twofold', dir: '/opt/twofold' };

/** Files of the system that belong to a host. */
export const PATHS = {
  env: '/etc/twofold/env',
  server: '/etc/systemd/system/twofold.service',
  ingress: '/etc/systemd/system/twofold-ingress.service',
  podman: '/etc/systemd/system/podman.socket.d/twofold.conf',
  users: '/etc/sysusers.d/twofold.conf',
  folders: '/etc/tmpfiles.d/twofold.conf',
} as const;

/** Each option with the form that its value must have, and an example. */
const FORMS: Readonly<Record<keyof InstallOptions, readonly [form: RegExp, example: string]>> = {
  user: [/^(?!root$)[a-z_][a-z0-9_-]{0,30}$/, 'twofold'],
  dir: [/^(\/(?!\.\.?(\/|$))[A-Za-z0-9._-]+){2,}$/, '/opt/twofold'],
  domain: [
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i,
    'apps.example.com',
  ],
  url: [
    /^(https:\/\/[a-z0-9.-]+|http:\/\/(localhost|127\.0\.0\.1))(:\d{1,5})?\/?$/i,
    'https://host.example.com',
  ],
  email: [/^[^\s"'\\@]+@[^\s"'\\@]+$/, 'you@example.com'],
};

/**
 * Checks what was given. A value goes into files that systemd reads, so it has only characters
 * that have no meaning there.
 *
 * @throws CommandError that names the option.
 */
export function assertOptions(options: InstallOptions): void {
  for (const [name, [form, example]] of Object.entries(FORMS)) {
    const value = options[name as keyof InstallOptions];
    if (value === null || form.test(value)) continue;
    throw new CommandError('OPTION_VALUE', {
      message: `--${name} ${JSON.stringify(value)} is not possible`,
      fix: `for example: --${name} ${example}`,
    });
  }
  if (/^\/(home|root|proc|run|sys|dev|tmp)\//.test(`${options.dir}/`))
    throw new CommandError('OPTION_VALUE', {
      message: `--dir ${options.dir} is in a folder that services cannot see or that does not stay`,
      fix: 'for example: --dir /opt/twofold, or --dir /srv/twofold',
    });
}

/** The place of the installation whose unit this is, so that a second run finds it again. */
export function placeOfUnit(unit: string): HostPlace | null {
  const user = /^User=(.+)$/m.exec(unit)?.[1];
  const dir = /^WorkingDirectory=(.+)\/current$/m.exec(unit)?.[1];
  return user === undefined || dir === undefined ? null : { user, dir };
}
