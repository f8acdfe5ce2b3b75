import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../failure.ts';
import { runProgram } from '../run-program.ts';
import type { HostCommand, HostFile } from './install-plan.ts';

/** Writes each file below this folder: at once, or not at all. */
export function writeFiles(root: string, files: readonly HostFile[]): void {
  for (const { path, mode, text } of files) {
    const full = join(root, path);
    const bits = Number.parseInt(mode, 8);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(`${full}.part`, text, { mode: bits });
    // The umask of the caller has no say in it.
    chmodSync(`${full}.part`, bits);
    renameSync(`${full}.part`, full);
  }
}

/**
 * Runs the commands one after the other.
 *
 * @throws CommandError with the last lines of the one that failed.
 */
export async function runCommands(commands: readonly HostCommand[]): Promise<void> {
  for (const [program, ...args] of commands) await runProgram(program, args, { cwd: '/' });
}

/**
 * @throws CommandError unless this is root on a machine that systemd runs.
 */
export function assertCanInstall(isSystemd: boolean, user = process.getuid?.()): void {
  if (user !== 0)
    throw new CommandError('NOT_ROOT', {
      message: 'only root can install services, and this is another user',
      fix: 'sudo env "PATH=$PATH" npx generator host install; --dry-run shows what it would do',
    });
  if (!isSystemd)
    throw new CommandError('SYSTEMD_MISSING', {
      message: 'systemd does not run this machine',
      fix: 'run the project with: docker compose up -d; or use --root DIR to write the files only',
    });
}
