import { spawn } from 'node:child_process';
import { CommandError } from '../../failure.ts';

/**
 * Settings under which git neither runs a program of the repository's configuration nor takes a
 * lock on the index, nor asks another machine for an object.
 */
const SAFE = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
const ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

export interface GitAnswer {
  readonly code: number;
  readonly out: Buffer;
  readonly errors: string;
}

/**
 * Runs one of git's commands that only read.
 *
 * @throws CommandError `GIT_MISSING` where there is no git.
 */
export async function git(folder: string, args: readonly string[], input = ''): Promise<GitAnswer> {
  const child = spawn('git', [...SAFE, ...args], {
    cwd: folder,
    env: { ...process.env, ...ENVIRONMENT },
  });
  const [out, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk));
  // git may end before it has read its input; its exit code says why.
  child.stdin.on('error', () => {}).end(input);
  const code = await new Promise<number>((resolve, reject) =>
    child.once('error', reject).once('close', (exit) => resolve(exit ?? 1)),
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CommandError('GIT_MISSING', {
      message: 'there is no git on this machine',
      fix: 'install git, or compare with an SDL file: generator breaking --against FILE',
    });
  });
  return { code, out: Buffer.concat(out), errors: Buffer.concat(errors).toString() };
}

/** The answer as one line; null when git refuses. */
export async function gitLine(folder: string, args: readonly string[]): Promise<string | null> {
  const { code, out } = await git(folder, args);
  return code === 0 ? out.toString().trim() : null;
}
