import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon, stopDaemon } from './daemon.ts';
import { freePort } from './free-port.ts';
import { databaseAccount } from './postgres.ts';

/** A PgBouncer in front of the PostgreSQL of the tests. */
export interface TestPooler {
  /** The address of the same database through it. */
  readonly through: (url: string) => string;
  readonly start: () => Promise<void>;
  /** Ends it at once, with all connections. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface PoolerOptions {
  /** Connections to PostgreSQL for each database. */
  readonly size?: number;
  readonly mode?: 'transaction' | 'session';
}

/**
 * Starts one of its own for a test.
 *
 * @example
 * const pooler = await startPooler({ size: 2 });
 * const store = openStore(pooler.through(url), '.');
 */
export async function startPooler({
  size = 4,
  mode = 'transaction',
}: PoolerOptions = {}): Promise<TestPooler> {
  const server = new URL(process.env['TEST_POSTGRES_URL']!);
  const directory = mkdtempSync(join(tmpdir(), 'twofold-pooler-'));
  chmodSync(directory, 0o777);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 1000
query_wait_timeout = 20
`,
  );
  const name = 'pgbouncer';
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      socket.once('connect', () => (socket.destroy(), resolve(true)));
      socket.once('error', () => resolve(false));
    });
  const start = () =>
    startDaemon(
      {
        directory,
        name,
        command: process.env['TEST_PGBOUNCER']!,
        args: ['-q', file],
        ...databaseAccount(),
      },
      answers,
    );
  const kill = () => stopDaemon(directory, name, 'SIGKILL');
  await start();
  return {
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}`, password: '' }).href,
    start,
    kill,
    stop: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
