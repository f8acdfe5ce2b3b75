import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { describeEachEngine } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { createIngressRecords } from '../../runtime/hosting/records/settings-table.ts';
import { selfSigned } from './ingress-client.ts';
import { startLoad } from './load.ts';
import { startEvents, startHttp2Load } from './load-http2.ts';
import { startServer, type TestServer, type TestServerOptions } from './server.ts';

/** An app that answers at once, slowly, after the last byte of an upload, and over a WebSocket; it ends when it is told to. */
const BUSY = `
const { createServer } = require('http'), { createHash } = require('crypto'), version = process.env.VERSION;
const server = createServer((q, r) => {
  let bytes = 0;
  if (q.url === '/events') {
    let count = 0;
    r.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const timer = setInterval(() => r.write('data: ' + version + ' ' + count++ + '\\n\\n'), 50);
    return r.on('close', () => clearInterval(timer));
  }
  if (q.url === '/long') return setTimeout(() => r.end(version), 9000);
  if (q.url === '/slow') return setTimeout(() => r.end(version), 250);
  q.on('data', (data) => (bytes += data.length)).on('end', () => r.end(q.method === 'POST' ? String(bytes) : version));
});
server.on('upgrade', (q, socket) => {
  const accept = createHash('sha1').update(q.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
  socket.on('error', () => {}).on('data', (f) => (f[0] & 15) === 1 && socket.write(Buffer.concat([Buffer.from([0x81, f[1] & 127]), Buffer.from(f.subarray(6).map((byte, at) => byte ^ f[2 + (at % 4)]))])));
});
process.on('SIGTERM', () => server.close(() => process.exit(0)));
if (process.env.FAIL === 'crash') { console.error('cannot go on'); process.exit(3); }
if (process.env.FAIL === 'deaf') setInterval(() => console.log('still getting ready'), 100);
else server.listen(process.env.PORT);
`;

/** Sends one upload after the other, each for a second and a half. */
function startUploads(port: number, host: string) {
  const state = { running: true };
  const failures: string[] = [];
  let ok = 0;
  const one = () =>
    new Promise<string>((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          method: 'POST',
          path: '/upload',
          agent: false,
          headers: { host },
        },
        (answer) => {
          let text = '';
          answer
            .setEncoding('utf8')
            .on('data', (data) => (text += data))
            .on('error', reject)
            .on('end', () => resolve(`${answer.statusCode} ${text}`));
        },
      );
      sent.on('error', reject);
      let turn = 0;
      const timer = setInterval(
        () =>
          (turn += 1) < 30
            ? sent.write(Buffer.alloc(10_000))
            : (clearInterval(timer), sent.end(Buffer.alloc(10_000))),
        50,
      );
    });
  const loop = (async () => {
    while (state.running) {
      const said = await one().catch((error: Error) => error.message);
      if (said === '200 300000') ok += 1;
      else failures.push(said);
    }
  })();
  return async () => ((state.running = false), await loop, { ok, failures });
}

/** Keeps a WebSocket open that talks all the time; one that its server closed is opened again, which has to succeed. */
function startTalk(port: number, host: string) {
  const state = { running: true };
  const failures: string[] = [];
  let echoed = 0;
  const loop = (async () => {
    while (state.running) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host } });
      await new Promise<void>((resolve) =>
        socket
          .once('open', () => resolve())
          .on('error', (error) => (failures.push(error.message), resolve())),
      );
      for (let turn = 0; state.running && socket.readyState === WebSocket.OPEN; turn += 1) {
        const answer = new Promise<string | null>((resolve) =>
          socket
            .once('message', (data) => resolve(String(data)))
            .once('close', () => resolve(null)),
        );
        socket.send(`turn ${turn}`);
        const text = await answer;
        if (text === `turn ${turn}`) echoed += 1;
        else if (text !== null) failures.push(text);
        socket.removeAllListeners('message').removeAllListeners('close');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      socket.terminate();
    }
  })();
  return async () => ((state.running = false), await loop, { echoed, failures });
}

/** Status and text of an answer. */
function fetchBy(port: number, host: string, path: string): Promise<string> {
  return new Promise((resolve, reject) =>
    request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (data) => (text += data));
      answer.on('error', reject).on('end', () => resolve(`${answer.statusCode} ${text}`));
    })
      .on('error', reject)
      .end(),
  );
}

/** What a client with this address is answered. */
function statusFrom(localAddress: string, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) =>
    request({ host: '127.0.0.1', port, localAddress, headers: { host }, agent: false }, (answer) =>
      resolve(answer.resume().statusCode ?? 0),
    )
      .on('error', reject)
      .end(),
  );
}

