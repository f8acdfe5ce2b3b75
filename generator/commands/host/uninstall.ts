import { existsSync } from 'node:fs';
import { ask } from '../../cli/ask.ts';
import type { CommandCall } from '../../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';
import { assertCanInstall, runCommands } from '../../host/carry-out.ts';
import { placeBelow, textOf } from '../../host/facts.ts';
import { LOCK, whileLocked } from '../../host/lock.ts';
import { PATHS, type HostPlace } from '../../host/place.ts';
import { openHost } from '../../host/server-client.ts';
import type { HostCommand } from '../../host/install-plan.ts';

/** `generator host uninstall`: removes the services; with `--purge` apps, data and settings too. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const place = placeBelow('/');
  if (place === null)
    throw new CommandError('HOST_MISSING', {
      message: `no host is installed on this machine: there is no ${PATHS.server}`,
      fix: 'generator host install',
    });
  const purge = options['purge'] === true;
  const commands = planUninstall({
    ...{ ...place, purge },
    userExists: (textOf('/etc/passwd') ?? '')
      .split('\n')
      .some((l) => l.startsWith(`${place.user}:`)),
  });
  if (options['dry-run'] === true) return show(call, commands);
  assertCanInstall(existsSync('/run/systemd/system'));
  if (purge) await assertAgreed(call, place.dir);
  const apps = await whileLocked(LOCK, async () => {
    const deleted = purge ? await deleteApps() : [];
    await runCommands(commands);
    return deleted;
  });
  if (terminal.json)
    terminal.document({ ok: true, purged: purge, apps, kept: kept(purge, place.dir) });
  else
    terminal.note(
      purge
        ? `removed, with ${apps.length} apps and ${place.dir}`
        : `removed; data stays in ${place.dir}/data and settings in ${PATHS.env}`,
    );
  return EXIT.done;
}

const kept = (purge: boolean, dir: string) => (purge ? [] : [`${dir}/data`, PATHS.env]);

function show({ terminal }: CommandCall, commands: readonly (readonly string[])[]): ExitCode {
  if (terminal.json) terminal.document({ ok: true, dry_run: true, files: [], commands });
  else {
    for (const words of commands) terminal.data(`${words.join(' ')}\n`);
    terminal.note('nothing was changed');
  }
  return EXIT.done;
}

/** @throws CommandError unless the user has agreed to lose the data. */
async function assertAgreed({ terminal, options }: CommandCall, dir: string): Promise<void> {
  if (options['yes'] === true) return;
  const question = `This deletes all apps with their volumes, and ${dir}. Type "purge" to go on: `;
  const answer = terminal.interactive && !terminal.json ? await ask(question) : '';
  if (answer.trim() === 'purge') return;
  throw new CommandError('NOT_AGREED', {
    message: `--purge deletes all apps with their volumes, and ${dir}; nothing was removed`,
    fix: 'generator host uninstall --purge --yes',
  });
}

/**
 * Only the server knows which containers are its own: another installation may use the same engine.
 *
 * @throws CommandError when it does not answer; then nothing is removed.
 */
async function deleteApps(): Promise<string[]> {
  const env = textOf(PATHS.env);
  // A run before has deleted them, and was interrupted afterwards.
  if (env === null) return [];
  const host = await openHost(env);
  const { apps } = await host<{ apps: readonly { name: string }[] }>('GET', '/api/apps');
  for (const { name } of apps)
    await host('DELETE', `/api/apps/${encodeURIComponent(name)}?volumes=true`);
  return apps.map(({ name }) => name);
}

interface UninstallInput extends HostPlace {
  /** Data and settings too. */
  readonly purge: boolean;
  /** Whether the user of the services exists: a run that was interrupted may have removed it. */
  readonly userExists: boolean;
}

/**
 * What removes the services of a host. Data and settings stay unless `purge`, so an installation
 * afterwards continues where this one ended. Every command can be repeated.
 */
function planUninstall({ user, dir, purge, userExists }: UninstallInput): HostCommand[] {
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
