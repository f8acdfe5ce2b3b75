import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import WebSocket from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessEntry, createAccessLog } from '../../runtime/hosting/ingress/access-log.ts';
import { hashPassword } from '../../runtime/hosting/ingress/passwords.ts';
import { readAccessLog } from '../../runtime/hosting/ingress/read-access-log.ts';
import { renderRequestMetrics } from '../../runtime/hosting/ingress/request-metrics.ts';
import { ask2, type IngressRig, startRig } from './ingress-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-rules-'));
let ahead = 0;
let rig: IngressRig;
beforeAll(async () => {
  const now = () => Date.now() + ahead;
  rig = await startRig({ now, accessLog: folder, trustedProxies: ['127.0.0.1'] });
});
afterAll(async () => {
  await rig.end();
  rmSync(folder, { recursive: true });
});

const from = (ip: string, more: Record<string, string> = {}) => ({
  headers: { 'x-forwarded-for': ip, ...more },
});
const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});
const hello: RequestListener = (request, response) =>
  void request.resume().on('end', () => response.end('hello'));

describe('compress', () => {
  const text = 'a line of text that comes again and again\n'.repeat(200);
  const send =
    (headers: Record<string, string>, body = text): RequestListener =>
    (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(body);
  const accept = (encoding: string) => ({ headers: { 'accept-encoding': encoding } });
  const undo = {
    gzip: gunzipSync,
    br: brotliDecompressSync,
    zstd: zstdDecompressSync,
  } as const;

  it.each(['zstd', 'br', 'gzip'] as const)('gives %s to a client that takes it', async (name) => {
    await rig.app(send({ ETag: '"1"', 'Content-Length': String(text.length) }));
    const { headers, body } = await rig.ask('/', accept(`deflate, ${name};q=0.5`));
    expect(undo[name](body).toString()).toBe(text);
    expect(body.length).toBeLessThan(text.length / 4);
    expect(headers).toMatchObject({ 'content-encoding': name, etag: 'W/"1"' });
    expect([headers.vary, headers['content-length']]).toEqual(['Accept-Encoding', undefined]);
  });

  it('prefers zstd to br to gzip, and takes no for an answer', async () => {
    await rig.app(send({ Vary: 'Cookie' }));
    const got = async (encoding: string) =>
      (await rig.ask('/', accept(encoding))).headers['content-encoding'];
    expect(await got('gzip, deflate, br, zstd')).toBe('zstd');
    expect(await got('gzip, br')).toBe('br');
    expect(await got('*, zstd;q=0, br;q=0')).toBe('gzip');
    expect(await got('identity')).toBeUndefined();
    const { headers } = await rig.ask();
    expect(headers.vary).toBe('Cookie, Accept-Encoding');
  });

  it.each([
    ['short ones', { 'Content-Length': '5' }, 'short'],
    ['images', { 'Content-Type': 'image/png' }, text],
    ['what is encoded', { 'Content-Encoding': 'gzip' }, text],
    ['what must not be transformed', { 'Cache-Control': 'public, no-transform' }, text],
    ['parts', { 'Content-Range': 'bytes 0-9/100' }, text],
    ['events', { 'Content-Type': 'text/event-stream' }, text],
  ])('leaves %s as they are', async (_name, headers, body) => {
    await rig.app(send(headers, body));
    const answer = await rig.ask('/', accept('gzip, br, zstd'));
    expect([answer.text, answer.headers['content-encoding']]).toEqual([
      body,
      (headers as Record<string, string>)['Content-Encoding'],
    ]);
  });

  it('leaves everything with compress: false', async () => {
    await rig.app(send({}), { compress: false });
    expect((await rig.ask('/', accept('gzip'))).headers).not.toHaveProperty('vary');
  });

  it('passes on what has come of a stream that pauses, over HTTP/2 too', async () => {
    await rig.app((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).write('{"a":1}\n');
    });
    const session = rig.session();
    const stream = session.request({ ':path': '/', 'accept-encoding': 'gzip' });
    const first = await new Promise<Buffer>((resolve) => stream.once('data', resolve));
    expect(first.length).toBeGreaterThan(10);
    stream.on('error', () => {}).close();
    session.destroy();
  });

  it('is cut off when the app breaks off, so that it does not look whole', async () => {
    await rig.app((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' }).write(text);
      setTimeout(() => response.destroy(), 50);
    });
    await expect(rig.ask('/', { method: 'POST', ...accept('gzip') })).rejects.toThrow();
  });
});

