import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server with the jobs of `program.ts`, in a process of its own. */
export interface JobProcess {
  readonly pid: number;
  /** kill -9 */
  kill(): Promise<void>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

const running = new Set<ChildProcess>();

export async function startProcess(
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<JobProcess> {
  const child = fork(join(import.meta.dirname, 'program.ts'), [], {
    env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  const ended = once(child, 'exit');
  void ended.then(() => running.delete(child));
  const [started] = await Promise.race([once(child, 'message'), ended]);
  if (started !== 'started') throw new Error(`the program ended with ${String(started)}`);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await ended)[0] as number | null;
  };
  return {
    pid: child.pid!,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

/** Ends what a failed test has left. */
export const endAll = () => running.forEach((child) => child.kill('SIGKILL'));
