import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { createLocalPair } from './local-pair.ts';

/** Everything in which a client could say who it is. */
const CLAIMS = [
  ...['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Port'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-User', 'X-Forwarded-Ssl', 'X-Forwarded-Server'],
  ...['X-Forwarded-Anything', 'X-Forwarded', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP'],
  ...['CF-Connecting-IP', 'X-Original-URL', 'X-Original-Host', 'X-Rewrite-URL', 'X-Request-Id'],
];
const VARIANTS = CLAIMS.flatMap((name) => [name, name.replaceAll('-', '_'), name.toUpperCase()])
  .concat('X-Forwarded_For', 'X_Forwarded-For')
  .filter((name, index, all) => all.indexOf(name) === index);

let server: Server;
let seen: IncomingHttpHeaders;
const ingresses: Ingress[] = [];

beforeAll(async () => {
  server = createServer((incoming, response) => {
    seen = incoming.headers;
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await Promise.all(ingresses.map((ingress) => ingress.close(100)));
  server.close();
});

async function open(trustedProxies: readonly string[], certified = false): Promise<number> {
  const ingress = createIngress({
    ...{ http: 0, https: 0, host: '127.0.0.1', now: Date.now, trustedProxies },
  });
  ingresses.push(ingress);
  const { port } = server.address() as AddressInfo;
  ingress.set({
    ...{ appId: 'app', hosts: ['app.test'], state: 'serving' },
    targets: [{ id: 'x', host: '127.0.0.1', port }],
  });
  if (certified) ingress.certify('app.test', createLocalPair('app.test'));
  return (await ingress.listen()).http as number;
}

/** @returns the status, with the headers that the app saw in `seen`. */
function ask(port: number, lines: readonly string[]): Promise<number> {
  const text = ['GET / HTTP/1.1', 'Host: app.test', 'Connection: close', ...lines, '', ''].join(
    '\r\n',
  );
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.once('data', (data) => resolve(Number(String(data).slice(9, 12)))).on('error', reject);
  });
}

describe('who asked', () => {
  it.each(VARIANTS)('is not what a client says in %s', async (name) => {
    const port = await open([]);
    expect(await ask(port, [`${name}: 6.6.6.6`, 'X-Own: kept'])).toBe(200);
    expect(JSON.stringify(seen)).not.toContain('6.6.6.6');
    expect(seen).toMatchObject({
      ...{ 'x-own': 'kept', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' },
      ...{ 'x-forwarded-host': 'app.test', 'x-forwarded-port': '80' },
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('is continued from a trusted proxy, with its protocol, host and request id', async () => {
    const port = await open(['127.0.0.0/8']);
    await ask(port, [
      ...['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-For: 10.0.0.9', 'X-Forwarded-Proto: https'],
      ...['X-Forwarded-Host: shop.example', 'X-Request-Id: abc-1', 'X-Forwarded-Prefix: /shop'],
      ...['X_Forwarded_For: 6.6.6.6', 'X-Real-IP: 203.0.113.7'],
    ]);
    expect(seen).toMatchObject({
      ...{ 'x-forwarded-for': '203.0.113.7, 10.0.0.9, 127.0.0.1', 'x-forwarded-proto': 'https' },
      ...{ 'x-forwarded-host': 'shop.example', 'x-forwarded-port': '443' },
      ...{ 'x-request-id': 'abc-1', 'x-forwarded-prefix': '/shop', 'x-real-ip': '203.0.113.7' },
    });
    expect(seen).not.toHaveProperty('x_forwarded_for');
  });

  it('is made anew from what a trusted proxy says in a wrong form', async () => {
    const port = await open(['127.0.0.1']);
    await ask(port, [
      ...['X-Forwarded-For: <script>, 203.0.113.7, unknown', 'X-Forwarded-Proto: gopher'],
      ...['X-Forwarded-Host: a.test:80@evil.example', 'X-Forwarded-Port: 80x', 'X-Request-Id: a b'],
    ]);
    expect(seen).toMatchObject({
      ...{ 'x-forwarded-for': '203.0.113.7, 127.0.0.1', 'x-forwarded-proto': 'http' },
      ...{ 'x-forwarded-host': 'app.test', 'x-forwarded-port': '80' },
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('has TLS already when a trusted proxy says https: it is not sent on to https', async () => {
    const [trusting, other] = [await open(['127.0.0.1'], true), await open([], true)];
    expect(await ask(trusting, ['X-Forwarded-Proto: https'])).toBe(200);
    expect(await ask(trusting, [])).toBe(308);
    expect(await ask(other, ['X-Forwarded-Proto: https'])).toBe(308);
  });
});
