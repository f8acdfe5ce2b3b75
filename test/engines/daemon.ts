import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A background process of ours: its log is `<directory>/<name>.log`, its id `<directory>/<name>.pid`. */
export interface Daemon {
  readonly directory: string;
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Another account to run as: PostgreSQL refuses root. */
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a process that outlives this one, and waits until it answers.
 *
 * @example
 * await startDaemon({ directory, name: 'podman', command: 'podman', args: ['system', 'service'] }, () => answers(socket));
 */
export async function startDaemon(
  daemon: Daemon,
  ready: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<void> {
  const { directory, name } = daemon;
  let gone = '';
  const child = launch(daemon);
  child.once('error', (error) => (gone = error.message));
  child.once('exit', (code, signal) => (gone = `it ended with ${signal ?? code}`));
  if (child.pid)
    writeFileSync(join(directory, `${name}.pid`), `${child.pid} ${startMark(child.pid)}`);
  const deadline = Date.now() + seconds * 1000;
  while (!(await ready())) {
    if (gone || Date.now() > deadline)
      throw new Error(failure(daemon, gone || `no answer in ${seconds} s`));
    await sleep(50);
  }
  child.unref();
}

/** Whether the process that a pid file names still runs. */
export function isRunning(directory: string, name: string): boolean {
  return runningPid(directory, name) !== undefined;
}

/** Ends a process of ours: politely, then by force. Does nothing when it is already gone. */
export async function stopDaemon(
  directory: string,
  name: string,
  signal: NodeJS.Signals = 'SIGTERM',
  seconds = 20,
): Promise<void> {
  const pid = runningPid(directory, name);
  if (pid) {
    process.kill(pid, signal);
    const deadline = Date.now() + seconds * 1000;
    while (isRunning(directory, name) && Date.now() < deadline) await sleep(50);
    if (isRunning(directory, name)) process.kill(pid, 'SIGKILL');
  }
  rmSync(join(directory, `${name}.pid`), { force: true });
}

function launch({ directory, name, command, args, env, uid, gid }: Daemon) {
  const log = openSync(join(directory, `${name}.log`), 'a');
  const account = uid === undefined ? {} : { uid, gid: gid ?? uid };
  return spawn(command, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
    ...account,
  });
}

function failure({ directory, name, command }: Daemon, reason: string): string {
  const log = readFileSync(join(directory, `${name}.log`), 'utf8')
    .trim()
    .split('\n')
    .slice(-3)
    .join(' | ');
  return `${command} did not start: ${reason}. Last words: ${log || '(none)'}`;
}

function runningPid(directory: string, name: string): number | undefined {
  const file = join(directory, `${name}.pid`);
  if (!existsSync(file)) return undefined;
  const [pid, mark] = readFileSync(file, 'utf8').split(' ');
  return startMark(Number(pid)) === mark ? Number(pid) : undefined;
}

/** Ids are used again by the kernel: an id and the time that its process began name one process for good. */
function startMark(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' ? 'gone' : (fields[19] ?? 'unknown');
  } catch {
    return existsSync('/proc/self') ? 'gone' : markWithoutProc(pid);
  }
}

function markWithoutProc(pid: number): string {
  try {
    process.kill(pid, 0);
    return 'unknown';
  } catch {
    return 'gone';
  }
}
