import type { HostCommand } from './install-plan.ts';
import { type HostPlace, PATHS } from './place.ts';

export interface UninstallInput extends HostPlace {
  /** Data and settings too. */
  readonly purge: boolean;
  /** Whether the user of the services exists: a run that was interrupted may have removed it. */
  readonly userExists: boolean;
}

/**
 * What removes the services of a host. Data and settings stay unless `purge`, so an installation
 * afterwards continues where this one ended. Every command can be repeated.
 */
export function planUninstall({ user, dir, purge, userExists }: UninstallInput): HostCommand[] {
  const { env, ...written } = PATHS;
  const program = ['releases', 'current', 'current.part'].map((name) => `${dir}/${name}`);
  return [
    ['systemctl', 'disable', '--now', 'twofold.service', 'twofold-ingress.service'],
    ['rm', '-rf', '--', ...program, '/run/twofold', '/var/cache/twofold'],
    ...(userExists ? ([['userdel', user]] as const) : []),
    ...(purge ? ([['rm', '-rf', '--', dir, env.replace(/\/[^/]+$/, '')]] as const) : []),
    // Last, as the unit says where the host is: what was interrupted before is finished by a second run.
    ['rm', '-f', '--', ...Object.values(written)],
    ['systemctl', 'daemon-reload'],
  ];
}
