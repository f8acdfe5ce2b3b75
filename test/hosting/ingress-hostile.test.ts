import { once } from 'node:events';
import { connect, createServer as createPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ingressWithTargets } from './ingress-with-targets.ts';

const { clock, port, sockets, open, target, liar, ask, raw } = ingressWithTargets();

describe('a client that means harm', () => {
  const head = 'Host: app.test\r\nConnection: close\r\n';
  it.each([
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'two lengths',
      `POST / HTTP/1.1\r\n${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
    ],
    ['a list of lengths', `POST / HTTP/1.1\r\n${head}Content-Length: 4, 4\r\n\r\nabcd`],
    [
      'chunks twice',
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a coding that hides chunks',
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'another coding before chunks',
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a space before the colon',
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a folded header', `GET / HTTP/1.1\r\n${head}X: a\r\n Transfer-Encoding: chunked\r\n\r\n`],
    ['a line end of one byte', `GET / HTTP/1.1\r\n${head}X: a\nY: b\r\n\r\n`],
    ['a NUL in a header', `GET / HTTP/1.1\r\n${head}X: a\0b\r\n\r\n`],
    [
      'a chunk of a wrong size',
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n`,
    ],
    ['two hosts', `GET / HTTP/1.1\r\n${head}Host: other.test\r\n\r\n`],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ...[
      'app.test:80@evil.example',
      'user@app.test',
      'app.test:80:80',
      'app.test:99999',
      'app.test:x',
      'app.test/x',
      'app.test, evil.example',
      'app.test evil.example',
      '[::1',
      '[1.2.3.4]',
      '',
    ].map((host): [string, string] => [
      `the host ${JSON.stringify(host)}`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ]),
    ['line ends of one byte only', 'GET / HTTP/1.1\nHost: app.test\nConnection: close\n\n'],
    ['a name and a password', `GET http://a:b@app.test/ HTTP/1.1\r\n${head}\r\n`],
    ['the address of another host', `GET http://other.test/ HTTP/1.1\r\n${head}\r\n`],
    ['the address of a file', `GET file:///etc/passwd HTTP/1.1\r\n${head}\r\n`],
    ['another version in the line', `GET / HTTP/2.0\r\n${head}\r\n`],
    ['a tunnel', `CONNECT app.test:443 HTTP/1.1\r\n${head}\r\n`],
    ['the whole server, not by OPTIONS', `GET * HTTP/1.1\r\n${head}\r\n`],
    ['a space in the path', `GET /a b HTTP/1.1\r\n${head}\r\n`],
  ])('is told 400 for %s, and the target hears nothing of it', async (_, text) => {
    let heard = 0;
    await target((incoming, response) => {
      incoming.on('end', () => (heard += 1)).resume();
      response.end('heard');
    });
    expect(await raw(text)).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toBe(0);
  });

  it.each(['*', 'http://app.test'])('asks the whole server by OPTIONS %s', async (asked) => {
    await target(({ method, url }, response) => void response.end(`${method} ${url}`));
    expect(await raw(`OPTIONS ${asked} HTTP/1.1\r\n${head}\r\n`)).toMatch(/\r\n\r\nOPTIONS \*$/);
  });

  it.each([
    ['/caf\u00e9?q=\u4f60', '/caf%C3%A9?q=%E4%BD%A0'],
    ['/%C3%A9/\u00e9', '/%C3%A9/%C3%A9'],
  ])('has raw UTF-8 in a path passed on percent-encoded: %s', async (path, seen) => {
    const urls: string[] = [];
    let body = '';
    await target((incoming, response) => {
      urls.push(`${incoming.method} ${incoming.url}`);
      incoming.setEncoding('utf8').on('data', (data) => (body += data));
      incoming.on('end', () => response.end(incoming.headers['x-forwarded-for']));
    });
    const bytes = Buffer.from(path, 'utf8').toString('latin1');
    expect(await raw(`GET ${bytes} HTTP/1.1\r\n${head}\r\n`)).toMatch(/\r\n\r\n127\.0\.0\.1$/);
    const post = `POST ${bytes} HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello`;
    expect(await raw(post)).toMatch(/^HTTP\/1\.1 200/);
    // Also as a later request of a connection, with another behind it.
    const plain = 'GET /plain HTTP/1.1\r\nHost: app.test\r\n\r\n';
    const socket = connect(port(), '127.0.0.1', () => socket.write(plain));
    sockets.add(socket.on('error', () => {}));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write(`GET ${bytes} HTTP/1.1\r\nHost: app.test\r\n\r\n${plain}`, 'latin1');
    await expect.poll(() => urls.length).toBe(5);
    expect(urls).toEqual([
      `GET ${seen}`,
      `POST ${seen}`,
      'GET /plain',
      `GET ${seen}`,
      'GET /plain',
    ]);
    expect(body).toBe('hello');
  });

  it.each([
    ['bytes that are no UTF-8', 'GET /\xe9 HTTP/1.1\r\n'],
    ['a control byte beside UTF-8', 'GET /\xc3\xa9\x01 HTTP/1.1\r\n'],
    ['UTF-8 in the method', 'G\xc3\xa9T / HTTP/1.1\r\n'],
    [
      'two lengths behind UTF-8',
      'POST /\xc3\xa9 HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n',
    ],
  ])('is told 400 for %s', async (_, first) => {
    let heard = 0;
    await target((incoming, response) => void ((heard += 1), response.end(incoming.url)));
    expect(await raw(`${first}${head}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toBe(0);
  });

  it('is served by a whole address of the host itself', async () => {
    await target((incoming, response) => response.end(incoming.url));
    expect(await raw(`GET http://app.test/a?b=1 HTTP/1.1\r\n${head}\r\n`)).toMatch(
      /\r\n\r\n\/a\?b=1$/,
    );
  });

  it("gets no tunnel but a WebSocket's, and none that the target has not agreed to", async () => {
    const heard: string[] = [];
    await liar((asked) => {
      heard.push(asked);
      return asked.includes('Upgrade: websocket')
        ? 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 3\r\n\r\nno!'
        : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    });
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n';
    const upgrade = (protocol: string) =>
      raw(
        `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n${hidden}`,
        2500,
      );
    expect(await upgrade('websocket')).toMatch(/^HTTP\/1\.1 426 [^]*Connection: close\r\n\r\nno!$/);
    expect(heard.join('')).not.toContain('6.6.6.6');
    expect(heard).toHaveLength(1);
    heard.length = 0;
    expect(await upgrade('h2c')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok/);
    expect(heard.join('')).not.toMatch(/6\.6\.6\.6|upgrade/i);
  });

  it.each([
    ['by a page', 'other.test', /^HTTP\/1\.1 404 /],
    ['by the app', 'app.test', /^HTTP\/1\.1 426 /],
  ])('cannot hold a connection whose WebSocket was refused %s', async (_by, host, status) => {
    await liar(() => 'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 3\r\n\r\nno!');
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(socket);
    let answer = '';
    socket.on('data', (data) => (answer += String(data))).on('error', () => {});
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'end');
    expect(answer).toMatch(status);
    // Only a reset says that the other side has gone, since this one stays open.
    const broken = new Promise((resolve) => socket.once('close', () => resolve('closed')));
    const writes = setInterval(() => socket.write('x'), 100);
    expect(await Promise.race([broken, sleep(5000)])).toBe('closed');
    clearInterval(writes);
  });

  it('that sends its body without end is not read faster than the target reads', async () => {
    let paused: Socket | undefined;
    await open(createPlain((socket) => void (paused = socket.pause())));
    const socket = connect(port(), '127.0.0.1');
    sockets.add(socket.on('error', () => {}));
    socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10000000000\r\n\r\n');
    let sent = 0;
    const chunk = Buffer.alloc(256 * 1024);
    for (let turn = 0; turn < 400; turn += 1) {
      if (socket.writableNeedDrain)
        await Promise.race([
          new Promise((resolve) => socket.once('drain', resolve)),
          new Promise((resolve) => setTimeout(resolve, 1000)),
        ]);
      if (socket.writableNeedDrain) break;
      socket.write(chunk);
      sent += chunk.length;
    }
    expect(paused).toBeDefined();
    expect(sent).toBeLessThan(60_000_000);
  });
});

