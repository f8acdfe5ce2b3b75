import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { needCommand } from './command.ts';
import { freePort } from './free-port.ts';

/** A git server over SSH on loopback, with one repository. */
export interface SshServer {
  /** `ssh://git@127.0.0.1:…/…/shop.git` */
  readonly url: string;
  readonly port: number;
  /** Replaces the keys with which one may sign in. */
  allow(...publicKeys: readonly string[]): void;
  /** Starts again with another host key. @returns its public half. */
  exchangeHostKey(): Promise<string>;
  /** Pushes the commit of a work tree to the branch `main`. */
  push(work: string): void;
  stop(): Promise<void>;
}

/** The id of `nobody`, as whom the server runs when the tests run as root. */
const ACCOUNT = 65_534;

/**
 * Starts Debian's OpenSSH server without privileges. Such a server lets only its own account in. When the tests run as
 * root this is an account without rights, which gets a shell and the name `git` in a view of its own of `/etc/passwd`.
 */
export async function startSshServer(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-sshd-'));
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? 'git' : execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
  const file = (name: string) => join(folder, name);
  const port = await freePort();
  const own = () => {
    if (isRoot) execFileSync('chown', ['-R', `${ACCOUNT}:${ACCOUNT}`, folder]);
  };
  const makeHostKey = (name: string) => {
    needCommand('ssh-keygen', 'openssh-client');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file(name)]);
    return execFileSync('ssh-keygen', ['-y', '-f', file(name)], { encoding: 'utf8' }).trim();
  };
  const start = async (hostKey: string) => {
    writeFileSync(file('sshd_config'), settings({ port, hostKey: file(hostKey), folder }));
    own();
    const child = spawnServer(folder, isRoot);
    await untilListening(port);
    return child;
  };
  mkdirSync(file('shop.git'));
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', file('shop.git')]);
  writeFileSync(
    file('passwd'),
    `root:x:0:0::/root:/bin/sh\n${user}:x:${ACCOUNT}:${ACCOUNT}::/tmp:/bin/sh\n`,
  );
  writeFileSync(file('authorized_keys'), '');
  makeHostKey('first');
  let child = await start('first');
  return {
    port,
    url: `ssh://${user}@127.0.0.1:${port}${file('shop.git')}`,
    allow(...keys) {
      writeFileSync(file('authorized_keys'), keys.map((key) => `${key}\n`).join(''));
    },
    push(work) {
      // git refuses a repository that belongs to somebody else.
      if (isRoot) execFileSync('chown', ['-R', '0:0', file('shop.git')]);
      execFileSync('git', ['-C', work, 'push', '-q', '-f', file('shop.git'), 'HEAD:main']);
      own();
    },
    async exchangeHostKey() {
      await end(child);
      const key = makeHostKey('second');
      child = await start('second');
      return key;
    },
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function settings({
  port,
  hostKey,
  folder,
}: {
  readonly port: number;
  readonly hostKey: string;
  readonly folder: string;
}): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'PidFile none',
    'AcceptEnv GIT_PROTOCOL',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    '',
  ].join('\n');
}

function spawnServer(folder: string, isRoot: boolean): ChildProcess {
  const sshd = needCommand('sshd', 'openssh-server');
  const command = [sshd, '-D', '-E', join(folder, 'sshd.log'), '-f', join(folder, 'sshd_config')];
  if (!isRoot) return spawn(command[0] as string, command.slice(1), { stdio: 'ignore' });
  const drop = ['setpriv', `--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, '--clear-groups'];
  const script = 'mount --bind "$0" /etc/passwd && exec "$@"';
  const view = ['--mount', '--propagation', 'private', 'sh', '-c', script, join(folder, 'passwd')];
  return spawn('unshare', [...view, ...drop, ...command], { stdio: 'ignore' });
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (answers) return;
    await sleep(50);
  }
  throw new Error('sshd does not listen');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
