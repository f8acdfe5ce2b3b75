import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@twofold/runtime/errors';
import { gitHostName, hostKeyChanged } from './host-keys.ts';
import { type PublicKey, readPublicKey } from './keys.ts';

/** How git signs in at one host over SSH. */
export interface SshAccess {
  /** Without one, the host refuses. */
  readonly privateKey: string | undefined;
  /** The key that the host must have; undefined before the first clone. */
  readonly pinned: { readonly public_key: string; readonly fingerprint: string } | undefined;
}

interface SshTarget {
  readonly host: string;
  readonly port: number;
  /** The only address to connect to. */
  readonly address: string;
}

/** The files of one clone over SSH, which are removed with the folder. */
export interface SshSession {
  /** The value of `GIT_SSH_COMMAND`. */
  readonly command: string;
  /** The error of a connection that failed; undefined when SSH was not the reason. */
  explain(): Promise<AppError | undefined>;
  /** The key of the host that was connected to. */
  hostKey(): Promise<PublicKey | null>;
}

/**
 * Writes the files for `ssh` below a folder that only this user can read. The settings of this
 * machine and of its user, their keys and their agent are not used.
 */
export async function createSshSession(
  folder: string,
  target: SshTarget,
  { privateKey, pinned }: SshAccess,
): Promise<SshSession> {
  const own = join(folder, 'ssh');
  const file = (name: string) => join(own, name);
  await mkdir(own, { mode: 0o700 });
  if (privateKey !== undefined) await writeFile(file('key'), privateKey, { mode: 0o600 });
  const known = pinned ? `${aliasOf(target)} ${pinned.public_key}\n` : '';
  await writeFile(file('known_hosts'), known, { mode: 0o600 });
  const settings = settingsOf(target, {
    key: privateKey === undefined ? null : file('key'),
    knownHosts: file('known_hosts'),
    strict: pinned !== undefined,
  });
  await writeFile(file('config'), settings, { mode: 0o600 });
  const command = `ssh -v -F ${shellWord(file('config'))} -E ${shellWord(file('log'))}`;
  return {
    command,
    async explain() {
      const log = await readFile(file('log'), 'utf8').catch(() => '');
      return explain(log, { host: gitHostName(target), pinned, hasKey: privateKey !== undefined });
    },
    async hostKey() {
      const text = await readFile(file('known_hosts'), 'utf8');
      const line = text.split('\n').find((each) => each.startsWith(`${aliasOf(target)} `));
      return line === undefined ? null : readPublicKey(line.slice(line.indexOf(' ') + 1));
    },
  };
}

/** The name of the host in the file of known hosts: a name of its own for each port. */
const aliasOf = (target: SshTarget) => `git-${gitHostName(target).replaceAll(/[[\]]/g, '')}`;

function settingsOf(
  target: SshTarget,
  {
    key,
    knownHosts,
    strict,
  }: { readonly key: string | null; readonly knownHosts: string; readonly strict: boolean },
): string {
  const settings: Readonly<Record<string, string>> = {
    HostName: target.address,
    HostKeyAlias: aliasOf(target),
    BatchMode: 'yes',
    PreferredAuthentications: 'publickey',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: key === null ? 'none' : quoted(key),
    UserKnownHostsFile: quoted(knownHosts),
    GlobalKnownHostsFile: '/dev/null',
    HashKnownHosts: 'no',
    UpdateHostKeys: 'no',
    StrictHostKeyChecking: strict ? 'yes' : 'accept-new',
    ConnectTimeout: '30',
    ServerAliveInterval: '30',
    ProxyCommand: 'none',
    ForwardAgent: 'no',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');
}

const quoted = (path: string) => `"${path.replaceAll('%', '%%')}"`;
const shellWord = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;

function explain(
  log: string,
  {
    host,
    pinned,
    hasKey,
  }: Pick<SshAccess, 'pinned'> & { readonly host: string; readonly hasKey: boolean },
): AppError | undefined {
  const given = /Server host key: \S+ (SHA256:\S+)/.exec(log)?.[1];
  if (pinned && given !== undefined && given !== pinned.fingerprint)
    return hostKeyChanged(host, { pinned: pinned.fingerprint, given });
  if (/Permission denied \(/.test(log)) return keyRefused(host, hasKey);
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^debug\d:/.test(line));
  const last = lines.findLast((line) => !/^(OpenSSH_|Warning: Permanently added)/.test(line));
  return last === undefined
    ? undefined
    : new AppError(422, 'SSH_FAILED', `The repository cannot be fetched: ${last.trim()}`);
}

function keyRefused(host: string, hasKey: boolean): AppError {
  const why = hasKey
    ? `${host} refuses the deploy key of the app: add the public half that GET /api/apps/:name/deploy-key shows to the repository`
    : `${host} wants a key, and the app has none: make one with POST /api/apps/:name/deploy-key, and add its public half to the repository`;
  return new AppError(422, 'DEPLOY_KEY_REFUSED', `The repository cannot be fetched: ${why}`);
}
