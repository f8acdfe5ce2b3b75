import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Database } from './rows.ts';
import type { Contender } from './servers/index.ts';
import { drive, requestBytes } from './load.ts';
import { ORIGIN, type Shape } from './shape.ts';
import type { Workload } from './workloads.ts';

export interface Figures {
  /** Microseconds of CPU since the process began, all threads. */
  readonly cpu: number;
  /** Resident bytes. */
  readonly memory: number;
}

/** A server under measurement. */
export interface Running {
  readonly name: string;
  readonly title: string;
  readonly shape: Shape;
  readonly port: number;
  figures(): Promise<Figures>;
  /** The same after a collection: `heap` is what is reachable, in bytes. */
  collect(): Promise<Figures & { readonly heap: number }>;
  /** Writes a CPU profile of what it does while `work` runs. */
  profile(file: string, work: () => Promise<void>): Promise<void>;
  /** Sends request number `index` of a workload, with another token than that of the user who is signed in, or with none when `token` is null. */
  respond(workload: Workload, index: number, token?: string | null): Promise<Response>;
  /** Sends `count` requests of a workload. */
  load(workload: Workload, count: number): Promise<void>;
  close(): Promise<void>;
}

const VARIANTS = 1000;

export async function startContender(
  contender: Contender,
  { url, shape, credentials }: Database,
): Promise<Running> {
  const child = fork(
    fileURLToPath(new URL('serve.ts', import.meta.url)),
    [contender.name, url, shape],
    {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  const { port } = await message<{ port: number }>(child);
  const bytes = new Map<string, Buffer[]>();
  return {
    name: contender.name,
    title: contender.title,
    shape,
    port,
    figures: () => {
      child.send({ ask: 'figures' });
      return message<Figures>(child);
    },
    collect: () => {
      child.send({ ask: 'collect' });
      return message<Figures & { heap: number }>(child);
    },
    profile: async (file, work) => {
      child.send({ ask: 'start profile' });
      await message(child);
      await work();
      child.send({ ask: 'stop profile', file });
      await message(child);
    },
    respond: (workload, index, token = credentials?.token) =>
      fetch(`http://127.0.0.1:${port}${contender.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...headersOf(shape, token),
        },
        body: JSON.stringify(bodyOf(workload, index)),
      }),
    load: (workload, count) => {
      const requests =
        bytes.get(workload.name) ??
        Array.from({ length: VARIANTS }, (_, index) =>
          requestBytes(
            bodyOf(workload, index),
            contender.path,
            headersOf(shape, credentials?.token),
          ),
        );
      bytes.set(workload.name, requests);
      return drive(port, requests, count);
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

/** What a page of the one origin sends along, with the token of who is signed in. */
const headersOf = (shape: Shape, token: string | null | undefined): Record<string, string> =>
  shape === 'bare'
    ? {}
    : { origin: ORIGIN, ...(token ? { authorization: `Bearer ${token}` } : undefined) };

const bodyOf = ({ query, variables }: Workload, index: number) => ({
  query,
  variables: variables(index),
});

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (content) => {
      child.off('exit', ended);
      resolve(content as T);
    });
  });
}
