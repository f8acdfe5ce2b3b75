import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Message } from '../../runtime/core/http/message.ts';
import { takeBody } from '../../runtime/core/http/read-body.ts';

const LIMIT = 40;
const BODY = '{"name":"Zoë 🙂"}';

/** With the class that is read from the parser, and with Node's own, which is read as a stream. */
describe.each([
  ['from the parser', Message],
  ['as a stream', undefined],
])('a body %s', (_, IncomingMessage) => {
  let server: Server;
  let port: number;
  let taken: string[];

  beforeAll(async () => {
    server = createServer(
      { ...(IncomingMessage && { IncomingMessage: IncomingMessage as never }) },
      (request, response) => {
        const answer = (status: number, text: string) => {
          taken.push(`${status} ${text}`);
          response.writeHead(status, ['Content-Length', String(Buffer.byteLength(text))]).end(text);
        };
        takeBody(
          request,
          LIMIT,
          (text) => answer(200, text),
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

  it('that is cut off is no body', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(sized(BODY).slice(0, -4), () => socket.resetAndDestroy());
    await new Promise((resolve) => socket.on('close', resolve));
    expect(await send(1, sized(BODY))).toEqual(['200']);
    expect(taken.filter((each) => each.startsWith('200'))).toEqual([`200 ${BODY}`]);
  });
});
