import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { end, type Program, run } from './program.ts';

const SERVER = `
import { createServer } from '@twofold/runtime';
const server = createServer().schema(
  'type Note { id: ID! text: String! } type Query { notes: [Note!]! } type Subscription { noteCreated: Note! } type Mutation { createNote(text: String!): Note! }',
  'name: upgrades\\n',
);
await server.serve('127.0.0.1:0');
`;

describe('a request for another protocol', () => {
  let program: Program;
  let url: string;
  beforeAll(async () => {
    program = run(SERVER, { DATABASE_URL: 'file:notes.db' });
    url = await program.listening;
  });
  afterAll(() => end(program));

  const open = (target: string, headers: readonly string[] = []): Socket => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    const lines = [
      `GET ${target} HTTP/1.1`,
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: graphql-transport-ws',
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return socket.on('error', () => {});
  };
  const answers = async () =>
    (await fetch(`${url}/graphql?query={notes{id}}`, { headers: { accept: 'application/json' } }))
      .status;

  it.each(['/nowhere', '//', '///', '/\\', 'http://', 'http://[', '//[', '*'])(
    'is refused for %s, and the server closes the connection',
    async (target) => {
      const socket = open(target);
      const closed = once(socket, 'end');
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
      await closed;
      socket.destroy();
      expect(await answers()).toBe(200);
    },
  );

  it.each([
    ['a path that nothing serves', '/nowhere', []],
    ['the page of another site', '/graphql', ['Origin: https://evil.example']],
    ['a path of sockets', '/graphql', []],
  ])('does no harm when its connection breaks at once: %s', async (_name, target, headers) => {
    for (let count = 0; count < 100; count += 1) {
      const socket = open(target, headers);
      await once(socket, 'connect');
      await sleep((count % 10) / 5);
      socket.resetAndDestroy();
    }
    expect(await answers()).toBe(200);
    expect(program.output()).not.toContain('was not caught');
  });

  it('does not keep a stopping server waiting, whatever its client does', async () => {
    const sockets = ['/nowhere', '/graphql'].map((target) => open(target));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    const asked = performance.now();
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(performance.now() - asked).toBeLessThan(9000);
    for (const socket of sockets) socket.destroy();
  });
});
