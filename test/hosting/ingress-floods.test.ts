import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { constants, connect, type ClientHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask2, selfSigned } from './ingress-client.ts';

const MIB = 1024 * 1024;
/** What a flood may cost, by the contract. */
const MAX_GROWTH = 64 * MIB;

/** An ingress in a process of its own, whose memory can be read from outside. */
let child: ChildProcess;
let https = 0;
const folder = mkdtempSync(join(tmpdir(), 'tf-floods-'));
let asked = 0;
const app = createServer((request, response) => {
  asked += 1;
  if (request.url === '/fine') response.end('fine');
});

beforeAll(async () => {
  await once(app.listen(0, '127.0.0.1'), 'listening');
  const { port } = app.address() as AddressInfo;
  const module = new URL('../../runtime/hosting/ingress/ingress.ts', import.meta.url);
  const file = join(folder, 'ingress.mjs');
  writeFileSync(
    file,
    `import { createIngress } from ${JSON.stringify(fileURLToPath(module))};
const ingress = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now });
ingress.certify('app.test', ${JSON.stringify(selfSigned('app.test'))});
const targets = [{ id: 'x', host: '127.0.0.1', port: ${port} }];
ingress.set({ appId: 'a', name: 'a', hosts: ['app.test'], state: 'serving', targets });
process.send((await ingress.listen()).https);`,
  );
  child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  [https] = (await once(child, 'message')) as [number];
  await fine();
});
afterAll(() => {
  child.kill('SIGKILL');
  app.closeAllConnections();
  app.close();
  rmSync(folder, { recursive: true });
});

const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;

const open = (): ClientHttp2Session =>
  connect(`https://127.0.0.1:${https}`, {
    ...{ servername: 'app.test', rejectUnauthorized: false, maxSessionMemory: 200 },
  }).on('error', () => {});

const fine = async () => {
  const session = open();
  const { status, text } = await ask2(session, '/fine', { headers: { ':authority': 'app.test' } });
  session.close();
  return [status, text];
};

/** The bytes of a frame (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A connection that speaks HTTP/2 by hand. */
async function rawSession(): Promise<TLSSocket> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port: https, servername: 'app.test' },
    ...{ ALPNProtocols: ['h2'], rejectUnauthorized: false },
  });
  socket.on('error', () => {}).resume();
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(4, 0, 0));
  return socket;
}

/** Writes until all is written or the ingress ends it. @returns whether the ingress has ended it. */
async function flood(
  socket: TLSSocket,
  pieces: Iterable<Buffer>,
  patience = 8000,
): Promise<boolean> {
  let ended = false;
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  void closed.then(() => (ended = true));
  const drained = () => new Promise<void>((resolve) => socket.once('drain', () => resolve()));
  for (const piece of pieces) {
    if (ended) break;
    if (!socket.write(piece)) await Promise.race([drained(), closed]);
  }
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, patience))]);
  const result = ended;
  socket.destroy();
  return result;
}

/** `GET /slow` for app.test in literal fields without an index (RFC 7541 §6.2.2). */
const literal = (name: string, value: string) =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
const HEAD = Buffer.concat([
  ...[literal(':method', 'GET'), literal(':path', '/slow')],
  ...[literal(':scheme', 'https'), literal(':authority', 'app.test')],
]);

describe('a client that floods', () => {
  it('with requests that it resets at once is closed, costs at most 64 MiB, and each ends at the app', async () => {
    const before = memory();
    function* resets() {
      for (let stream = 1; stream < 16_001; stream += 2)
        yield Buffer.concat([
          frame(1, 0x5, stream, HEAD),
          frame(3, 0, stream, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])),
        ]);
    }
    const ended = await Promise.all(
      [1, 2, 3, 4].map(async () => flood(await rawSession(), resets())),
    );
    expect(await fine()).toEqual([200, 'fine']);
    expect(memory() - before).toBeLessThan(MAX_GROWTH);
    expect(ended).toEqual([true, true, true, true]);
    expect(asked).toBeLessThan(4000);
    await expect.poll(() => connectionsOf(app), { timeout: 10_000 }).toBeLessThan(20);
  });

  it('with a head without end, or with heads of many fields, is closed', async () => {
    const before = memory();
    const more = literal('x-a', 'b'.repeat(100));
    function* continuations() {
      yield frame(1, 0x1, 1, HEAD);
      for (let turn = 0; turn < 2000; turn += 1)
        yield frame(9, 0, 1, Buffer.concat(Array(100).fill(more)));
    }
    expect(await flood(await rawSession(), continuations())).toBe(true);
    // One field is put into the table of the decoder, and then named by a byte each (a bomb of HPACK).
    const bomb = Buffer.concat([
      HEAD,
      Buffer.from([0x40, 3]),
      Buffer.from('x-b'),
      Buffer.from([0x7f, 0xa1, 0x1e]),
      Buffer.alloc(4000, 'b'),
      Buffer.alloc(12_000, 0xbe),
    ]);
    function* bombs() {
      for (let stream = 1; stream < 401; stream += 2)
        yield frame(1, 0x5, stream, bomb.subarray(0, 16_384));
    }
    await flood(await rawSession(), bombs(), 300);
    expect(await fine()).toEqual([200, 'fine']);
    expect(memory() - before).toBeLessThan(MAX_GROWTH);
  });

  it('with settings, pings and empty frames is closed, or costs nothing', async () => {
    const before = memory();
    const kinds = [frame(4, 0, 0), frame(6, 0, 0, Buffer.alloc(8))];
    for (const kind of kinds) {
      function* many() {
        const piece = Buffer.concat(Array(100).fill(kind));
        for (let turn = 0; turn < 2000; turn += 1) yield piece;
      }
      await flood(await rawSession(), many(), 300);
    }
    expect(await fine()).toEqual([200, 'fine']);
    expect(memory() - before).toBeLessThan(MAX_GROWTH);
  });
});

const connectionsOf = (server: typeof app) =>
  new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
