import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HostingServer } from '../../generator/deploy/hosting-server.ts';
import { createMoveServer } from '../../generator/deploy/move-server.ts';
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

it('a move that is refused while its stream is sent says why, and not that the server is away', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = createMoveServer({ url, credentials: {} } as HostingServer, 'm'.repeat(32));
  for (let time = 0; time < 20; time += 1) {
    const { sent, answer } = target.part(1, 'key');
    const refused = expect(answer).rejects.toMatchObject({ status: 422, message: REASON });
    const sending = setInterval(() => sent.destroyed || sent.write(Buffer.alloc(1024 * 1024)), 1);
    await refused.finally(() => clearInterval(sending));
    sent.destroy();
  }
});
