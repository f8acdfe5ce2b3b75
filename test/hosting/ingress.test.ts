import {
  createServer,
  request,
  Agent,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { createRouteTable, hostName } from '../../runtime/hosting/ingress/route-table.ts';

/** Milliseconds that a request waits for its app. */
const HOLD = 2500;

let ingress: Ingress;
let port: number;
const servers: Server[] = [];

beforeAll(async () => {
  ingress = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now, hold: HOLD });
  port = (await ingress.listen()).http as number;
});
afterAll(() => ingress.close(1000));
afterEach(() => {
  ingress.remove('app');
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A target of its own, answering as told. */
async function target(id: string, listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    id: `${id}-${(server.address() as AddressInfo).port}`,
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
  };
}

const serve = (targets: Awaited<ReturnType<typeof target>>[], hosts = ['app.test']) =>
  ingress.set({ appId: 'app', hosts, state: 'serving', targets });

function ask(
  options: {
    host?: string;
    path?: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
  } = {},
) {
  const { host = 'app.test', path = '/', method = 'GET', headers = {}, body } = options;
  return new Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }>(
    (resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path, method, agent: false, headers: { ...headers, host } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(chunks).toString(),
              headers: answer.headers,
            }),
          );
        },
      );
      sent.on('error', reject).end(body);
    },
  );
}

