import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

/** Ends of a new server after which it is not waited for any more. */
const GIVE_UP_AFTER = 3;

/** The output of a program, or what it said when it failed. */
export async function outputOf(program: string, ...args: string[]): Promise<string> {
  try {
    return (await runFile(program, args, { maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return stdout + stderr;
  }
}

/**
 * Begins to count how often systemd starts the server again. systemd's own number goes on from that
 * of a release before.
 *
 * @returns whether the server ends again and again, so that it will not become healthy.
 */
export async function countRestarts(): Promise<() => Promise<boolean>> {
  const first = await restarts();
  return async () => (await restarts()) - first >= GIVE_UP_AFTER;
}

async function restarts(): Promise<number> {
  const words = ['show', '--value', '--property', 'NRestarts', 'twofold.service'];
  return Number(await outputOf('systemctl', ...words));
}

/** The last lines of the server's log. */
export function lastLines(): Promise<string> {
  const format = ['--output', 'cat', '--no-pager', '--lines', '12'];
  return outputOf('journalctl', '--unit', 'twofold.service', ...format);
}
