import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { Incoming } from '../../runtime/core/http/incoming.ts';
import { readBody } from '../../runtime/core/http/read-body.ts';

const LIMIT = 40;
const BODY = '{"name":"Zoë 🙂"}';

/** Waits as sign-in does that asks a database: some of the body arrives before it is read, or all of it. */
const LATER = async () => pause(30);

/** With the class that is read from the parser, and with Node's own, which is read as a stream; read at once, and later. */
describe.each([
  ['from the parser', Incoming, undefined],
  ['from the parser, late', Incoming, LATER],
  ['as a stream', undefined, undefined],
  ['as a stream, late', undefined, LATER],
  ['as a stream of the class', Incoming, streamed],
])('a body %s', (_, Incomings, before) => {
  let server: Server;
  let port: number;
  let taken: string[];

  beforeAll(async () => {
    server = createServer(
      { ...(Incomings && { IncomingMessage: Incomings as never }) },
      async (request, response) => {
        const answer = (status: number, text: string) => {
          taken.push(`${status} ${text}`);
          response.writeHead(status, ['Content-Length', String(Buffer.byteLength(text))]).end(text);
        };
        const read = (await before?.(request)) ?? (() => readBody(request, LIMIT));
        await read().then(
          (body) => answer(200, body),
          (error) => answer(error.status, ''),
        );
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  beforeEach(() => void (taken = []));

  const sized = (body: string) =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const chunked = (...chunks: string[]) =>
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${[...chunks, ''].map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')}`;

  /** Sends pieces, each alone, until `answers` were given. */
  async function send(answers: number, ...pieces: readonly (string | Buffer)[]): Promise<string[]> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let text = '';
    const done = new Promise<void>((resolve, reject) => {
      socket.on('data', (data) => {
        text += String(data);
        if (text.split('HTTP/1.1 ').length > answers && taken.length >= answers) resolve();
      });
      socket.on('error', reject).on('close', resolve);
    });
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await done;
    socket.destroy();
    return text
      .split('HTTP/1.1 ')
      .slice(1)
      .map((answer) => answer.slice(0, 3));
  }

  it('comes whole with its head, alone, byte by byte, and in chunks', async () => {
    const bytes = Buffer.from(sized(BODY));
    const head = bytes.indexOf('{');
    expect(await send(1, bytes)).toEqual(['200']);
    expect(await send(1, bytes.subarray(0, head), bytes.subarray(head))).toEqual(['200']);
    // Within a letter of several bytes.
    expect(
      await send(
        1,
        ...[0, head + 12, head + 13, head + 17].map((at, index, all) =>
          bytes.subarray(at, all[index + 1]),
        ),
      ),
    ).toEqual(['200']);
    expect(await send(1, chunked(BODY.slice(0, 5), BODY.slice(5)))).toEqual(['200']);
    expect(taken).toEqual(Array.from({ length: 4 }, () => `200 ${BODY}`));
  });

  it('may be none', async () => {
    expect(await send(2, `${sized('')}POST / HTTP/1.1\r\nHost: x\r\n\r\n`)).toEqual(['200', '200']);
    expect(taken).toEqual(['200 ', '200 ']);
  });

  it('is the body of its own request when several come in one piece', async () => {
    expect(await send(3, sized('one') + chunked('tw', 'o') + sized('three'))).toEqual([
      '200',
      '200',
      '200',
    ]);
    expect(taken).toEqual(['200 one', '200 two', '200 three']);
  });

  it('that is too long is refused once, and what comes after it is answered', async () => {
    const long = 'x'.repeat(LIMIT);
    expect(await send(2, sized(`${long}x`) + sized('next'))).toEqual(['413', '200']);
    expect(await send(2, chunked(long, 'y', 'z'), sized('next'))).toEqual(['413', '200']);
    expect(await send(1, sized(long))).toEqual(['200']);
    expect(taken).toEqual(['413 ', '200 next', '413 ', '200 next', `200 ${long}`]);
  });

  it('that is cut off is refused, so that what waits for it goes on', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(sized(BODY).slice(0, -4));
    await pause(60);
    socket.resetAndDestroy();
    await expect.poll(() => taken).toEqual(['400 ']);
    expect(await send(1, sized(BODY))).toEqual(['200']);
    expect(taken.filter((each) => each.startsWith('200'))).toEqual([`200 ${BODY}`]);
  });
});

/** Reads as code of the user's may: by the stream's own iterator. */
async function streamed(request: IncomingMessage): Promise<() => Promise<string>> {
  await pause(10);
  return async () => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) chunks.push(chunk);
    } catch {
      throw Object.assign(new Error('cut off'), { status: 400 });
    }
    const body = Buffer.concat(chunks);
    if (body.length > LIMIT) throw Object.assign(new Error('too long'), { status: 413 });
    return body.toString();
  };
}

describe('a body that is not read yet', () => {
  it('is held up to the high-water mark, and the rest stays with the client', async () => {
    const { promise, resolve } = Promise.withResolvers<Incoming>();
    const server = createServer({ IncomingMessage: Incoming as never }, (request, response) => {
      resolve(request as Incoming);
      response.on('close', () => {});
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const size = 20_000_000;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    const request = await promise;
    await pause(200);
    expect(request.socket.isPaused()).toBe(true);
    expect(request.socket.bytesRead).toBeLessThan(1_000_000);
    expect((await readBody(request, size)).length).toBe(size);
    socket.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  it('is thrown away when the answer does without it, and the connection goes on', async () => {
    const server = createServer({ IncomingMessage: Incoming as never }, (_, response) =>
      response.end('ok'),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const size of [10, 3_000_000]) {
      const response = await fetch(url, { method: 'POST', body: 'x'.repeat(size) });
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
    }
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
});