describeEachEngine('under load', ({ socket }) => {
  let server: TestServer;
  let options: TestServerOptions;
  let images: string[];

  beforeAll(async () => {
    images = [
      await importImage(socket, 'twofold-test/web:1'),
      await importImage(socket, 'twofold-test/web:2'),
    ];
    // An open WebSocket keeps an old container for the whole time that it has: shorter than usual, and longer than an upload.
    options = {
      socket,
      // The ingress goes on while the server is exchanged.
      env: { HOSTING_INGRESS: 'process', HOSTING_REDIRECT: 'off' },
      model: { deploys: { keep: 5, readyTimeout: 30_000, drain: 3500 } },
    };
    server = await startServer(options);
  });
  afterEach(() => server?.clear());
  afterAll(async () => {
    if (!server) return;
    const record = await createIngressRecords(server.kernel.store).read();
    await server.end();
    if (record) process.kill(record.pid, 'SIGTERM');
  });

  it('ten deploys, maintenance and another server fail no request, upload, WebSocket or event stream', async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    await server.api('POST', '/api/apps', {
      name: 'busy',
      image: node,
      command: ['node', '-e', BUSY],
      env: { VERSION: '0' },
      health: { path: '/' },
    });
    const host = 'busy.apps.test';
    const load = startLoad({
      port: server.ingress,
      host,
      clients: 16,
      path: (turn) => (turn % 10 === 0 ? '/slow' : '/'),
    });
    const port = server.ingress;
    const [uploads, talk] = [startUploads(port, host), startTalk(port, host)];
    await server.api('PUT', '/api/apps/busy/certificate', selfSigned(host));
    const { https } = (await server.api('GET', '/api/system/config')).body.ingress;
    const http2 = startHttp2Load({ port: https, host, streams: 8 });
    const events = startEvents({ port, host, newest: http2.newest });
    for (let turn = 1; turn <= 10; turn += 1) {
      await server.api('PUT', '/api/apps/busy/env', { VERSION: String(turn) });
      expect((await server.api('POST', '/api/apps/busy/deploy', {})).body).toMatchObject({
        status: 'healthy',
        number: turn + 1,
      });
      expect((await server.visit(host)).text).toBe(String(turn));
    }
    const rule = (maintenance: object | null) =>
      server.api('PATCH', '/api/apps/busy', { http: { maintenance } });
    await rule({ allow: ['127.0.0.1/32'] });
    // The load comes from an address that may go on.
    expect(await statusFrom('127.0.0.2', port, host)).toBe(503);
    await rule(null);
    expect(await statusFrom('127.0.0.2', port, host)).toBe(200);
    await server.stop();
    server = await startServer({ ...options, folder: server.folder });
    expect(server.ingress).toBe(port);
    await server.api('POST', '/api/apps/busy/deploy', {});
    const [requests, uploaded, talked, second, streamed] = await Promise.all([
      ...[load.stop(), uploads(), talk(), http2.stop(), events()],
    ] as const);
    expect([requests.failures, uploaded.failures, talked.failures]).toEqual([[], [], []]);
    expect([second.failures, streamed.failures]).toEqual([[], []]);
    // Streams stay with the replica that they began on while new requests go to the next one.
    expect(Math.min(second.ok / 20, streamed.events / 20, streamed.outlived)).toBeGreaterThan(5);
    expect(requests.bodies).toEqual(new Set(Array.from({ length: 11 }, (_, turn) => String(turn))));
    expect(Math.min(requests.ok / 20, uploaded.ok, talked.echoed / 5)).toBeGreaterThan(5);
    console.log(
      `ten deploys: 0 failed of ${requests.ok} requests, ${second.ok} over HTTP/2, ${uploaded.ok} uploads, ${talked.echoed} messages, ${streamed.events} events`,
    );
    await server.api('DELETE', '/api/apps/busy');
  }, 480_000);

  it('a request outlives its revision and the server that replaced it', async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    const patient = { model: { deploys: { keep: 5, readyTimeout: 30_000, drain: 15_000 } } };
    const { folder } = server;
    await server.stop();
    server = await startServer({ ...options, ...patient, folder });
    await server.api('POST', '/api/apps', {
      name: 'long',
      image: node,
      command: ['node', '-e', BUSY],
      env: { VERSION: 'old' },
      health: { path: '/' },
    });
    const answer = fetchBy(server.ingress, 'long.apps.test', '/long');
    await server.api('PUT', '/api/apps/long/env', { VERSION: 'new' });
    await server.api('POST', '/api/apps/long/deploy', {});
    await server.stop();
    server = await startServer({ ...options, folder: server.folder });
    expect((await server.visit('long.apps.test')).text).toBe('new');
    expect(await answer).toBe('200 old');
    await server.api('DELETE', '/api/apps/long');
  });

  it('what fails leaves the old version serving: one that never is ready, one that ends at once, a build that fails', async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    const strict = await startServer({
      socket,
      model: { deploys: { keep: 5, readyTimeout: 3000, drain: 3500 } },
    });
    try {
      await strict.api('POST', '/api/apps', {
        name: 'steady',
        image: node,
        command: ['node', '-e', BUSY],
        env: { VERSION: 'old' },
        health: { path: '/' },
      });
      const host = 'steady.apps.test';
      const load = startLoad({
        port: strict.ingress,
        host,
        clients: 8,
        path: (turn) => (turn % 10 === 0 ? '/slow' : '/'),
      });
      const [uploads, talk] = [startUploads(strict.ingress, host), startTalk(strict.ingress, host)];
      const failures: [Record<string, string>, RegExp, RegExp][] = [
        [
          { VERSION: 'new', FAIL: 'deaf' },
          /did not become ready: It did not answer within 3 s: the connection was refused.*still getting ready/,
          /still getting ready/,
        ],
        [
          { VERSION: 'new', FAIL: 'crash' },
          /did not become ready: It ended with exit code 3.*cannot go on/,
          /cannot go on/,
        ],
      ];
      for (const [env, reason, line] of failures) {
        await strict.api('PUT', '/api/apps/steady/env', env);
        const { status, body } = await strict.api('POST', '/api/apps/steady/deploy', {});
        expect([status, body.error]).toEqual([502, expect.stringMatching(reason)]);
        const [failed] = (await strict.api('GET', '/api/apps/steady/deployments')).body.deployments;
        expect(failed).toMatchObject({
          status: 'failed',
          current: false,
          reason: expect.stringMatching(reason),
        });
        expect(failed.log.length).toBeLessThanOrEqual(100);
        expect(failed.log.join('\n')).toMatch(line);
      }
      const built = await strict.api(
        'POST',
        '/api/deploy?wait=true',
        sourceForm(
          { name: 'steady' },
          tarGzOf({ Dockerfile: `FROM ${images[0]}\nRUN echo no luck && exit 4\n` }),
        ),
      );
      expect([built.status, built.body.error]).toEqual([
        422,
        expect.stringMatching(/build failed.*4/),
      ]);
      const app = (await strict.api('GET', '/api/apps/steady')).body;
      expect([app.status, app.deployment, (await strict.visit(host)).text]).toEqual([
        'running',
        1,
        'old',
      ]);
      const [requests, uploaded, talked] = await Promise.all([load.stop(), uploads(), talk()]);
      expect([requests.failures, uploaded.failures, talked.failures, requests.bodies]).toEqual([
        [],
        [],
        [],
        new Set(['old']),
      ]);
      expect([requests.ok > 0, uploaded.ok > 0, talked.echoed > 0]).toEqual([true, true, true]);
      console.log(
        `three failed deploys: 0 failed of ${requests.ok} requests, ${uploaded.ok} uploads, ${talked.echoed} messages`,
      );
      const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.app=${app.id}`] }));
      expect(
        await engineJson<unknown[]>(socket, { path: `/containers/json?all=1&filters=${filters}` }),
      ).toHaveLength(1);
    } finally {
      await strict.end();
    }
  }, 240_000);

  it('deploys of an app with a volume make requests wait, and fail none', async () => {
    await server.api('POST', '/api/apps', {
      name: 'stateful',
      image: images[0],
      volumes: [{ name: 'data', path: '/data' }],
    });
    await server.api('POST', '/api/apps/stateful/exec', {
      command: ['sh', '-c', 'echo kept > /data/note'],
    });
    const load = startLoad({
      port: server.ingress,
      host: 'stateful.apps.test',
      clients: 4,
      pause: 5,
    });
    for (let turn = 1; turn <= 3; turn += 1)
      await server.api('POST', '/api/apps/stateful/deploy', { image: images[turn % 2] });
    const { failures, bodies } = await load.stop();
    expect(failures).toEqual([]);
    expect(bodies.size).toBe(2);
    expect(
      (await server.api('POST', '/api/apps/stateful/exec', { command: ['cat', '/data/note'] })).body
        .stdout,
    ).toBe('kept\n');
    await server.api('DELETE', '/api/apps/stateful?volumes=true');
  });

  it('restarts of several replicas fail no request', async () => {
    const created = await server.api('POST', '/api/apps', {
      name: 'many',
      image: images[0],
      replicas: 3,
    });
    expect(created.body.status).toBe('running');
    const load = startLoad({ port: server.ingress, host: 'many.apps.test', clients: 8 });
    for (let turn = 0; turn < 3; turn += 1)
      expect((await server.api('POST', '/api/apps/many/restart')).status).toBe(200);
    const { failures } = await load.stop();
    expect(failures).toEqual([]);
    await server.api('DELETE', '/api/apps/many');
  });

  it('one operation at a time runs on an app', async () => {
    await server.api('POST', '/api/apps', { name: 'one', image: images[0] });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        server.api('POST', '/api/apps/one/deploy', { image: images[1] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    await server.api('DELETE', '/api/apps/one');
  });
});
