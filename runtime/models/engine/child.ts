import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Logger } from '@twofold/runtime/kernel';

/** A process of ours that ends when this one does, however it ends: its channel to us closes. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended, with the last it said. */
  readonly exited: Promise<string>;
  /** The next message it sends. Rejects with the reason when it ends before that. */
  message<T>(): Promise<T>;
  /** Every message it sends from now on. */
  listen<T>(listener: (message: T) => void): void;
  /** Lost when it has ended. */
  send(message: object): void;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly program: URL;
  /** The first message: what to do. */
  readonly order: unknown;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** Milliseconds to end by itself before it is killed. */
const GRACE = 5000;
const TAIL = 4000;

/** Variables that a child may see: no setting of the server's, which hold its secrets. */
const SEEN =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|LD_LIBRARY_PATH|DYLD_\w+|CUDA_\w+|NVIDIA_\w+|HIP_\w+|ROCR_\w+|GGML_\w+|OMP_\w+|VIRTUAL_ENV|PYTHON\w*|CONDA_\w+|HF_HOME)$/;

/** The variables of `env` that have nothing to do with our settings. */
export const quietEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): NodeJS.ProcessEnv => Object.fromEntries(Object.entries(env).filter(([name]) => SEEN.test(name)));

/** The program beside `from`, as TypeScript or as what it was compiled to. */
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
      said = (said + text).slice(-TAIL);
      log.debug({ pid: child.pid }, text.trimEnd());
    });
  }
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(describe(code, signal, said)));
  });
  // The callback takes the error of a closed channel: `exited` reports that the process has ended.
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

/** A child that ended before it did what it was asked. The message is the reason. */
export class ChildExit extends Error {
  readonly code = 'CHILD_EXIT';
}

async function stop(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), GRACE);
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
