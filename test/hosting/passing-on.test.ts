import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { createIngress, type LocalIngress } from '../../runtime/hosting/ingress/ingress.ts';
import type { RouteTarget } from '../../runtime/hosting/ingress/route-table.ts';
import { digestOf } from '../../runtime/hosting/moves/tokens.ts';
import { selfSigned } from './ingress-client.ts';
import { visit } from './server.ts';

const TOKEN = 'known to both servers';
const HOUR = 3_600_000;

let seen: IncomingHttpHeaders = {};
let app: Server;
const ingresses: LocalIngress[] = [];
let from: LocalIngress;
let to: LocalIngress;
let ports: { http: number; there: { http: number; https: number } };

async function open(host = '127.0.0.1'): Promise<[LocalIngress, { http: number; https: number }]> {
  const ingress = createIngress({ http: 0, https: 0, host, now: Date.now });
  ingresses.push(ingress);
  return [ingress, (await ingress.listen()) as never];
}

/** The old server passes requests on to this target. */
const passOn = (target: Partial<RouteTarget>, until = Date.now() + HOUR) =>
  from.set({
    ...{ appId: 'app', hosts: ['app.test'], state: 'serving', rules: { compress: false } },
    targets: [{ id: `moved:${target.port}`, host: '127.0.0.1', port: 0, ...target }],
    forward: { until, token: TOKEN },
  });

const arrive = (forwarder = { until: Date.now() + HOUR, digest: digestOf(TOKEN) }) =>
  to.set({
    ...{ appId: 'app', hosts: ['app.test'], state: 'serving', forwarder },
    rules: { allow: ['127.0.0.1', '203.0.113.7'] },
    targets: [{ id: 'x', host: '127.0.0.1', port: (app.address() as AddressInfo).port }],
  });

const ask = (headers: Record<string, string> = {}, port = ports.http) =>
  visit(port, 'app.test', '/', { headers });

beforeAll(async () => {
  app = createServer((incoming, response) => {
    seen = incoming.headers;
    response.end('here');
  });
  const sockets = new WebSocketServer({ server: app });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  const opened = [await open(), await open()] as const;
  [from, to] = [opened[0][0], opened[1][0]];
  ports = { http: opened[0][1].http, there: opened[1][1] };
  arrive();
  passOn({ port: ports.there.http });
});
afterAll(async () => {
  await Promise.all(ingresses.map((ingress) => ingress.close(100)));
  app.closeAllConnections();
  app.close();
});

it('passes requests and WebSockets on, and the app sees its client and no token', async () => {
  expect(await ask()).toMatchObject({ status: 200, text: 'here' });
  expect(seen['x-forwarded-for']).toBe('127.0.0.1, 127.0.0.1');
  expect(Object.keys(seen).filter((name) => name.includes('forward'))).not.toContain(
    'x-twofold-forward',
  );
  const socket = new WebSocket(`ws://127.0.0.1:${ports.http}/`, { headers: { host: 'app.test' } });
  const echoed = new Promise((resolve, reject) =>
    socket.on('message', (data) => resolve(String(data))).on('error', reject),
  );
  socket.on('open', () => socket.send('over there'));
  expect(await echoed).toBe('over there');
  socket.close();
});

it('believes the address of a client only with the token, and not for ever', async () => {
  const claims = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
  const direct = (token: string) =>
    ask({ ...claims, 'x-twofold-forward': token }, ports.there.http);
  expect((await direct(TOKEN)).status).toBe(200);
  expect([seen['x-forwarded-for'], seen['x-forwarded-proto']]).toEqual([
    '203.0.113.7, 127.0.0.1',
    'https',
  ]);
  // The rules of the app ask for the address of the client, and not of the old server.
  expect(
    (
      await ask(
        { ...claims, 'x-forwarded-for': '198.51.100.1', 'x-twofold-forward': TOKEN },
        ports.there.http,
      )
    ).status,
  ).toBe(403);
  await direct('a guess');
  expect([seen['x-forwarded-for'], seen['x-forwarded-proto'], seen['x-twofold-forward']]).toEqual([
    ...['127.0.0.1', 'http', undefined],
  ]);
  arrive({ until: Date.now() - 1, digest: digestOf(TOKEN) });
  await direct(TOKEN);
  expect(seen['x-forwarded-for']).toBe('127.0.0.1');
  arrive();
});

it('passes nothing on twice, or when the time is over, or for another host', async () => {
  expect((await ask({ 'x-twofold-forward': 'anything' })).status).toBe(508);
  expect((await visit(ports.http, 'other.test', '/')).status).toBe(404);
  passOn({ port: ports.there.http }, Date.now() - 1);
  expect((await ask()).status).toBe(503);
  // Two servers that each say that the other one has the app.
  passOn({ port: ports.there.http });
  to.set({
    ...{ appId: 'app', hosts: ['app.test'], state: 'serving' },
    targets: [{ id: 'back', host: '127.0.0.1', port: ports.http }],
    forward: { until: Date.now() + HOUR, token: 'another' },
  });
  expect((await ask()).status).toBe(508);
  arrive();
});

it('sends nothing to an encrypted target before its certificate is checked', async () => {
  to.certify('host.test', selfSigned('host.test'));
  seen = {};
  passOn({ port: ports.there.https, serverName: 'host.test' });
  expect((await ask({ cookie: 'session=1' })).status).toBe(502);
  expect(seen).toEqual({});
  passOn({ port: ports.there.http });
});

it('passes connections and datagrams of its other ports on, to the same ports there, and not for ever', async () => {
  const echo = createTcpServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
  datagrams.on('message', (data, { port, address }) => datagrams.send(data, port, address));
  await Promise.all([once(echo, 'listening'), once(datagrams, 'listening')]);
  // Two servers with the same port: each has an address of its own.
  const [here] = await open('127.0.0.2');
  const [there] = await open('127.0.0.3');
  const port = await freePort();
  const ports = (['tcp', 'udp'] as const).map((protocol) => ({ port, target: 7, protocol }));
  const streams = (tcp: AddressInfo, udp: AddressInfo) => ({
    '7/tcp': { host: tcp.address, port: tcp.port },
    '7/udp': { host: udp.address, port: udp.port },
  });
  const route = { appId: 'app', hosts: ['app.test'], state: 'serving', ports } as const;
  const containers = streams(echo.address() as AddressInfo, datagrams.address());
  there.set({ ...route, targets: [{ id: 'x', host: '', port: 0, streams: containers }] });
  const elsewhere = { address: '127.0.0.3', port, family: 'IPv4' };
  const passOnUntil = (until: number) =>
    here.set({
      ...{ ...route, forward: { until, token: TOKEN } },
      targets: [{ id: 'moved', host: '', port: 0, streams: streams(elsewhere, elsewhere) }],
    });
  passOnUntil(Date.now() + HOUR);

  const asked = async (word: string) => {
    const socket = connect(port, '127.0.0.2').on('error', () => {});
    socket.write(word);
    const [said] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    return String(said);
  };
  await vi.waitFor(async () => expect(await asked('over there')).toBe('over there'));
  const client = createSocket('udp4').bind(0, '127.0.0.1');
  const answered = once(client, 'message');
  const sending = setInterval(() => client.send('a datagram', port, '127.0.0.2'), 100);
  expect(String((await answered)[0])).toBe('a datagram');
  clearInterval(sending);

  passOnUntil(Date.now() - 1);
  expect(await asked('too late')).toBe('false');
  client.close();
  datagrams.close();
  echo.close();
});

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
