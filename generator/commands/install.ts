import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STANDARD_ERROR, type Terminal } from '../cli/terminal.ts';
import { describeFailure } from '../cli/explain-failure.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { runProgram } from '../run-program.ts';
import type { PackageManager } from './package-manager.ts';

/** Which packages to install in which folder, and with which program. */
export interface Installation {
  readonly root: string;
  readonly manager: PackageManager;
}

/** Installs the packages and shows progress. @returns true if the installation succeeded. */
export async function installPackages(
  { root, manager }: Installation,
  terminal: Terminal,
): Promise<boolean> {
  const { name } = manager;
  const started = Date.now();
  const stop = showProgress('installing packages', terminal);
  try {
    await runProgram(name, manager.install, { cwd: root, env: cleanEnvironment() });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError('INSTALL_FAILED', {
      message: `${name} install failed in ${root}\n${error.message}`,
      fix: `the project is complete: mend what ${name} says, then cd ${root} && ${name} install`,
    });
  } finally {
    stop();
  }
  terminal.note(
    `${terminal.paint.green('installed')}  in ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  return true;
}

/**
 * Runs the new project's server until it ends. With `--json` its log goes to standard error, and so
 * does a failure, because the document is printed already.
 */
export async function serve(root: string, terminal: Terminal): Promise<ExitCode> {
  terminal.note('\nStarting the server. Ctrl+C stops it.\n');
  const child = spawn(nodeBinary(root), ['src/server.ts'], {
    cwd: root,
    stdio: ['inherit', terminal.json ? STANDARD_ERROR : 'inherit', 'inherit'],
    env: cleanEnvironment(),
  });
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  process.once('SIGINT', forward).once('SIGTERM', forward);
  const code = await new Promise<number>((resolve, reject) =>
    child.once('error', reject).once('close', (exit) => resolve(exit ?? 0)),
  );
  if (code === 0) return EXIT.done;
  const failure = new CommandError('SERVER_FAILED', { message: `the server ended with ${code}` });
  if (!terminal.json) throw failure;
  terminal.say(describeFailure(failure, terminal));
  return failure.exitCode;
}

/**
 * The Node that the project installed; in a workspace it is in a folder above. Without one, the
 * Node that runs the generator is new enough.
 */
function nodeBinary(folder: string): string {
  const own = join(folder, 'node_modules/.bin/node');
  if (existsSync(own)) return own;
  const parent = dirname(folder);
  return parent === folder ? process.execPath : nodeBinary(parent);
}

/**
 * Removes the variables that npm set for the generator's own run: they belong to another project.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(package|lifecycle|execpath|config_(local_prefix|prefix|global_prefix))/.test(
          name,
        ) && name !== 'INIT_CWD',
    ),
  );
}

/** On a terminal, a line that counts the seconds; elsewhere one plain line. */
function showProgress(what: string, terminal: Terminal): () => void {
  terminal.note(`${what} …`);
  if (!terminal.interactive || terminal.json) return () => {};
  const started = Date.now();
  const timer = setInterval(
    () => process.stderr.write(`\r${what} … ${Math.round((Date.now() - started) / 1000)} s `),
    1000,
  );
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  };
}
