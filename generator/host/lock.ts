import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CommandError, EXIT } from '../failure.ts';

/** Held while services are installed or removed. Only root writes there. */
export const LOCK = '/run/twofold-host.lock';

const IN_USE = 75;

/**
 * Does the work while no other command has the lock. The program flock holds it, so the kernel gives
 * it back however this process ends.
 *
 * @throws CommandError `HOST_BUSY` when another command has it.
 */
export async function whileLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const script = 'echo held; exec cat >/dev/null';
  const words = ['--nonblock', '--conflict-exit-code', String(IN_USE), path, 'sh', '-c', script];
  const holder = spawn('flock', words, { stdio: ['pipe', 'pipe', 'ignore'] });
  holder.stdin.on('error', () => {});
  await held(holder);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    if (holder.exitCode === null) await once(holder, 'close');
  }
}

function held(holder: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    holder.stdout?.once('data', () => resolve());
    holder.once('error', ({ message }) => reject(unusable(message)));
    holder.once('close', (code) => reject(code === IN_USE ? busy() : unusable(`flock: ${code}`)));
  });
}

const busy = () =>
  new CommandError('HOST_BUSY', {
    message: 'another command installs or removes the host at this moment',
    fix: 'wait until it has ended, and look what it has done: generator host doctor',
    exit: EXIT.again,
  });

const unusable = (why: string) =>
  new CommandError('HOST_LOCK_FAILED', {
    message: `the lock ${LOCK} cannot be taken: ${why}`,
    fix: 'install util-linux, which has the program flock',
  });
