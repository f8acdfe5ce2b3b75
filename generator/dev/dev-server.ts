import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { STANDARD_ERROR, type Terminal } from '../cli/terminal.ts';
import { formatFindings } from '../report.ts';
import { emitReport, type EmitDevEvent } from './dev-events.ts';
import { explainLoadFailure, type LoadFailure } from './load-failure.ts';

/** The project's server under `dev`, and a second process that waits to replace it. */
export interface DevServer {
  running(): boolean;
  /**
   * Starts the server with the files on disk. The running server is stopped just before the new one
   * listens.
   */
  restart(): Promise<void>;
  /**
   * Sends a question to the runtime in the waiting process. Null when there is no such process, or
   * it cannot answer.
   */
  ask<T>(question: 'foresee', input: unknown): Promise<T | null>;
  /** Stops all processes for good. */
  stop(): Promise<void>;
}

export interface DevServerEvents {
  /** Whether standard output belongs to the events: log lines then go to standard error. */
  readonly json: boolean;
  readonly emit: EmitDevEvent;
}

/** Milliseconds that a server may take for open requests before it is killed. */
const SHUTDOWN_TIMEOUT = 2_000;

/**
 * Milliseconds that a new server may take to report that it is ready. After that it replaces the
 * old one anyway.
 */
const READY_TIMEOUT = 15_000;

/** The environment variable that makes a server wait for `start`; `wait.js` reads it. */
const WAIT_VARIABLE = 'GENERATOR_DEV_WAITS';

const WAIT = fileURLToPath(new URL('wait.js', import.meta.url));

/**
 * Most of a server's start is loading packages, which do not change from save to save. So one
 * process always waits that has loaded the packages but no file of the project. On a restart it
 * takes over, and the next one is launched.
 */
export function createDevServer(
  root: string,
  terminal: Terminal,
  events: DevServerEvents = { json: false, emit: () => {} },
): DevServer {
  let current: ChildProcess | null = null;
  let starting: ChildProcess | null = null;
  let stopped = false;
  const spare = createSpare(root, events.json);
  const isRunning = () => current !== null && !hasEnded(current);
  const stopCurrent = async () => {
    const old = current;
    current = null;
    if (old) await end(old);
  };
  const sayFailed = failureSayer(terminal, events.emit);
  const takePlace = async (child: ChildProcess, ready: boolean) => {
    await stopCurrent();
    if (stopped) return end(child);
    current = child;
    whenEnded(child, ready, (code, what) => current === child && sayFailed(code, what));
    child.send('go', () => {});
  };
  const restart = async (): Promise<void> => {
    starting = started(spare.take(), { root, terminal, ...events });
    const word = await firstWord(starting);
    const child = starting;
    starting = null;
    if (stopped) return end(child);
    // Only now: two processes that start at once would share the processor.
    spare.fill();
    // The old server still has the port, so it is stopped, and the new one is started once more.
    if (word === 'busy' && isRunning()) return stopCurrent().then(restart);
    if (word !== 'ended') return takePlace(child, word === 'ready');
    if (!isRunning()) return sayFailed('SERVER_NOT_STARTED', 'The server did not start.');
    sayFailed('SERVER_NOT_STARTED', 'The new server did not start:', GOES_ON);
  };
  return {
    running: isRunning,
    restart: async () => {
      // Each generator run ends with a restart, and `stop` may have been called during the run.
      if (stopped) return;
      if (!existsSync(join(root, 'src/server.ts'))) {
        await stopCurrent();
        return terminal.say('there is no src/server.ts to start');
      }
      await restart();
    },
    ask: spare.ask,
    stop: async () => {
      stopped = true;
      spare.kill();
      starting?.kill('SIGKILL');
      await stopCurrent();
    },
  };
}

const GOES_ON = 'the last good server goes on.';

/** The process that waits, and the next one when it is taken. */
function createSpare(root: string, json: boolean) {
  // Two processes cannot listen on the same debugger port.
  const isInspected = /--inspect/.test(process.env['NODE_OPTIONS'] ?? '');
  const next = () => (isInspected ? null : launch(root, json));
  let spare = next();
  return {
    fill: () => void (spare = next()),
    take(): ChildProcess {
      const fit = spare !== null && isFit(spare, root) ? spare : null;
      if (!fit) spare?.child.kill('SIGKILL');
      spare = null;
      return (fit ?? launch(root, json)).child;
    },
    ask: <T>(question: 'foresee', input: unknown): Promise<T | null> =>
      spare ? askSpare<T>(spare.child, question, input) : Promise.resolve(null),
    kill: () => void spare?.child.kill('SIGKILL'),
  };
}

