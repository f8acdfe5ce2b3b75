import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Terminal } from '../cli/terminal.ts';

/** The project's server under `dev`, and one more that waits to take its place. */
export interface DevServer {
  running(): boolean;
  /** Ends the server that runs, and starts it from what is on disk now. */
  restart(): Promise<void>;
  /** Ends both, for good. */
  stop(): Promise<void>;
}

/** How long a server may take to finish what runs before it is killed, in milliseconds. */
const PATIENCE = 2_000;

/** What a server is given that has to wait for the word; `wait.js` reads it. */
const WAITS = 'GENERATOR_DEV_WAITS';

const WAIT = fileURLToPath(new URL('wait.js', import.meta.url));

/**
 * Most of what a server needs to start is its packages, and those do not change from save to save. So there is always one
 * that has loaded them and nothing of the project: it starts at the word, and the next one is made.
 */
export function createDevServer(root: string, terminal: Terminal): DevServer {
  let current: ChildProcess | null = null;
  let stopped = false;
  // Two processes cannot listen on the port of one debugger.
  const prepare = () => (/--inspect/.test(process.env['NODE_OPTIONS'] ?? '') ? null : launch(root));
  let spare = prepare();
  const stopCurrent = async () => {
    const old = current;
    current = null;
    if (old) await end(old);
  };
  return {
    running: () => current !== null && !hasEnded(current),
    restart: async () => {
      await stopCurrent();
      // The word to stop may come while a run is at work that wants a server afterwards.
      if (stopped) return;
      if (!existsSync(join(root, 'src/server.ts')))
        return terminal.say('there is no src/server.ts to start');
      const fit = spare !== null && isFit(spare, root);
      if (!fit) spare?.child.kill('SIGKILL');
      const started = fit ? spare!.child : launch(root).child;
      current = started;
      started.once('exit', (code, signal) => {
        if (current === started)
          terminal.say(`The server ended (${signal ?? code}). It starts again on the next save.`);
      });
      started.send('start', (error) => error && terminal.say(String(error)));
      spare = prepare();
    },
    stop: async () => {
      stopped = true;
      spare?.child.kill('SIGKILL');
      await stopCurrent();
    },
  };
}

/** A server that waits, and the packages that it has loaded. */
interface Spare {
  readonly child: ChildProcess;
  readonly packages: number;
}

function launch(root: string): Spare {
  const env = { NODE_ENV: 'development', ...process.env, [WAITS]: '1' };
  const child = spawn(process.execPath, ['--import', WAIT, 'src/server.ts'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env,
  });
  // One that could not be started is seen to have ended when it is wanted.
  child.once('error', () => {});
  return { child, packages: installedAt(root) };
}

/** Whether it still waits, with the packages that are installed now. */
function isFit({ child, packages }: Spare, root: string): boolean {
  return !hasEnded(child) && child.connected && packages === installedAt(root);
}

/** When npm last changed anything in the project. */
function installedAt(root: string): number {
  return (
    statSync(join(root, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  );
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}
