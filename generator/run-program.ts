import { spawn } from 'node:child_process';
import { CommandError } from './failure.ts';

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Prints the program's output at once, instead of keeping it for a failure. */
  readonly show?: boolean;
}

/**
 * Runs a program until it ends, without a shell: arguments are not interpreted.
 *
 * @throws CommandError with the program's last lines when it fails or does not exist.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env, show }: ProgramOptions,
): Promise<void> {
  const said: string[] = [];
  const child = spawn(command, args, {
    cwd,
    env: env ?? process.env,
    stdio: show ? ['ignore', 2, 2] : ['ignore', 'pipe', 'pipe'],
  });
  child.stdout?.on('data', (chunk: Buffer) => void said.push(chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => void said.push(chunk.toString()));
  const code = await new Promise<number | NodeJS.Signals | Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', (exit, signal) => resolve(exit ?? signal ?? 1));
  });
  if (code === 0) return;
  const last = said.join('').trimEnd().split('\n').slice(-20).join('\n');
  const why = code instanceof Error ? code.message : `ended with ${code}`;
  throw new CommandError('PROGRAM_FAILED', {
    message: `${command} ${args.slice(0, 3).join(' ')} ${why}${last ? `\n${last}` : ''}`,
  });
}