describe('rate_limit', () => {
  it('answers 429 with Retry-After above it, for one client, until time has passed', async () => {
    const rateLimit = { count: 2, window: 10_000, burst: 2, by: 'ip' } as const;
    await rig.app(hello, { rateLimit });
    const ask = async (ip: string) => {
      const { status, headers } = await rig.ask('/', from(ip));
      return [status, headers['retry-after']];
    };
    expect(await ask('192.0.2.1')).toEqual([200, undefined]);
    expect(await ask('192.0.2.1')).toEqual([200, undefined]);
    expect(await ask('192.0.2.1')).toEqual([429, '5']);
    expect(await ask('192.0.2.2')).toEqual([200, undefined]);
    ahead += 5000;
    expect(await ask('192.0.2.1')).toEqual([200, undefined]);
    expect((await ask('192.0.2.1'))[0]).toBe(429);
  });

  it('counts IPv6 by /64, and all clients together by the app', async () => {
    const rule = { count: 1, window: 3_600_000, burst: 1 };
    await rig.app(hello, { rateLimit: { ...rule, by: 'ip' } });
    const status = async (ip: string) => (await rig.ask('/', from(ip))).status;
    expect(await status('2001:db8:1:2::1')).toBe(200);
    expect(await status('2001:db8:1:2:ffff::2')).toBe(429);
    expect(await status('2001:db8:1:3::1')).toBe(200);
    await rig.app(hello, { rateLimit: { ...rule, by: 'app' } });
    expect([await status('192.0.2.8'), await status('192.0.2.9')]).toEqual([200, 429]);
  });

  it('goes on with its counts when the app is deployed again, and not when the rule is another', async () => {
    const rateLimit = { count: 1, window: 3_600_000, burst: 1, by: 'ip' } as const;
    const status = async () => (await rig.ask('/', from('192.0.2.10'))).status;
    await rig.app(hello, { rateLimit });
    expect([await status(), await status()]).toEqual([200, 429]);
    await rig.app(hello, { rateLimit: { ...rateLimit } });
    expect(await status()).toBe(429);
    await rig.app(hello, { rateLimit: { ...rateLimit, count: 2 } });
    expect(await status()).toBe(200);
  });
});

describe('max_body', () => {
  it('answers 413 before the app has seen it all, with and without a length', async () => {
    let seen = 0;
    await rig.app(
      (request, response) => {
        request.on('error', () => {}).on('data', (data: Buffer) => (seen += data.length));
        request.on('end', () => response.end('whole'));
      },
      { maxBody: 1000 },
    );
    const ask = async (body: string, headers: Record<string, string> = {}) =>
      (await rig.ask('/', { method: 'POST', body, headers })).status;
    expect(await ask('x'.repeat(1000))).toBe(200);
    seen = 0;
    expect(await ask('x'.repeat(5_000_000))).toBe(413);
    expect(seen).toBe(0);
    expect(await ask('x'.repeat(5_000_000), { 'transfer-encoding': 'chunked' })).toBe(413);
    expect(seen).toBeLessThanOrEqual(1000);
    const session = rig.session();
    const answer = await ask2(session, '/', { method: 'POST', body: 'x'.repeat(200_000) });
    expect(answer.status).toBe(413);
    session.destroy();
  });
});

