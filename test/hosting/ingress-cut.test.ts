import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';

let ingress: Ingress;
let port: number;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeAll(async () => {
  ingress = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now, hold: 400 });
  port = (await ingress.listen()).http as number;
});
afterAll(() => ingress.close(1000));
afterEach(() => {
  ingress.remove('app');
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A target that does what it likes with each request that it gets, whose head is read. */
async function target(answer: (socket: Socket, asked: string) => void) {
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay().on('error', () => {}));
    socket.on(
      'data',
      (data) =>
        /^[A-Z]+ \//.test(data.toString('latin1')) && answer(socket, data.toString('latin1')),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: at } = server.address() as AddressInfo;
  return { id: `t-${at}`, host: '127.0.0.1', port: at };
}
const serve = (...targets: Awaited<ReturnType<typeof target>>[]) =>
  ingress.set({ appId: 'app', hosts: ['app.test'], state: 'serving', targets });

const head = (length: number, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n${more}\r\n`;
const whole = (body: Buffer | string) => (socket: Socket) =>
  void (socket.write(head(body.length)), socket.write(body));
/** It says this much, waits until that has surely been read, and dies. */
const dies = (...parts: (Buffer | string)[]) => {
  const seen = { asked: 0 };
  const answer = async (socket: Socket) => {
    seen.asked += 1;
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    socket.resetAndDestroy();
  };
  return { seen, answer };
};

/** Begins a request; `answer` is there with its head. */
function begin({ method = 'GET', body = '' } = {}): {
  sent: ClientRequest;
  answer: Promise<IncomingMessage>;
} {
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    agent: false,
    headers: { host: 'app.test', ...(body && { 'content-length': body.length }) },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  );
  sent.end(body);
  return { sent, answer };
}

async function ask(
  options?: Parameters<typeof begin>[0],
): Promise<{ status: number; body: Buffer }> {
  const answer = await begin(options).answer;
  return {
    status: answer.statusCode ?? 0,
    body: Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)),
  };
}

describe('an answer that is cut off', () => {
  const long = Buffer.alloc(200_000, 'long ');
  it.each([
    ['behind its head', [head(5)], 'whole'],
    ['in the middle of a short body', [head(5), 'ha'], 'whole'],
    [
      'with a short body in many pieces',
      [head(60_000), long.subarray(0, 20_000), long.subarray(0, 39_999)],
      'whole',
    ],
    ['behind the head of a long body', [head(long.length)], long],
  ])(
    '%s is given whole by another target, and the client sees nothing of it',
    async (_, parts, body) => {
      const { seen, answer } = dies(...parts);
      serve(await target(answer), await target(whole(body)));
      for (let turn = 0; turn < 20 && seen.asked < 2; turn += 1) {
        const got = await ask();
        expect([got.status, got.body.equals(Buffer.from(body))]).toEqual([200, true]);
        // One that has failed is left alone for a second.
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      expect(seen.asked).toBe(2);
    },
  );

  it('in the middle of a long body is cut off for the client too', async () => {
    const { answer } = dies(head(long.length), long.subarray(0, 100_000));
    serve(await target(answer));
    await expect(ask()).rejects.toThrow(/aborted|ECONNRESET|hang up/);
  });

  it('is cut off for the client too when it cannot be asked for twice, with its head at once', async () => {
    let first: Socket | undefined;
    const served: string[] = [];
    serve(
      await target(
        (socket, asked) => (served.push(asked), (first = socket), void socket.write(head(5))),
      ),
      await target(
        (socket, asked) => (served.push(asked), (first = socket), void socket.write(head(5))),
      ),
    );
    const answer = await begin({ method: 'POST', body: 'pay' }).answer;
    expect(answer.statusCode).toBe(200);
    first?.resetAndDestroy();
    await expect(Array.fromAsync(answer)).rejects.toThrow(/aborted|ECONNRESET/);
    expect(served).toHaveLength(1);
  });

  it('is given by another target also when we are so late that it seems to take its time', async () => {
    const dying: Socket[] = [];
    const held = await target((socket) => void (socket.write(head(5)), dying.push(socket)));
    const fine = await target(whole('whole'));
    serve(held);
    const asked = ask();
    await expect.poll(() => dying.length, { timeout: 10_000 }).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    serve(held, fine);
    // The end is there before the clock is looked at, and is read after it.
    setImmediate(() => {
      dying[0]?.resetAndDestroy();
      for (const until = Date.now() + 2500; Date.now() < until;);
    });
    expect((await asked).body.toString()).toBe('whole');
  });

  it('by every target is answered for with 502, after three', async () => {
    const { seen, answer } = dies(head(5), 'ha');
    serve(await target(answer));
    expect((await ask()).status).toBe(502);
    expect(seen.asked).toBe(3);
  });
});

describe('an answer that takes its time', () => {
  it.each([
    ['has its head passed on before its body comes', '', 'hello'],
    ['has the beginning of its body passed on before the rest comes', 'he', 'llo'],
  ])('%s', async (_, before, after) => {
    let socket: Socket | undefined;
    serve(await target((given) => ((socket = given), void given.write(head(5) + before))));
    const answer = await begin().answer;
    expect(answer.statusCode).toBe(200);
    let text = '';
    answer.setEncoding('utf8').on('data', (data: string) => (text += data));
    await expect.poll(() => text, { timeout: 10_000 }).toBe(before);
    socket?.write(after);
    await expect.poll(() => [text, answer.complete], { timeout: 10_000 }).toEqual(['hello', true]);
  });

  it('and has no length has its head passed on at once', async () => {
    let socket: Socket | undefined;
    serve(
      await target(
        (given) => (
          (socket = given),
          void given.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
        ),
      ),
    );
    const answer = await begin().answer;
    expect(answer.headers['content-type']).toBe('text/event-stream');
    socket?.end('data: 1\n\n');
    expect(Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString()).toBe(
      'data: 1\n\n',
    );
  });

  it('ends at its target when the client goes away', async () => {
    let gone = false;
    let asked = false;
    serve(
      await target(
        (socket) => (
          socket.write(head(5) + 'he'),
          socket.once('close', () => (gone = true)),
          void (asked = true)
        ),
      ),
    );
    const { sent, answer } = begin();
    answer.catch(() => {});
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(true);
    sent.destroy();
    await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
  });
});

it('answers of any length come whole, in whatever pieces, and so does the next on the same connection', async () => {
  const connections = new Set<Socket>();
  let body = Buffer.alloc(0);
  let cut = 1;
  serve(
    await target(async (socket) => {
      connections.add(socket);
      const [bytes, size] = [Buffer.concat([Buffer.from(head(body.length)), body]), cut];
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  for (const length of [0, 1, 4095, 4096, 4097, 65_535, 65_536, 65_537, 300_000]) {
    for (const pieces of [1, 2, 7, 40]) {
      body = Buffer.from(Array.from({ length }, (_, index) => (index * 7 + length) % 251));
      cut = Math.ceil((length + 60) / pieces);
      const got = await ask();
      expect([length, pieces, got.status, got.body.equals(body)]).toEqual([
        length,
        pieces,
        200,
        true,
      ]);
    }
  }
  expect(connections.size).toBe(1);
});

it.each([
  ['HEAD', 'HEAD', head(5)],
  ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
])('an answer to %s has no body to wait for', async (_, method, text) => {
  serve(await target((socket) => void socket.write(text)));
  expect((await ask({ method })).body.length).toBe(0);
});

describe('a page of the ingress', () => {
  it('ends its connection without a wait when the request has no body', async () => {
    const ended: string[] = [];
    const send = (name: string, fields: string) =>
      new Promise<void>((resolve) => {
        const client = connect(port, '127.0.0.1').resume();
        client.write(`POST / HTTP/1.1\r\nHost: nobody.test\r\n${fields}\r\n`);
        client.on('close', () => (ended.push(name), resolve()));
      });
    // Its body never comes, and is waited for for a second.
    const late = send('late body', 'Content-Length: 5\r\n');
    await wait(250);
    await Promise.all([late, send('no body', '')]);
    expect(ended).toEqual(['no body', 'late body']);
  });
});
