import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createEventQueue } from '../../runtime/core/graphql/event-queue.ts';
import { end, query, run, type Program } from '../server/program.ts';

const EVENTS = 3000;
const EVENT_BYTES = 262_144;
const MEGABYTE = 1_048_576;

/** A server whose notes are large, and which says how much memory it holds. */
const PROGRAM = `
import v8 from 'node:v8';
import vm from 'node:vm';
import { createServer } from '@twofold/runtime';
v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');
const text = 'x'.repeat(${EVENT_BYTES});
await createServer()
  .schema(\`
    type Note { id: ID! title: String! text: String! @computed }
    type Query { notes: [Note!]! memory: Int! }
    type Mutation { createNote(title: String!): Note! }
    type Subscription { noteCreated: Note! }
  \`)
  .plugin({
    name: 'own',
    resolvers: {
      Query: { memory: () => { collect(); return process.memoryUsage.rss(); } },
      Note: { text: () => text },
    },
  })
  .serve(':0');
`;

let url: string;

const SUBSCRIPTION = 'subscription { noteCreated { id text } }';

const memory = async (): Promise<number> => (await query(url, '{ memory }')).data.memory / MEGABYTE;

/** Events, each of 256 KiB for every subscriber that gets it. @returns the most memory that was seen, in MiB. */
async function publish(count: number): Promise<number> {
  let most = 0;
  for (let done = 0; done < count; done += 20) {
    const fields = Array.from(
      { length: 20 },
      (_, index) => `n${index}: createNote(title: "n") { id }`,
    );
    await query(url, `mutation { ${fields.join(' ')} }`);
    if (done % 300 === 0) most = Math.max(most, await memory());
  }
  return most;
}

describe('a subscriber that does not read', () => {
  let program: Program;
  beforeEach(async () => {
    program = run(PROGRAM, { DATABASE_URL: ':memory:' });
    url = await program.listening;
  });
  afterEach(() => end(program));

  it(
    'ends with SLOW_READER on a WebSocket, and the memory stays flat',
    { timeout: 120_000 },
    async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const messages: any[] = [];
      socket.on('message', (data) => void messages.push(JSON.parse(String(data))));
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(JSON.stringify({ type: 'connection_init' }));
      await vi.waitFor(() => expect(messages).toHaveLength(1), 10_000);
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: SUBSCRIPTION } }));
      await publish(20);
      await vi.waitFor(() => expect(messages.length).toBeGreaterThan(1), 10_000);
      const before = await memory();
      socket.pause();
      const most = await publish(EVENTS);
      console.info(`WebSocket: ${before.toFixed(0)} MiB before, at most ${most.toFixed(0)} MiB`);
      expect(most - before).toBeLessThan(64);
      // Nothing is read for longer than a reader is waited for.
      await new Promise((resolve) => setTimeout(resolve, 3000));
      socket.resume();
      await vi.waitFor(
        () => expect(messages.at(-1)).toMatchObject({ type: 'error', id: '1' }),
        20_000,
      );
      expect(messages.at(-1).payload).toMatchObject([{ extensions: { code: 'SLOW_READER' } }]);
      // Nothing keeps the socket from being used on.
      socket.send(
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } }),
      );
      await vi.waitFor(
        () => expect(messages.at(-1)).toEqual({ type: 'complete', id: '1' }),
        10_000,
      );
      socket.terminate();
    },
  );

  it(
    'ends with SLOW_READER on an event stream, and the memory stays flat',
    { timeout: 120_000 },
    async () => {
      const { port } = new URL(url);
      const body = JSON.stringify({ query: SUBSCRIPTION });
      let text = '';
      const socket = connect(Number(port), '127.0.0.1');
      socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      socket.write(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await vi.waitFor(() => expect(text).toContain('event-stream'), 10_000);
      await publish(20);
      const before = await memory();
      socket.pause();
      const most = await publish(EVENTS);
      console.info(`event stream: ${before.toFixed(0)} MiB before, at most ${most.toFixed(0)} MiB`);
      expect(most - before).toBeLessThan(64);
      await new Promise((resolve) => setTimeout(resolve, 3000));
      socket.resume();
      await vi.waitFor(() => expect(text).toContain('event: complete'), 20_000);
      expect(text.slice(-400)).toContain('"code":"SLOW_READER"');
      socket.destroy();
    },
  );

  it('is waited for when it is slow but reads', { timeout: 60_000 }, async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const types: string[] = [];
    socket.on('message', (data) => void types.push(JSON.parse(String(data)).type));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await vi.waitFor(() => expect(types).toHaveLength(1), 10_000);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: SUBSCRIPTION } }));
    socket.pause();
    const reading = setInterval(() => {
      socket.resume();
      setTimeout(() => socket.pause(), 5);
    }, 200);
    await publish(100);
    await vi.waitFor(
      () => expect(types.filter((type) => type === 'next')).toHaveLength(100),
      40_000,
    );
    expect(types).not.toContain('error');
    clearInterval(reading);
    socket.terminate();
  });
});

describe('a queue of events', () => {
  it('holds as many bytes as may wait, and one value of any size', async () => {
    let push: (size: number) => void = () => {};
    const queue = createEventQueue<number>({
      start: (add) => ((push = add), () => {}),
      sizeOf: (size) => size,
    });
    push(5 * MEGABYTE);
    expect(await queue.next()).toEqual({ done: false, value: 5 * MEGABYTE });
    for (let count = 0; count < 16; count += 1) push(MEGABYTE / 16);
    expect(await queue.next()).toEqual({ done: false, value: MEGABYTE / 16 });
    push(MEGABYTE / 16);
    push(1);
    await expect(queue.next()).rejects.toMatchObject({ code: 'SLOW_READER' });
    expect(await queue.return?.()).toEqual({ done: true, value: undefined });
  });
});