describe('a target that means harm', () => {
  it.each([
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
    ['no HTTP', 'hello\r\n\r\n'],
    ['a control byte in its reason', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 20\r\n\r\nshort'],
    ['line ends of one byte', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-Len'],
    [
      'a header that would become two',
      'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nok',
    ],
    [
      'bytes that no header may hold',
      'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['a head without end', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`],
    [
      'a protocol that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n',
    ],
  ])('and answers with %s is answered for with 502', async (_, answer) => {
    await liar(() => answer);
    expect(await ask({ method: 'POST', body: 'x' })).toMatchObject({ status: 502 });
    expect(await ask()).toMatchObject({ status: 502 });
  });

  it('cannot put an answer of its own in place of the next one', async () => {
    let turn = 0;
    await liar(
      () =>
        `HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${(turn += 1)}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`,
    );
    for (let index = 1; index <= 5; index += 1) expect((await ask()).text).toBe(String(index));
  });

  it('cannot poison a connection that waits', async () => {
    await liar((_, socket) => {
      setTimeout(
        () =>
          socket.destroyed || socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'),
        20,
      );
      return 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood';
    });
    for (let index = 0; index < 5; index += 1) {
      expect((await ask()).text).toBe('good');
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  });

  it("cannot end an answer early without its reader's seeing it", async () => {
    let length = 100;
    await liar((_, socket) => {
      setTimeout(() => socket.destroy(), 30);
      return `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\nhalf`;
    });
    expect((await ask()).status).toBe(502);
    await expect(ask({ method: 'POST', body: 'x' })).rejects.toThrow();
    length = 100_000;
    await expect(ask()).rejects.toThrow();
  });

  it('that never answers is given up on', async () => {
    let heard = false;
    await liar(() => ((heard = true), null));
    const asked = ask();
    await expect.poll(() => heard, { timeout: 10_000 }).toBe(true);
    clock.ahead = 301_000;
    expect((await asked).status).toBe(504);
  });

  it("that answers before it has heard everything is heard, and the client's connection goes on", async () => {
    await liar((asked) =>
      asked.startsWith('POST') ? 'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig' : null,
    );
    expect(await ask({ method: 'POST', body: 'x'.repeat(5_000_000) })).toMatchObject({
      status: 413,
      text: 'big',
    });
  });

  it('that writes without end is not read faster than the client reads', async () => {
    let written = 0;
    await target((_, response) => {
      response.writeHead(200);
      const write = () => {
        for (let more = true; more && written < 300_000_000; written += 65_536)
          more = response.write(Buffer.alloc(65_536));
        response.once('drain', write);
      };
      write();
    });
    const socket = connect(port(), '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n'),
    );
    sockets.add(socket.on('error', () => {}).pause());
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(60_000_000);
  });
});

describe('connections to a target', () => {
  it('are used again, but not for what cannot be sent twice when they have been idle', async () => {
    const seen: Socket[] = [];
    await target((incoming, response) => {
      seen.push(incoming.socket);
      response.end('ok');
    });
    clock.stopped = Date.now();
    await ask();
    await ask();
    await ask({ method: 'POST', body: 'x' });
    expect(new Set(seen).size).toBe(1);
    clock.ahead += 1500;
    await ask();
    clock.ahead += 1500;
    await ask({ method: 'POST', body: 'x' });
    expect(new Set(seen).size).toBe(2);
  });

  it('carry a body whose length is not known in chunks of our own, and one that is known as it is', async () => {
    const heads: string[] = [];
    let body = '';
    await liar((asked) => {
      heads.push(asked.slice(0, asked.indexOf('\r\n\r\n') + 4));
      body += asked.slice(asked.indexOf('\r\n\r\n') + 4);
      return body.endsWith('0\r\n\r\n') ? 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' : null;
    });
    await raw(
      'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nConnection: close\r\n\r\n2;ext=1\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n',
    );
    expect(heads[0]).toMatch(
      /^POST \/ HTTP\/1\.1\r\nHost: app\.test\r\nX-Forwarded-For: 127\.0\.0\.1\r\n[^]*Transfer-Encoding: chunked\r\n\r\n$/,
    );
    expect(`${heads.slice(1).join('')}${body}`).not.toMatch(/ext|X: y/);
    expect(body).toMatch(/ab[^]*c[^]*0\r\n\r\n$/);
  });
});