/** Writes bytes as they are and reads until the connection ends. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket
      .setEncoding('latin1')
      .on('data', (chunk) => (answer += chunk))
      .on('close', () => resolve(answer))
      .on('error', reject);
  });
}

describe('the ingress', () => {
  it('passes requests on with who asked, and believes nobody but itself about that', async () => {
    let seen: IncomingMessage | undefined;
    serve([
      await target('a', (incoming, response) => {
        seen = incoming;
        response.writeHead(201, { 'X-App': 'yes', 'Set-Cookie': ['a=1', 'b=2'] });
        response.end('hi');
      }),
    ]);
    const answer = await ask({
      path: '/x?y=1',
      headers: {
        'x-forwarded-for': '6.6.6.6',
        'x-forwarded-proto': 'https',
        forwarded: 'for=6.6.6.6',
        'x-real-ip': '6.6.6.6',
        'x-own': 'kept',
        'x-request-id': 'made-up',
        connection: 'close, x-hop',
        'x-hop': 'secret',
        te: 'trailers',
      },
    });
    expect([
      answer.status,
      answer.text,
      answer.headers['x-app'],
      answer.headers['set-cookie'],
    ]).toEqual([201, 'hi', 'yes', ['a=1', 'b=2']]);
    expect(seen?.url).toBe('/x?y=1');
    expect(seen?.headers).toMatchObject({
      host: 'app.test',
      'x-own': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'app.test',
      'x-forwarded-port': '80',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    for (const name of ['forwarded', 'x-hop', 'te', 'x-real-ip'])
      expect(seen?.headers).not.toHaveProperty(name);
  });

  it('passes bodies both ways as streams, of any size', async () => {
    serve([
      await target('a', (incoming, response) => {
        response.writeHead(200, { 'X-Length': incoming.headers['content-length'] ?? 'chunked' });
        incoming.pipe(response);
      }),
    ]);
    const body = Buffer.alloc(5_000_000, 'x');
    const answer = await ask({ method: 'POST', body });
    expect([answer.text.length, answer.headers['x-length']]).toEqual([
      body.length,
      String(body.length),
    ]);
    const chunked = await ask({
      method: 'PUT',
      body: 'abc',
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect(chunked.text).toBe('abc');
  });

  it('gives an event stream out as it comes', async () => {
    serve([
      await target('a', (_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.flushHeaders();
        setTimeout(() => response.write('data: 1\n\n'), 50);
      }),
    ]);
    // It never ends: who waits for more than has come waits for ever.
    await new Promise<void>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, agent: false, headers: { host: 'app.test' } },
        (answer) =>
          answer.once('data', (chunk) => {
            expect(String(chunk)).toBe('data: 1\n\n');
            sent.destroy();
            resolve();
          }),
      );
      sent.on('error', reject).end();
    });
  });

  it('joins WebSockets, and keeps them over a switch', async () => {
    const old = await target('a', (_, response) => response.end('old'));
    const sockets = new WebSocketServer({ server: servers.at(-1) as Server });
    sockets.on('connection', (socket, incoming) =>
      socket.on('message', (data) => socket.send(`${incoming.headers['x-forwarded-for']} ${data}`)),
    );
    serve([old]);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers: { host: 'app.test' } });
    await new Promise((resolve) => socket.once('open', resolve));
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        socket.once('message', (data) => resolve(String(data)));
        socket.send(text);
      });
    expect(await say('one')).toBe('127.0.0.1 one');
    serve([await target('b', (_, response) => response.end('new'))]);
    expect((await ask()).text).toBe('new');
    expect(await say('two')).toBe('127.0.0.1 two');
    const drained = ingress.drain([old.id], 5000).then(() => 'drained');
    expect(
      await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 100, 'waiting'))]),
    ).toBe('waiting');
    socket.close();
    expect(await drained).toBe('drained');
    sockets.close();
  });

  it('gives up what a container leaves open that has ended, but passes on what still comes', async () => {
    // Its network was removed before it could say that it ends: the kernel hears nothing more.
    const gone = await target('gone', (request, response) => {
      if (request.url === '/begun') response.write('begin');
      if (request.url !== '/download') return;
      let sent = 0;
      const timer = setInterval(() => {
        response.write('more');
        if ((sent += 1) === 12) response.end(() => clearInterval(timer));
      }, 500);
    });
    const sockets = new WebSocketServer({ server: servers.at(-1) as Server });
    serve([gone]);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: 'app.test' } });
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const silent = ask({ path: '/silent' });
    const begun = ask({ path: '/begun' }).catch((error: Error) => error.message);
    const download = ask({ path: '/download' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    serve([await target('next', (_request, response) => void response.end('next'))]);
    await ingress.drain([gone.id], 0);
    ingress.abandon([gone.id]);
    await closed;
    expect((await silent).text).toBe('next');
    expect(await begun).toMatch(/aborted|hang up/);
    expect((await download).text).toBe('more'.repeat(12));
    sockets.close();
  });

  it('ends within its time, with WebSockets and streams that are open', async () => {
    const other = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now });
    const at = (await other.listen()).http as number;
    const app = await target('a', (_, response) => void response.write('begin'));
    const sockets = new WebSocketServer({ server: servers.at(-1) as Server });
    other.set({ appId: 'app', hosts: ['app.test'], state: 'serving', targets: [app] });
    const socket = new WebSocket(`ws://127.0.0.1:${at}/`, { headers: { host: 'app.test' } });
    await new Promise((resolve) => socket.on('error', () => {}).once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const began = Date.now();
    await other.close(200);
    expect(Date.now() - began).toBeLessThan(3000);
    await closed;
    sockets.close();
  });

  it('answers 404 for a host that nobody has, 503 for a stopped app, and no target at all', async () => {
    expect(await ask({ host: 'nobody.test' })).toMatchObject({
      status: 404,
      text: '{"error":"Nothing here"}',
    });
    ingress.set({ appId: 'app', hosts: ['app.test'], state: 'stopped', targets: [] });
    const page = await ask({ headers: { accept: 'text/html,*/*' } });
    expect([page.status, page.headers['content-type'], page.headers['retry-after']]).toEqual([
      503,
      'text/html; charset=utf-8',
      '2',
    ]);
    expect(page.text).toMatch(/<h1>The app does not run<\/h1>/);
    serve([]);
    expect((await ask()).status).toBe(503);
    expect(await raw('GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 400/);
  });

  it('holds requests until the app is there, and not for ever', async () => {
    ingress.set({ appId: 'app', hosts: ['app.test'], state: 'holding', targets: [] });
    const held = Promise.all([ask(), ask({ method: 'POST', body: 'x' })]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    serve([await target('a', (incoming, response) => incoming.pipe(response))]);
    expect((await held).map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [200, 'x'],
    ]);
    ingress.set({ appId: 'app', hosts: ['app.test'], state: 'holding', targets: [] });
    const began = Date.now();
    expect((await ask()).status).toBe(503);
    expect(Date.now() - began).toBeGreaterThanOrEqual(HOLD - 10);
  });

  it('goes on to another target when one refuses, whatever the method', async () => {
    const dead = { id: 'dead', host: '127.0.0.1', port: 1 };
    serve([dead, await target('b', (incoming, response) => incoming.pipe(response))]);
    for (let turn = 0; turn < 10; turn += 1)
      expect(await ask({ method: 'POST', body: 'once' })).toMatchObject({
        status: 200,
        text: 'once',
      });
    serve([dead]);
    expect((await ask()).status).toBe(502);
  });

  it('sends again only what is safe to send again', async () => {
    let hits = 0;
    const dropping = await target('a', (incoming) => {
      hits += 1;
      incoming.socket.destroy();
    });
    const fine = await target('b', (_, response) => {
      hits += 1;
      response.end('fine');
    });
    serve([dropping, fine]);
    for (let turn = 0; turn < 6; turn += 1) expect((await ask()).status).toBe(200);
    hits = 0;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => ask({ method: 'POST', body: 'pay' })),
    );
    expect(hits).toBe(6);
    expect(answers.every(({ status }) => status === 200 || status === 502)).toBe(true);
  });

  it("ends the target's work when the client goes away, and the client's when the target does", async () => {
    let gone = false;
    serve([
      await target('a', (incoming, response) => {
        response.write('begin');
        incoming.socket.once('close', () => (gone = true));
        if (incoming.url === '/cut') setTimeout(() => incoming.socket.destroy(), 50);
      }),
    ]);
    const sent = request(
      { host: '127.0.0.1', port, agent: false, headers: { host: 'app.test' } },
      (answer) => answer.once('data', () => sent.destroy()),
    );
    sent.on('error', () => {}).end();
    await expect.poll(() => gone).toBe(true);
    await expect(ask({ path: '/cut' })).rejects.toThrow(/aborted|hang up/);
  });

  it('does not let two readings of one request be smuggled', async () => {
    let seen = 0;
    serve([
      await target('a', (_, response) => {
        seen += 1;
        response.end('ok');
      }),
    ]);
    const both = await raw(
      'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: app.test\r\n\r\n',
    );
    expect(both).toMatch(/^HTTP\/1.1 400/);
    expect(
      await raw(
        'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      ),
    ).toMatch(/^HTTP\/1.1 400/);
    expect(await raw('GET / HTTP/1.1\r\nHost: app.test\r\nX: a\rb\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400/,
    );
    expect(seen).toBe(0);
  });

  it('spreads requests over the targets', async () => {
    const counts = new Map<string, number>();
    const one = (name: string) =>
      target(name, (_, response) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        response.end();
      });
    serve([await one('a'), await one('b'), await one('c')]);
    const agent = new Agent({ keepAlive: true, maxSockets: 3 });
    await Promise.all(
      Array.from(
        { length: 90 },
        () =>
          new Promise((resolve) =>
            request({ host: '127.0.0.1', port, agent, headers: { host: 'app.test' } }, (answer) =>
              answer.resume().on('end', resolve),
            ).end(),
          ),
      ),
    );
    agent.destroy();
    for (const name of ['a', 'b', 'c']) expect(counts.get(name)).toBeGreaterThan(15);
  });
});

describe('the route table', () => {
  it('finds exact names before one-level wildcards, in any spelling', () => {
    const table = createRouteTable();
    table.set({
      appId: 'exact',
      hosts: ['shop.test', 'a.wild.test'],
      state: 'stopped',
      targets: [],
    });
    table.set({ appId: 'wild', hosts: ['*.wild.test'], state: 'stopped', targets: [] });
    const find = (host: string | undefined) => table.find(host)?.appId;
    expect([
      find('shop.test'),
      find('SHOP.test.:80'),
      find('a.wild.test'),
      find('b.wild.test'),
      find('wild.test'),
      find('x.b.wild.test'),
      find(''),
      find(undefined),
      find('[::1]:80'),
    ]).toEqual([
      'exact',
      'exact',
      'exact',
      'wild',
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    table.set({ appId: 'exact', hosts: ['other.test'], state: 'stopped', targets: [] });
    expect([find('shop.test'), find('other.test'), find('a.wild.test')]).toEqual([
      undefined,
      'exact',
      'wild',
    ]);
    table.remove('wild');
    expect(find('a.wild.test')).toBe(undefined);
    expect(hostName('Example.test.:8080')).toBe('example.test');
  });
});
