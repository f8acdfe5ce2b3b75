import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root as repo } from '../source-files.ts';

/** Where the checkout is in the machine: not below /home or /root, which services cannot see. */
export const REPO = '/srv/repo';
export const NODE = `${REPO}/node_modules/node/bin/node`;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Debian 12 with systemd as its first process and a network of its own, in namespaces. */
export interface Debian {
  /** Its root folder, from here. */
  readonly root: string;
  /** The id of its first process, from here. */
  readonly leader: number;
  /** Runs a command in it. */
  run(...command: readonly string[]): Promise<Outcome>;
  /** What a command prints. @throws when it fails. */
  read(...command: readonly string[]): Promise<string>;
  end(): Promise<void>;
}

/** Where the socket of the engine is in the machine. A test decides when there is an engine. */
export const ENGINE = '/srv/docker.sock';

/** Makes the file system with debootstrap, in memory, as dpkg waits for a disk all the time. */
export async function bootDebian(socket: string): Promise<Debian> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-debian-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2g,mode=755', 'tmpfs', folder]);
  const root = join(folder, 'root');
  const include = '--include=systemd,systemd-sysv,dbus';
  const made = await runFile('debootstrap', [
    ...['--variant=minbase', include, 'bookworm', root, MIRROR],
  ]);
  if (made.code !== 0) throw new Error(`debootstrap failed: ${made.stdout}${made.stderr}`);
  mkdirSync(join(root, REPO), { recursive: true });
  const machine = spawn(
    'systemd-nspawn',
    [
      ...['--quiet', '--register=no', '--keep-unit', '--private-network', '--link-journal=no'],
      ...[
        '--directory',
        root,
        `--bind-ro=${repo}:${REPO}`,
        `--bind=${socket}:${ENGINE}`,
        '--boot',
        '--console=pipe',
      ],
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => machine.once('exit', resolve));
  const leader = await childOf(machine.pid!);
  const run = (...command: readonly string[]) =>
    runFile('nsenter', ['-t', String(leader), '-a', 'env', '-i', ...ENVIRONMENT, ...command]);
  const read = async (...command: readonly string[]) => {
    const { code, stdout, stderr } = await run(...command);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  while ((await run('systemctl', 'is-system-running', '--wait')).code !== 0) await sleep(500);
  return {
    ...{ root, leader, run, read },
    async end() {
      process.kill(leader, 'SIGKILL');
      await ended;
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

const MIRROR = 'http://deb.debian.org/debian';
const ENVIRONMENT = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/'];

/** The first process of the machine is the only child of the program that makes the namespaces. */
async function childOf(pid: number): Promise<number> {
  for (let turn = 0; turn < 100; turn += 1) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    if (children !== '' && isSystemd(Number(children))) return Number(children);
    await sleep(100);
  }
  throw new Error('systemd-nspawn has started no machine');
}

const isSystemd = (pid: number) => /systemd\b/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));

function runFile(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error ? 1 : 0,
        stdout,
        stderr,
      }),
    );
  });
}