interface Listening extends DevServerEvents {
  readonly root: string;
  readonly terminal: Terminal;
}

/** Starts the server in a process that waits, and passes on what it says. */
function started(child: ChildProcess, { root, terminal, emit }: Listening): ChildProcess {
  child.on('message', (message) => sayFailure(root, message, { terminal, emit }));
  child.on('message', (message) => emitReport(message, emit));
  child.send('start', (error) => error && terminal.say(String(error)));
  return child;
}

/** Says why no server runs, and what happens next. */
function failureSayer(terminal: Terminal, emit: EmitDevEvent) {
  return (code: string, what: string, next = 'It starts again on the next save.') => {
    const message = `${what} ${next}`;
    emit('failed', { error: { code, message } });
    terminal.say(message);
  };
}

/** Lets a server go on as soon as it is ready, and says how it ended: before or after that. */
function whenEnded(
  child: ChildProcess,
  ready: boolean,
  say: (code: string, what: string) => unknown,
): void {
  let started = ready;
  child.on('message', (word) => {
    if (word !== 'ready') return;
    started = true;
    child.send('go', () => {});
  });
  child.once('exit', (code, signal) => {
    if (started) say('SERVER_ENDED', `The server ended (${signal ?? code}).`);
    else say('SERVER_NOT_STARTED', 'The server did not start.');
  });
}

/** Explains a load failure; one that cannot be explained is printed as Node reports it. */
function sayFailure(
  root: string,
  message: unknown,
  { terminal, emit }: { readonly terminal: Terminal; readonly emit: EmitDevEvent },
): void {
  const { failed } = (typeof message === 'object' ? message : {}) as { failed?: LoadFailure };
  if (!failed) return;
  const explained = explainLoadFailure(root, failed);
  if (explained) emit('findings', { findings: [explained.finding] });
  terminal.say(
    explained
      ? formatFindings([explained.finding], [explained.source], terminal.paint).join('\n')
      : failed.stack,
  );
}

type Word = 'ready' | 'busy' | 'ended' | 'silent';

/** The first message of a server that starts, or that it exited without one. */
function firstWord(child: ChildProcess): Promise<Word> {
  if (hasEnded(child)) return Promise.resolve('ended');
  return new Promise((resolve) => {
    let heard: Word = 'ended';
    const timer = setTimeout(() => done('silent'), READY_TIMEOUT);
    const hear = (word: unknown) => {
      if (word === 'ready') done('ready');
      // The port was in use. The process exits next, which the `exit` event reports.
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

/** Milliseconds to wait for an answer: the database may be slow to respond. */
const ANSWER_TIMEOUT = 30_000;

let questions = 0;

function askSpare<T>(child: ChildProcess, question: string, input: unknown): Promise<T | null> {
  if (hasEnded(child) || !child.connected) return Promise.resolve(null);
  const id = ++questions;
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(null), ANSWER_TIMEOUT);
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

/** A server that waits, and when the packages that it has loaded were installed. */
interface WaitingServer {
  readonly child: ChildProcess;
  readonly packages: number;
}

function launch(root: string, json: boolean): WaitingServer {
  const env = {
    NODE_ENV: 'development',
    TWOFOLD_DEV: '1',
    ...process.env,
    [WAIT_VARIABLE]: '1',
    ...(json && { LOG_FORMAT: 'json' }),
  };
  const child = spawn(process.execPath, ['--import', WAIT, 'src/server.ts'], {
    cwd: root,
    stdio: ['ignore', json ? STANDARD_ERROR : 'inherit', 'inherit', 'ipc'],
    env,
  });
  // A process that could not be started is noticed as exited when it is needed.
  child.once('error', () => {});
  return { child, packages: installedAt(root) };
}

/** Whether the process still waits and has loaded the packages that are installed now. */
function isFit({ child, packages }: WaitingServer, root: string): boolean {
  return !hasEnded(child) && child.connected && packages === installedAt(root);
}

/** When npm last changed the installed packages. */
function installedAt(root: string): number {
  return (
    statSync(join(root, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  );
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const timer = setTimeout(() => child.kill('SIGKILL'), SHUTDOWN_TIMEOUT);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}