describe('basic_auth', () => {
  it('lets in who knows the password, asks everybody else, and keeps it from the app', async () => {
    let seen: IncomingMessage | undefined;
    const hash = await hashPassword('open: sésame');
    await rig.app((request, response) => ((seen = request), response.end('in')), {
      basicAuth: [{ user: 'ann', hash }],
    });
    const ask = (headers = {}) => rig.ask('/', { headers });
    const refused = await ask();
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="app", charset="UTF-8"',
    ]);
    for (const wrong of ['ann:open', 'bob:open: sésame', 'ann'])
      expect((await ask(basic(wrong))).status).toBe(401);
    expect((await ask(basic('ann:open: sésame'))).text).toBe('in');
    expect((await ask(basic('ann:open: sésame'))).text).toBe('in');
    expect(seen?.headers).not.toHaveProperty('authorization');
    await rig.app((request, response) => ((seen = request), response.end('in')));
    await ask(basic('its:own'));
    expect(seen?.headers).toHaveProperty('authorization');
  });

  it('asks a WebSocket too, and many wrong passwords at once leave other requests as they were', async () => {
    const hash = await hashPassword('x');
    await rig.app(hello, { basicAuth: [{ user: 'ann', hash }] });
    const socket = new WebSocket(`ws://127.0.0.1:${rig.http}`, { headers: { host: 'app.test' } });
    const status = await new Promise((resolve) =>
      socket.on('unexpected-response', (_request, answer) => resolve(answer.statusCode)),
    );
    expect(status).toBe(401);
    const guesses = Array.from({ length: 100 }, (_, index) =>
      rig.ask('/', { headers: basic(`ann:${index}`) }).then((answer) => answer.status),
    );
    expect([...new Set(await Promise.all(guesses))].toSorted()).toEqual([401, 429]);
    expect((await rig.ask('/', { headers: basic('ann:x') })).status).toBe(200);
  });
});

describe('maintenance and allow', () => {
  it('show a page to all but some addresses, with the message as text', async () => {
    const maintenance = { message: 'Back at <9>', allow: ['192.0.2.0/28'] };
    await rig.app(hello, { maintenance });
    const page = await rig.ask('/', from('192.0.2.77', { accept: 'text/html' }));
    expect([page.status, page.headers['retry-after']]).toEqual([503, '60']);
    expect(page.text).toContain('Back at &#60;9&#62;');
    expect((await rig.ask('/', from('192.0.2.7'))).text).toBe('hello');
  });

  it('allow refuses others with 403, whatever a client says of itself', async () => {
    await rig.app(hello, { allow: ['192.0.2.0/28', '2001:db8::/32'] });
    const status = async (ip: string) => (await rig.ask('/', from(ip))).status;
    expect(await status('192.0.2.3')).toBe(200);
    expect(await status('2001:db8::9')).toBe(200);
    expect(await status('192.0.2.3, 198.51.100.1')).toBe(403);
    expect((await rig.ask()).status).toBe(403);
  });
});

describe('timeout_s', () => {
  it('gives up on an app that is silent, and not on an event stream', async () => {
    let arrived = 0;
    await rig.app(
      (request, response) => {
        arrived += 1;
        if (request.url === '/events')
          response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
      },
      { timeout: 60_000 },
    );
    const session = rig.session();
    const events = session.request({ ':path': '/events' });
    events.on('error', () => {}).resume();
    const asked = rig.ask();
    await expect.poll(() => arrived).toBe(2);
    ahead += 61_000;
    expect((await asked).status).toBe(504);
    expect([events.closed, events.destroyed]).toEqual([false, false]);
    session.destroy();
  });
});

