import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  caller,
  type DatabaseName,
  startServer,
  type TestOptions,
  type TestServer,
} from './server.ts';

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly call: TestServer['call'];
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a server process on a database that is there. `diesAt`: the event whose listener kills it. */
export async function startProcess(
  options: TestOptions & { readonly url: string },
  diesAt?: string,
): Promise<ServerProcess> {
  const child = fork(new URL('./server-process.ts', import.meta.url), {
    env: {
      ...process.env,
      TEST_OPTIONS: JSON.stringify(options),
      ...(diesAt !== undefined && { TEST_DIES_AT: diesAt }),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const url = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    exited.then(([code]) => Promise.reject(new Error(`the server process ended with ${code}`))),
  ]);
  return {
    url,
    child,
    call: caller(url),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.send('stop');
      await exited;
    },
  };
}

/** A database, a server in this process that looks at it, and `count` server processes on it. */
export async function startProcesses(
  database: DatabaseName,
  count: number,
  options: Partial<TestOptions> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'auth-processes-'));
  const watcher = await startServer({
    database,
    ...options,
    ...(database === 'SQLite' && { url: `file:${join(folder, 'shared.db')}` }),
  });
  const nodes = await Promise.all(
    Array.from({ length: count }, () =>
      startProcess({ database, ...options, url: watcher.databaseUrl }),
    ),
  );
  return {
    watcher,
    nodes,
    /** `total` calls at once, dealt out to the processes. */
    atOnce: <T>(total: number, call: (node: ServerProcess, index: number) => Promise<T>) =>
      Promise.all(
        Array.from({ length: total }, (_, index) => call(nodes[index % nodes.length]!, index)),
      ),
    close: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await watcher.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
