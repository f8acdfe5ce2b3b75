import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createPlain, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLog } from '../../runtime/core/config/log.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { ConfigError } from '../../runtime/core/errors.ts';
import type { Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import type { IngressRecord } from '../../runtime/hosting/ingress/control.ts';
import { createRemoteIngress } from '../../runtime/hosting/ingress/remote.ts';
import type { AppRoute } from '../../runtime/hosting/ingress/route-table.ts';
import { isRunning } from '../../runtime/hosting/running.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { startConnections, startLoad } from './load.ts';
import { startServer, type TestServer } from './server.ts';

const NOWHERE = '/nowhere/engine.sock';
const log = createLog({ level: 'silent' }, { write: () => {} });

/** Stands in for the database of an installation. */
function recordsInMemory() {
  let record: IngressRecord | null = null;
  return {
    read: async () => record,
    write: async (next: IngressRecord) => void (record = next),
    pid: () => record?.pid ?? 0,
  };
}

describe('a port of the ingress', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-version-'));
  let app: Server;
  let other: typeof createRemoteIngress;
  const pids = new Set<number>();

  beforeAll(async () => {
    app = createServer((asked, answer) =>
      asked.url === '/slow' ? setTimeout(() => answer.end('ok'), 400) : answer.end('ok'),
    );
    const sockets = new WebSocketServer({ server: app });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
    await new Promise<void>((done) => app.listen(0, '127.0.0.1', 4096, done));
    // Another version, in another folder: the same files, and a line more in one.
    cpSync(resolve('runtime'), join(folder, 'runtime'), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const ingress = join(folder, 'runtime/hosting/ingress');
    appendFileSync(join(ingress, 'pages.ts'), '\n// Another version.\n');
    const url = pathToFileURL(join(ingress, 'remote.ts')).href;
    other = ((await import(/* @vite-ignore */ url)) as { createRemoteIngress: typeof other })
      .createRemoteIngress;
  });
  afterAll(() => {
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGTERM');
    app.closeAllConnections();
    app.close();
    rmSync(folder, { recursive: true });
  });

  const route = (): AppRoute => ({
    ...{ appId: 'a', hosts: ['a.test'], state: 'serving' as const },
    targets: [{ id: 'x', host: '127.0.0.1', port: (app.address() as AddressInfo).port }],
  });
  const create = (
    make: typeof createRemoteIngress,
    records: ReturnType<typeof recordsInMemory>,
    http = 0,
  ) => make({ http, https: 0, host: '127.0.0.1', records, log, alone: 20_000 });
  const start = async (ingress: Ingress, records: ReturnType<typeof recordsInMemory>) => {
    await ingress.attach();
    ingress.set(route());
    const listening = await ingress.listen();
    pids.add(records.pid());
    return listening;
  };

  it('is taken over by another version from another folder without a failed request', async () => {
    const records = recordsInMemory();
    let current = create(createRemoteIngress, records);
    const { http: port } = (await start(current, records)) as { http: number };
    const path = (turn: number) => (turn % 20 === 0 ? '/slow' : '/');
    const load = startLoad({ port, host: 'a.test', clients: 16, path });
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: 'a.test' } });
    await new Promise((done) => socket.once('open', done));
    const seen = new Set([records.pid()]);
    for (const make of [other, createRemoteIngress, other]) {
      await new Promise((done) => setTimeout(done, 500));
      await current.close(1000);
      current = create(make, records);
      expect((await start(current, records)).http).toBe(port);
      seen.add(records.pid());
    }
    await new Promise((done) => setTimeout(done, 6000));
    const echoed = new Promise((done) => socket.once('message', (data) => done(String(data))));
    socket.send('still here');
    expect(await echoed).toBe('still here');
    const { failures, ok } = await load.stop();
    expect(failures).toEqual([]);
    expect(ok).toBeGreaterThan(500);
    expect(seen.size).toBe(4);
    console.log(`three takeovers: 0 failed of ${ok} requests`);
    const gone = new Promise((done) => socket.once('close', done));
    socket.terminate();
    await gone;
    await current.close(1000);
  });

  it('is exchanged ten times without a new connection that is lost or hangs', async () => {
    const records = recordsInMemory();
    let current = create(createRemoteIngress, records);
    const { http: port } = (await start(current, records)) as { http: number };
    const load = startConnections({ port, host: 'a.test', clients: 24 });
    for (let turn = 0; turn < 10; turn += 1) {
      await current.close(1000);
      current = create(turn % 2 === 0 ? other : createRemoteIngress, records);
      expect((await start(current, records)).http).toBe(port);
    }
    const { failures, ok } = await load.stop();
    expect(failures).toEqual([]);
    expect(ok).toBeGreaterThan(500);
    console.log(`ten exchanges: 0 failed of ${ok} new connections`);
    await current.close(1000);
  });

  it('that another installation, or any program, has is refused, and stays with it', async () => {
    const [ours, theirs] = [recordsInMemory(), recordsInMemory()];
    const first = create(createRemoteIngress, ours);
    const { http: port } = (await start(first, ours)) as { http: number };
    const second = create(createRemoteIngress, theirs, port);
    expect(await start(second, theirs)).toMatchObject({
      http: null,
      refused: { http: 'EADDRINUSE' },
    });
    for (let turn = 0; turn < 20; turn += 1)
      expect((await fetchFrom(port)).startsWith('HTTP/1.1 200')).toBe(true);
    await Promise.all([first.close(500), second.close(500)]);
  });

  /** One request on a connection of its own. */
  function fetchFrom(port: number): Promise<string> {
    return new Promise((done, fail) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'),
      );
      let text = '';
      socket.on('data', (data) => (text += String(data))).on('error', fail);
      socket.on('close', () => done(text));
    });
  }
});

