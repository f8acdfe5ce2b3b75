import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Terminal } from '../cli/terminal.ts';
import { CommandError, EXIT } from '../failure.ts';
import { runProgram } from '../run-program.ts';

/** Runs `npm install` and says so while it runs. @returns true when the packages are there. */
export async function installPackages(root: string, terminal: Terminal): Promise<boolean> {
  const started = Date.now();
  const stop = showProgress('installing packages', terminal);
  try {
    await runProgram('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: root,
      env: cleanEnvironment(),
    });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      EXIT.usage,
      'INSTALL_FAILED',
      `npm install failed in ${root}\n${error.message}`,
      `the project is complete: mend what npm says, then cd ${root} && npm install`,
    );
  } finally {
    stop();
  }
  terminal.note(
    `${terminal.paint.green('installed')}  in ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  return true;
}

/** Runs the new project's server until it ends. */
export async function serve(root: string, terminal: Terminal): Promise<void> {
  terminal.note('\nStarting the server. Ctrl+C stops it.\n');
  const node = join(root, 'node_modules/.bin/node');
  const child = spawn(node, ['src/server.ts'], {
    cwd: root,
    stdio: 'inherit',
    env: cleanEnvironment(),
  });
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  process.once('SIGINT', forward).once('SIGTERM', forward);
  const code = await new Promise<number>((resolve, reject) =>
    child.once('error', reject).once('close', (exit) => resolve(exit ?? 0)),
  );
  if (code !== 0)
    throw new CommandError(EXIT.usage, 'SERVER_FAILED', `the server ended with ${code}`);
}

/** What npm set for the run that started us belongs to another project. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(package|lifecycle|execpath|config_(local_prefix|prefix|global_prefix))/.test(
          name,
        ) && name !== 'INIT_CWD',
    ),
  );
}

/** A line that counts the seconds on a terminal, one line elsewhere. */
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