describe('the access log and the figures', () => {
  it('have a line a request without query and credentials, by status and time, newest first', async () => {
    await rig.app((request, response) => {
      request.resume();
      response.writeHead(request.url?.startsWith('/bad') ? 500 : 200).end('12345');
    });
    await rig.ask('/a?token=secret', { headers: { ...basic('u:p'), 'user-agent': 'me/1' } });
    await rig.ask('/bad', { ...from('192.0.2.1'), method: 'POST', body: 'xyz' });
    const log = async (status?: string, since?: number, limit = 100) => {
      await rig.ingress.flushLog();
      return readAccessLog(folder, { app: 'app', status, since, limit });
    };
    const { requests } = await log(undefined, undefined, 2);
    expect(requests.map(({ path, status, ip, bytes }) => [path, status, ip, bytes])).toEqual([
      ['/bad', 500, '192.0.2.1', 5],
      ['/a', 200, '127.0.0.1', 5],
    ]);
    expect(Object.keys(requests[1]!).join(' ')).toBe(
      'at request_id app ip method host path status bytes ms target user_agent',
    );
    expect(requests[1]).toMatchObject({ method: 'GET', host: 'app.test', user_agent: 'me/1' });
    expect(JSON.stringify(requests)).not.toMatch(/secret|Basic/);
    expect((await log('5xx')).requests[0]?.path).toBe('/bad');
    expect((await log('404')).total).toBe(0);
    expect((await log(undefined, Date.now() + ahead + 60_000)).total).toBe(0);
  });

  it('have no credential of a request that is refused for it', async () => {
    await rig.app((_request, response) => void response.end());
    const refused = [
      await rig.ask('http://user:pass-word@app.test/in/the/url?x=1'),
      await rig.ask('http://user:pass-word@app.test'),
      await rig.ask('/in-the-host', { headers: { host: 'user:pass-word@app.test' } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    await rig.ingress.flushLog();
    const text = readFileSync(join(folder, 'requests.log'), 'utf8');
    expect(text).not.toMatch(/pass-word|user:/);
    const last = text.trim().split('\n').slice(-3);
    expect(last.map((line) => JSON.parse(line)).map(({ host, path }) => [host, path])).toEqual([
      ['app.test', '/in/the/url'],
      ['app.test', '/'],
      ['app.test', '/in-the-host'],
    ]);
  });

  it('have each line once and whole, in order, however many come before one is written', async () => {
    const directory = join(folder, 'many');
    const log = createAccessLog(directory);
    const text = 'à"\u0001\u2028\ud800'.repeat(100);
    const count = 400;
    for (let status = 0; status < count; status += 1)
      log.write({ status, path: text, host: text, user_agent: text } as AccessEntry);
    await log.flush();
    const lines = readFileSync(join(directory, 'requests.log'), 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    const entries = lines.map((line) => JSON.parse(line) as AccessEntry);
    expect(entries.map(({ status }) => status)).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(entries.every(({ path, user_agent }) => path === text && user_agent === text)).toBe(
      true,
    );
  });

  it('keep at most 8 MB of lines for a disk that is slow, and go on when it has taken them', async () => {
    const directory = join(folder, 'slow');
    const log = createAccessLog(directory);
    const write = (status: number) =>
      log.write({ status, path: 'x'.repeat(30_000) } as AccessEntry);
    for (let status = 0; status < 400; status += 1) write(status);
    await log.flush();
    write(1000);
    await log.flush();
    const text = readFileSync(join(directory, 'requests.log'), 'utf8');
    expect(text.length).toBeLessThan(8.5 * 1024 * 1024);
    const entries = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AccessEntry);
    expect(entries.length).toBeGreaterThan(200);
    expect(entries.at(-1)?.status).toBe(1000);
  });

  it('have at most 40 series an app, whatever clients send', async () => {
    await rig.app((request, response) => {
      request.resume();
      response.writeHead(Number(request.url?.slice(1))).end();
    });
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE'])
      for (const status of [200, 201, 204, 302, 400, 404, 418, 500, 503, 599])
        await rig.ask(`/${status}`, { method });
    const { app: figures } = await rig.ingress.figures();
    const text = renderRequestMetrics([{ name: 'app', figures: figures! }]);
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(series.length).toBeLessThanOrEqual(40);
    expect(text).toContain('twofold_http_requests_total{app="app",method="other",code="4xx"}');
    expect(text).toMatch(/_bucket\{app="app",le="\+Inf"\} (\d+)\n.*\n.*_count\{app="app"\} \1\n/);
    expect(text).toContain('twofold_http_requests_in_flight{app="app"} 0');
  });
});
