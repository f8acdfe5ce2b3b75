import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Terminal } from '../cli/terminal.ts';
import { formatFindings } from '../report.ts';
import { explainLoadFailure, type LoadFailure } from './load-failure.ts';

/** The project's server under `dev`, and one more that waits to take its place. */
export interface DevServer {
  running(): boolean;
  /** Starts the server from what is on disk now, and ends the one that runs when the new one is about to listen. */
  restart(): Promise<void>;
  /** Asks the runtime, in the process that waits. Null when there is none, or when it does not know. */
  ask<T>(question: 'foresee', input: unknown): Promise<T | null>;
  /** Ends all of them, for good. */
  stop(): Promise<void>;
}

/** How long a server may take to finish what runs before it is killed, in milliseconds. */
const PATIENCE = 2_000;

/** How long a new server may take until it says that it is ready, in milliseconds; one that never says so takes its place then. */
const SILENCE = 15_000;

/** The environment variable of a server that waits for `start`; `wait.js` reads it. */
const WAITS = 'GENERATOR_DEV_WAITS';

const WAIT = fileURLToPath(new URL('wait.js', import.meta.url));

/**
 * Most of what a server needs to start is its packages, and those do not change from save to save. So there is always one
 * that has loaded them and nothing of the project: it starts when it is needed, and the next one is launched.
 */
export function createDevServer(root: string, terminal: Terminal): DevServer {
  let current: ChildProcess | null = null;
  let starting: ChildProcess | null = null;
  let stopped = false;
  // Two processes cannot listen on the port of one debugger.
  const prepare = () => (/--inspect/.test(process.env['NODE_OPTIONS'] ?? '') ? null : launch(root));
  let spare = prepare();
  const isRunning = () => current !== null && !hasEnded(current);
  const stopCurrent = async () => {
    const old = current;
    current = null;
    if (old) await end(old);
  };
  const begin = () => {
    const fit = spare !== null && isFit(spare, root);
    if (!fit) spare?.child.kill('SIGKILL');
    const child = fit ? spare!.child : launch(root).child;
    child.on('message', (message) => sayFailure(root, message, terminal));
    child.send('start', (error) => error && terminal.say(String(error)));
    spare = prepare();
    return child;
  };
  const takePlace = async (child: ChildProcess) => {
    await stopCurrent();
    if (stopped) return end(child);
    current = child;
    child.once('exit', (code, signal) => {
      if (current === child)
        terminal.say(`The server ended (${signal ?? code}). It starts again on the next save.`);
    });
    child.on('message', (word) => word === 'ready' && child.send('go', () => {}));
    child.send('go', () => {});
  };
  const restart = async (): Promise<void> => {
    starting = begin();
    const word = await firstWord(starting);
    const child = starting;
    starting = null;
    if (stopped) return end(child);
    // The port is the old server's, and the new one does not say when it wants it.
    if (word === 'busy' && isRunning()) return stopCurrent().then(restart);
    if (word !== 'ended') return takePlace(child);
    terminal.say(
      isRunning()
        ? 'The new server did not start: the last good server goes on.'
        : 'The server did not start. It starts again on the next save.',
    );
  };
  return {
    running: isRunning,
    restart: async () => {
      // The word to stop may come while a run is at work that wants a server afterwards.
      if (stopped) return;
      if (!existsSync(join(root, 'src/server.ts'))) {
        await stopCurrent();
        return terminal.say('there is no src/server.ts to start');
      }
      await restart();
    },
    ask: (question, input) =>
      spare ? askSpare(spare.child, question, input) : Promise.resolve(null),
    stop: async () => {
      stopped = true;
      spare?.child.kill('SIGKILL');
      starting?.kill('SIGKILL');
      await stopCurrent();
    },
  };
}

/** One that is not understood is shown as Node tells it. */
function sayFailure(root: string, message: unknown, terminal: Terminal): void {
  const { failed } = (typeof message === 'object' ? message : {}) as { failed?: LoadFailure };
  if (!failed) return;
  const explained = explainLoadFailure(root, failed);
  terminal.say(
    explained
      ? formatFindings([explained.finding], [explained.source], terminal.paint).join('\n')
      : failed.stack,
  );
}

type Word = 'ready' | 'busy' | 'ended' | 'silent';

/** What a server that starts says first, or that it ended before it said anything. */
function firstWord(child: ChildProcess): Promise<Word> {
  if (hasEnded(child)) return Promise.resolve('ended');
  return new Promise((resolve) => {
    let heard: Word = 'ended';
    const timer = setTimeout(() => done('silent'), SILENCE);
    const hear = (word: unknown) => {
      if (word === 'ready') done('ready');
      // Its port was in use; that it ends is seen next.
      if (word === 'busy') heard = 'busy';
    };
    const ended = () => done(heard);
    const done = (word: Word) => {
      clearTimeout(timer);
      child.off('message', hear).off('exit', ended);
      resolve(word);
    };
    child.on('message', hear).once('exit', ended);
  });
}

/** How long an answer may take: the database may have to be waited for. */
const ANSWER = 30_000;

let questions = 0;

function askSpare<T>(child: ChildProcess, question: string, input: unknown): Promise<T | null> {
  if (hasEnded(child) || !child.connected) return Promise.resolve(null);
  const id = ++questions;
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(null), ANSWER);
    const hear = (message: { id?: number; answer?: T | null } | string) => {
      if (typeof message === 'object' && message.id === id) done(message.answer ?? null);
    };
    const ended = () => done(null);
    const done = (answer: T | null) => {
      clearTimeout(timer);
      child.off('message', hear).off('exit', ended);
      resolve(answer);
    };
    child.on('message', hear).once('exit', ended);
    child.send({ id, question, input }, (error) => error && done(null));
  });
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