describe.each(['SQLite', 'PostgreSQL'])('a server on %s whose port is taken', (kind) => {
  let server: TestServer | undefined;
  let taker: ReturnType<typeof createPlain>;
  let port: number;
  let drop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    taker = createPlain((socket) => socket.end('not ours'));
    port = await freePort();
    await new Promise<void>((done) => taker.listen(port, '127.0.0.1', done));
  });
  afterEach(async () => {
    await server?.end();
    await drop?.();
    server = drop = undefined;
  });
  afterAll(() => void taker.close());

  const start = async (env: Record<string, string>, http: number) => {
    const database = kind === 'PostgreSQL' ? await createDatabase() : undefined;
    drop = database?.drop;
    return startServer({
      ...{ socket: NOWHERE, env },
      model: {
        ingress: {
          ...{ http, https: 0, http2: true, accessLog: true, api: true },
          ports: '1024-65535',
          acme: { email: null, directory: null },
        },
      },
      ...(database && { database: database.url }),
    });
  };

  it.skipIf(kind === 'PostgreSQL' && !postgresUrl).each(['inline', 'process'])(
    'does not start in production, and names port and setting (%s)',
    async (ingress) => {
      const failed = await start({ NODE_ENV: 'production', HOSTING_INGRESS: ingress }, port).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failed).toBeInstanceOf(ConfigError);
      expect((failed as ConfigError).problems).toEqual([
        expect.stringMatching(new RegExp(`^hosting\\.ingress\\.http: port ${port} is in use`)),
      ]);
    },
  );

  it.skipIf(kind === 'PostgreSQL' && !postgresUrl)(
    'runs in development, and its health says that apps cannot be reached',
    async () => {
      server = await start({}, port);
      const health = await server.api('GET', '/api/health');
      expect([health.status, health.body.ingress]).toEqual([200, 'unavailable']);
      await server.end();
      await drop?.();
      server = await start({}, 0);
      expect((await server.api('GET', '/api/health')).body.ingress).toBe('listening');
    },
  );
});
