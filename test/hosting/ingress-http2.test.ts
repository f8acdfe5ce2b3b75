import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { constants } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask2, type IngressRig, startRig } from './ingress-client.ts';

let rig: IngressRig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.end());

describe('HTTP/2 at the ingress', () => {
  it('is agreed on by ALPN, and gives the app one request of HTTP/1.1 each', async () => {
    let seen: IncomingMessage | undefined;
    await rig.app((request, response) => {
      seen = request;
      response.writeHead(201, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Bytes': 'caf\xc3\xa9' });
      request.pipe(response);
    });
    const session = rig.session();
    const answer = await ask2(session, '/x?y=1', {
      method: 'POST',
      headers: { cookie: ['a=1', 'b=2'], 'x-forwarded-for': '6.6.6.6', 'x-own': 'kept' },
      body: 'hello',
    });
    expect([answer.status, answer.text, answer.code]).toEqual([201, 'hello', 0]);
    expect([answer.headers['set-cookie'], answer.headers['x-bytes']]).toEqual([
      ['a=1', 'b=2'],
      'caf\xc3\xa9',
    ]);
    expect(seen).toMatchObject({ url: '/x?y=1', httpVersion: '1.1' });
    expect(seen?.headers).toMatchObject({
      host: `app.test:${rig.https}`,
      cookie: 'a=1; b=2',
      'x-own': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
    });
    session.close();
  });

  it('takes a path in raw UTF-8, and passes it on percent-encoded', async () => {
    await rig.app((request, response) => void response.end(request.url));
    const session = rig.session();
    // Node writes each character of a header as one byte.
    const raw = (path: string) => Buffer.from(path).toString('latin1');
    const answer = await ask2(session, raw('/caf\u00e9/\u{1f600}?q=\u00fc&r=%41'));
    expect([answer.status, answer.text]).toEqual([200, '/caf%C3%A9/%F0%9F%98%80?q=%C3%BC&r=%41']);
    // Bytes that are no UTF-8 are refused.
    expect((await ask2(session, '/caf\xe9')).status).toBe(400);
    session.close();
  });

  it('carries many requests at once, and a body of any size both ways', async () => {
    await rig.app((request, response) => void request.pipe(response));
    const session = rig.session();
    const body = 'x'.repeat(700_000);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask2(session, '/', { method: 'PUT', body })),
    );
    expect(answers.map(({ status, text, code }) => [status, text.length, code])).toEqual(
      answers.map(() => [200, body.length, 0]),
    );
    session.close();
  });

  it('passes trailers both ways', async () => {
    let trailers: IncomingMessage['trailers'] = {};
    await rig.app((request, response) => {
      request.resume().on('end', () => {
        trailers = request.trailers;
        response.writeHead(200, { Trailer: 'Grpc-Status' }).write('ok');
        response.addTrailers({ 'Grpc-Status': '0', Location: '/no' });
        response.end();
      });
    });
    const session = rig.session();
    const stream = session.request({ ':path': '/', ':method': 'POST', te: 'trailers' }, {
      endStream: false,
      waitForTrailers: true,
    } as never);
    stream.on('wantTrailers', () =>
      stream.sendTrailers({ 'x-sum': '42', 'x-forwarded-for': '6.6.6.6' }),
    );
    const ended = once(stream, 'trailers');
    stream.resume().end('body');
    expect((await ended)[0]).toMatchObject({ 'grpc-status': '0' });
    expect((await ended)[0]).not.toHaveProperty('location');
    expect(trailers).toEqual({ 'x-sum': '42' });
    session.close();
  });

  it('ends the request at the app when its stream is reset, and a body that was cut is not whole there', async () => {
    const gone: string[] = [];
    let arrived = '';
    await rig.app((request, response) => {
      request.on('error', () => {}).on('end', () => gone.push('whole'));
      request.setEncoding('utf8').on('data', (text) => (arrived += text));
      response.on('close', () => gone.push(`closed ${response.writableEnded}`));
    });
    const session = rig.session();
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => {}).write('half');
    await expect.poll(() => arrived).toBe('half');
    // Node's client would send the end of the body before the reset.
    Object.assign(stream, { _final: (done: () => void) => done() });
    stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => gone).toContain('closed false');
    expect(gone).not.toContain('whole');
    session.close();
  });

  it('resets a stream whose app breaks off, so that what came does not look whole', async () => {
    await rig.app((request, response) => {
      const head = request.url === '/sized' ? { 'Content-Length': 200_000 } : {};
      response.writeHead(200, head).write('x'.repeat(100_000));
      setTimeout(() => response.destroy(), 50);
    });
    const session = rig.session();
    for (const path of ['/sized', '/chunked']) {
      const answer = await ask2(session, path, { method: 'POST' });
      expect([path, answer.status, answer.code]).toEqual([path, 200, 2]);
    }
    session.close();
  });

  it('gives events out as they come, and interim answers before the answer', async () => {
    await rig.app((_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const session = rig.session();
    const stream = session.request({ ':path': '/events' });
    const hints = once(stream, 'headers');
    const [first] = await once(stream.setEncoding('utf8'), 'data');
    expect([first, (await hints)[0].link]).toEqual(['data: 1\n\n', '</a.css>; rel=preload']);
    stream.on('error', () => {}).close();
    session.destroy();
  });

  it('refuses two hosts in one request, and a host that no app has', async () => {
    await rig.app((_request, response) => void response.end('no'));
    const session = rig.session();
    const asked = (headers: Record<string, string>) =>
      ask2(session, '/', { headers }).then(({ status }) => status);
    expect(await asked({ ':authority': 'app.test', host: 'other.test' })).toBe(400);
    expect(await asked({ ':authority': 'other.test' })).toBe(404);
    // nghttp2 resets it before it becomes a request.
    expect(await asked({ ':authority': 'app.test@evil.test' })).toBe(0);
    session.close();
  });

  it('leaves WebSockets and old clients with HTTP/1.1, and all of them with http2: false', async () => {
    const server = createServer().on('upgrade', (_request, socket) =>
      socket.end('HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi'),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const targets = [{ id: 'ws', host: '127.0.0.1', port }];
    rig.ingress.set({ appId: 'app', hosts: ['app.test'], state: 'serving', targets });
    const socket = tls(rig.https, ['http/1.1']);
    socket.write(
      'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const text = (await Array.fromAsync(socket.setEncoding('utf8'))).join('');
    expect(text).toMatch(/^HTTP\/1\.1 101[\s\S]*\r\n\r\nhi$/);
    server.close();

    const plain = await startRig({ http2: false });
    const other = tls(plain.https, ['h2', 'http/1.1']);
    await once(other, 'secureConnect');
    expect(other.alpnProtocol).toBe('http/1.1');
    other.destroy();
    await plain.end();
  });

  it('asks its clients to go when another process takes over, and finishes what they have asked', async () => {
    const old = await startRig();
    await old.app((_request, response) => void setTimeout(() => response.end('late'), 1500));
    const session = old.session();
    const asked = ask2(session, '/');
    await once(session, 'remoteSettings');
    const goodbye = once(session, 'goaway');
    const closed = once(session, 'close');
    old.ingress.release();
    expect((await goodbye)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    // A request that was on its way when the client was told is answered too.
    expect(await asked).toMatchObject({ status: 200, text: 'late', code: 0 });
    await closed;
    await old.end();
  });
});

const tls = (port: number, ALPNProtocols: string[]): TLSSocket =>
  connect({
    ...{ port, host: '127.0.0.1', servername: 'app.test', ALPNProtocols },
    rejectUnauthorized: false,
  });
