import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Logger } from '@twofold/runtime/kernel';
import { AppError } from '@twofold/runtime/errors';

/** A child process. It ends when this process ends in any way, as its IPC channel closes. */
export interface Child {
  readonly pid: number;
  /** Resolves when the process has ended, with the last lines of its output. */
  readonly exited: Promise<string>;
  /** The next message. Rejects with the reason when the process ends before it. */
  message<T>(): Promise<T>;
  /** Calls `listener` for every further message. */
  listen<T>(listener: (message: T) => void): void;
  /** Sends a message. It is lost if the process has ended. */
  send(message: object): void;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly program: URL;
  /** The first message, which tells the program what to do. */
  readonly order: unknown;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** Milliseconds that a stopped process has to end before it is killed. */
const STOP_TIMEOUT = 5000;
const MAX_KEPT_OUTPUT = 4000;

/** Environment variables that a child may see, without the settings and secrets of the server. */
const VISIBLE_VARIABLES: readonly RegExp[] = [
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT)$/,
  /^(LD_LIBRARY_PATH|DYLD_\w+|OMP_\w+)$/,
  /^(CUDA|NVIDIA|HIP|ROCR|GGML)_\w+$/,
  /^(VIRTUAL_ENV|PYTHON\w*|CONDA_\w+|HF_HOME)$/,
];

/** The variables of `env` without the settings of the server. */
export const quietEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => VISIBLE_VARIABLES.some((known) => known.test(name))),
  );

/** URL of a program next to `from`, with the same extension (TypeScript or compiled). */
export const programBeside = (from: string, name: string): URL =>
  new URL(`${name}${extname(new URL(from).pathname)}`, from);

export function startChild({ program, order, env, log }: ChildOptions): Child {
  const child = fork(program, {
    execArgv: [],
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MAX_KEPT_OUTPUT);
      log.debug({ pid: child.pid }, text.trimEnd());
    });
  }
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(describe(code, signal, said)));
  });
  // The callback ignores the error of a closed channel, because `exited` reports the end.
  const send = (message: object) => void (child.connected && child.send(message, () => {}));
  send(order as object);
  return {
    pid: child.pid ?? -1,
    exited,
    message: <T>() =>
      Promise.race([
        once(child, 'message').then(([message]) => message as T),
        exited.then((reason) => Promise.reject(new ChildExit(reason))),
      ]),
    listen: (listener) => void child.on('message', (message) => listener(message as never)),
    send,
    stop: () => stop(child, exited),
  };
}

/** The process ended before it had done its work. The message is the reason. */
export class ChildExit extends Error {
  readonly code = 'CHILD_EXIT';
}

async function stop(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await exited;
  clearTimeout(killer);
}

function describe(code: number | null, signal: string | null, said: string): string {
  const end =
    signal === null
      ? `it ended with code ${code}`
      : `it was ended by ${signal}${signal === 'SIGKILL' ? ' (out of memory?)' : ''}`;
  const last = said.trim().split('\n').slice(-3).join(' ').slice(-500);
  return last === '' ? end : `${end}: ${last}`;
}

/** The error of a failed start, with its reason as a text. */
export function startFailure(
  error: unknown,
  signal: AbortSignal,
  { id, patience }: { readonly id: string; readonly patience: number },
): AppError {
  if (signal.aborted)
    return new AppError(409, 'CONFLICT', `The start of ${id} was called off by another call`);
  const { name, message } = error as Error;
  const reason =
    name === 'TimeoutError' ? `it did not answer within ${Math.round(patience / 1000)} s` : message;
  return new AppError(502, 'MODEL_FAILED', `${id} cannot be started: ${reason}`, { cause: error });
}
