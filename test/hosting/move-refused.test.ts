import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HostingServer } from '../../generator/deploy/hosting-server.ts';
import { moveApp } from '../../generator/deploy/move-app.ts';
import { createMoveServer, type MoveServer } from '../../generator/deploy/move-server.ts';
import { bytesOf } from '../../runtime/core/http/index.ts';

const REASON = 'The target vault is not here';
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    for await (const _ of bytesOf(request)) break;
    response.writeHead(422, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: REASON }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const targetServer = () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createMoveServer({ url, credentials: {} } as HostingServer, 'm'.repeat(32));
};

it('a move that is refused while its stream is sent says why, and not that the server is away', async () => {
  const target = targetServer();
  for (let time = 0; time < 20; time += 1) {
    const { sent, answer } = target.part(1, 'key');
    const refused = expect(answer).rejects.toMatchObject({ status: 422, message: REASON });
    const sending = setInterval(() => sent.destroyed || sent.write(Buffer.alloc(1024 * 1024)), 1);
    await refused.finally(() => clearInterval(sending));
    sent.destroy();
  }
});

it('a move that is refused takes no more from the old server, which would stop the app at the end', async () => {
  let taken = 0;
  async function* slowly() {
    for (; taken < 400; taken += 1) {
      yield Buffer.alloc(1024);
      await wait(5);
    }
  }
  const from = {
    copy: async () => Readable.from(slowly()),
    stay: async () => {},
    cancelExport: async () => {},
  } as unknown as MoveServer;
  const moving = { app: 'shop', from, to: targetServer(), address: 'http://new.test' };
  await expect(moveApp({ ...moving, note: () => {} })).rejects.toMatchObject({
    status: 422,
    message: REASON,
  });
  expect(taken).toBeLessThan(400);
});
