import { createClient, type Client } from 'graphql-ws';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { AppError } from '../../runtime/core/errors.ts';
import { createDatabase } from '../engines/available.ts';
import { end, run } from '../server/program.ts';
import { databases, startServer, user, type TestServer, type TestOptions } from './harness.ts';

const SDL = `
  type Member { id: ID! name: String! notes: [Note!]! }
  type Note @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "author") { id: ID! text: String! author: Member! shout: String! @computed }
  type Query { notes: [Note!]! note(id: ID!): Note members: [Member!]! slow: String }
  input NoteInput { text: String! authorId: ID }
  input NotePatch { text: String }
  type Mutation { createMember(name: String!): Member! createNote(input: NoteInput!): Note! updateNote(id: ID!, input: NotePatch!): Note deleteNote(id: ID!): Boolean! }
  type Subscription { noteCreated: Note! noteDeleted: Note! noteChanged(id: ID): Note! memberCreated: Member! ticks(to: Int!): Int! broken(how: String!): Int! }
`;
const MANIFEST =
  'name: test\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n';
const RESOLVERS = {
  Query: { slow: (): Promise<string> => Promise.resolve('at once') },
  Note: { shout: (note: { text: string }) => note.text.toUpperCase() },
  Subscription: {
    ticks: {
      subscribe: async function* (_: unknown, { to }: { to: number }) {
        for (let tick = 1; tick <= to; tick++) yield tick;
      },
      resolve: (tick: unknown) => tick,
    },
    broken: {
      subscribe: (_: unknown, { how }: { how: string }) => BROKEN[how]?.(),
      resolve: (value: unknown) => value,
    },
  },
};

/** Sources of events that never come to be, and one that breaks on its way. */
const BROKEN: Record<string, () => unknown> = {
  refused: () => {
    throw new AppError(403, 'NOT_TODAY', 'not today');
  },
  late: () => Promise.reject(new AppError(403, 'NOT_TODAY', 'not today')),
  returned: () => new AppError(403, 'NOT_TODAY', 'not today'),
  secret: () => {
    throw new RangeError('a secret');
  },
  none: () => [1, 2],
};

let servers: TestServer[] = [];
let clients: Client[] = [];
afterEach(async () => {
  for (const client of clients) await client.dispose();
  for (const server of servers) await server.close();
  servers = [];
  clients = [];
});

async function start(options: TestOptions): Promise<TestServer> {
  const server = await startServer(SDL, { manifest: MANIFEST, resolvers: RESOLVERS, ...options });
  servers.push(server);
  return server;
}

/** The harness reads who calls from a header, as a browser's socket cannot send one: so this client's socket can. */
function connect({ url }: TestServer, as?: object): Client {
  class Socket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers: as ? { 'x-test-principal': JSON.stringify(as) } : {} });
    }
  }
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Socket,
    retryAttempts: 0,
  });
  clients.push(client);
  return client;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 250));

/** Everything a subscription says, as it comes. Messages of a socket are answered in turn: what comes behind tells that it listens. */
async function listen(
  client: Client,
  query: string,
  variables = {},
): Promise<{ events: any[]; errors: any[]; stop: () => void }> {
  const [events, errors] = [[] as any[], [] as any[]];
  const stop = client.subscribe(
    { query, variables },
    {
      next: (event) => void events.push(event),
      error: (error) => void errors.push(error),
      complete: () => {},
    },
  );
  await new Promise<void>(
    (resolve) =>
      void client.subscribe(
        { query: '{ __typename }' },
        { next: () => {}, error: () => resolve(), complete: resolve },
      ),
  );
  return { events, errors, stop };
}

describe.each(databases)('subscriptions on %s', (database) => {
  /** An event shows its row as it is when the event is told: so each is waited for. */
  it('tell of what mutations did, with whatever is selected', async () => {
    const server = await start({ database });
    const admin = user(1, 'admin');
    await server.query('mutation { createMember(name: "Ada") { id } }');
    const all = await listen(
      connect(server, admin),
      'subscription { noteChanged { id text shout author { name notes { id } } } }',
    );
    const created = await listen(
      connect(server, admin),
      'subscription { noteCreated { __typename id } }',
    );
    const second = await listen(
      connect(server, admin),
      'subscription ($id: ID) { noteChanged(id: $id) { text } }',
      { id: '2' },
    );
    const deleted = await listen(
      connect(server, admin),
      'subscription { gone: noteDeleted { text author { name } } }',
    );
    const heard = (...counts: number[]) =>
      vi.waitFor(
        () => expect([all, created, second].map(({ events }) => events.length)).toEqual(counts),
        20_000,
      );
    await server.query(
      'mutation { createNote(input: { text: "one", authorId: 1 }) { id } }',
      {},
      admin,
    );
    await heard(1, 1, 0);
    await server.query(
      'mutation { createNote(input: { text: "two", authorId: 1 }) { id } }',
      {},
      admin,
    );
    await heard(2, 2, 1);
    await server.query('mutation { updateNote(id: 2, input: { text: "due" }) { id } }', {}, admin);
    await heard(3, 2, 2);
    await server.query('mutation { deleteNote(id: 1) }', {}, admin);
    await heard(4, 2, 2);
    await settled();
    expect(all.events.slice(0, 3)).toEqual([
      {
        data: {
          noteChanged: {
            id: '1',
            text: 'one',
            shout: 'ONE',
            author: { name: 'Ada', notes: [{ id: '1' }] },
          },
        },
      },
      {
        data: {
          noteChanged: {
            id: '2',
            text: 'two',
            shout: 'TWO',
            author: { name: 'Ada', notes: [{ id: '1' }, { id: '2' }] },
          },
        },
      },
      {
        data: {
          noteChanged: {
            id: '2',
            text: 'due',
            shout: 'DUE',
            author: { name: 'Ada', notes: [{ id: '1' }, { id: '2' }] },
          },
        },
      },
    ]);
    expect(all.events[3]).toMatchObject({
      data: { noteChanged: { id: '1', text: 'one', shout: 'ONE', author: { name: 'Ada' } } },
    });
    expect(created.events).toEqual([
      { data: { noteCreated: { __typename: 'Note', id: '1' } } },
      { data: { noteCreated: { __typename: 'Note', id: '2' } } },
    ]);
    expect(second.events).toEqual([
      { data: { noteChanged: { text: 'two' } } },
      { data: { noteChanged: { text: 'due' } } },
    ]);
    expect(deleted.events).toEqual([{ data: { gone: { text: 'one', author: { name: 'Ada' } } } }]);
  });

  it('tell nobody of a row that it may not read, nor of one whose mutation failed', async () => {
    const server = await start({ database });
    for (const name of ['Ada', 'Bob'])
      await server.query(`mutation { createMember(name: "${name}") { id } }`);
    const ada = await listen(connect(server, user(1)), 'subscription { noteChanged { text } }');
    const bob = await listen(connect(server, user(2)), 'subscription { noteDeleted { text } }');
    const nobody = await listen(connect(server), 'subscription { noteChanged { text } }');
    const heard = (...counts: number[]) =>
      vi.waitFor(
        () => expect([ada, bob].map(({ events }) => events.length)).toEqual(counts),
        20_000,
      );
    await server.query('mutation { createNote(input: { text: "of Ada" }) { id } }', {}, user(1));
    await heard(1, 0);
    await server.query('mutation { createNote(input: { text: "of Bob" }) { id } }', {}, user(2));
    await server.query(
      'mutation { createNote(input: { text: "of nobody", authorId: 99 }) { id } }',
      {},
      user(9, 'admin'),
    );
    await server.query('mutation { deleteNote(id: 1) }', {}, user(1));
    await server.query('mutation { deleteNote(id: 2) }', {}, user(2));
    await heard(2, 1);
    await settled();
    expect(ada.events).toEqual([
      { data: { noteChanged: { text: 'of Ada' } } },
      { data: { noteChanged: { text: 'of Ada' } } },
    ]);
    expect(bob.events).toEqual([{ data: { noteDeleted: { text: 'of Bob' } } }]);
    expect(nobody.events).toEqual([]);
    expect(nobody.errors[0]).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  it('end when the client has enough', async () => {
    const server = await start({ database });
    const { events, stop } = await listen(
      connect(server),
      'subscription { memberCreated { name } }',
    );
    await server.query('mutation { createMember(name: "Ada") { id } }');
    await vi.waitFor(() => expect(events).toHaveLength(1), 20_000);
    stop();
    await settled();
    await server.query('mutation { createMember(name: "Bob") { id } }');
    await settled();
    expect(events).toEqual([{ data: { memberCreated: { name: 'Ada' } } }]);
  });

  it('come as server-sent events as well', async () => {
    const server = await start({ database });
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { memberCreated { name } }' }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await server.query('mutation { createMember(name: "Ada") { id } }');
    let text = '';
    while (!text.includes('Ada')) text += (await reader?.read())?.value ?? '';
    expect(JSON.parse(/event: next\ndata: (.*)\n\n/.exec(text)?.[1] ?? '')).toEqual({
      data: { memberCreated: { name: 'Ada' } },
    });
    await reader?.cancel();
    const query = await fetch(
      `${server.url}/graphql?query=${encodeURIComponent('{ members { name } }')}`,
      { headers: { accept: 'text/event-stream' } },
    );
    expect(
      (await query.text())
        .replaceAll(' ', '')
        .split('\n\n')
        .filter((part) => part.startsWith('event')),
    ).toEqual(['event:next\ndata:{"data":{"members":[{"name":"Ada"}]}}', 'event:complete\ndata:']);
  });
});

describe('a stream of events', () => {
  it('leaves nothing behind when its client goes away before there is an answer', async () => {
    const started = vi.spyOn(globalThis, 'setInterval');
    const ended = vi.spyOn(globalThis, 'clearInterval');
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      RESOLVERS.Query.slow = () => (
        resolve(),
        new Promise<string>((done) => void (answer = () => done('late')))
      );
    });
    try {
      const server = await start({});
      const gone = new AbortController();
      const response = fetch(`${server.url}/graphql`, {
        method: 'POST',
        signal: gone.signal,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: '{"query":"{ slow }"}',
      });
      await (await response).body?.getReader().read();
      await asked;
      gone.abort();
      await settled();
      answer();
      const beats = () =>
        started.mock.calls.flatMap(([, every], call) =>
          every === 12_000 ? [started.mock.results[call]?.value] : [],
        );
      expect(beats()).toHaveLength(1);
      await vi.waitFor(
        () =>
          expect(
            beats().filter((beat) => !ended.mock.calls.some(([handle]) => handle === beat)),
          ).toEqual([]),
        20_000,
      );
    } finally {
      started.mockRestore();
      ended.mockRestore();
    }
  });
});

describe('a socket', () => {
  it("runs queries and mutations too, and the user's own source of events", async () => {
    const server = await start({});
    const client = connect(server);
    const once = (query: string) =>
      new Promise<any>(
        (resolve, reject) =>
          void client.subscribe({ query }, { next: resolve, error: reject, complete: () => {} }),
      );
    expect(await once('mutation { createMember(name: "Ada") { name } }')).toEqual({
      data: { createMember: { name: 'Ada' } },
    });
    expect(await once('{ members { name } }')).toEqual({ data: { members: [{ name: 'Ada' }] } });
    const ticks = await listen(client, 'subscription { ticks(to: 3) }');
    await vi.waitFor(() => expect(ticks.events).toHaveLength(3), 20_000);
    expect(ticks.events).toEqual([1, 2, 3].map((tick) => ({ data: { ticks: tick } })));
    const wrong = await listen(client, 'subscription { nothing }');
    await vi.waitFor(() => expect(wrong.errors).toHaveLength(1), 20_000);
    expect(wrong.errors[0]).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  });

  it("says why the user's own source of events cannot be opened", async () => {
    const server = await start({});
    const client = connect(server);
    for (const how of ['refused', 'late', 'returned']) {
      const { errors } = await listen(client, `subscription { broken(how: "${how}") }`);
      expect([how, errors]).toMatchObject([
        how,
        [[{ message: 'not today', path: ['broken'], extensions: { code: 'NOT_TODAY' } }]],
      ]);
    }
    for (const how of ['secret', 'none']) {
      const { errors } = await listen(client, `subscription { broken(how: "${how}") }`);
      expect([how, errors]).toMatchObject([
        how,
        [[{ message: 'Internal server error', path: ['broken'] }]],
      ]);
    }
    const wrong = await listen(client, 'subscription ($to: Int = null) { ticks(to: $to) }');
    expect(wrong.errors).toMatchObject([[{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]]);
  });

  it('is closed with the code of the protocol when it does not keep to it', async () => {
    const server = await start({});
    const closed = (
      messages: unknown[],
      protocol = 'graphql-transport-ws',
      acknowledged: unknown[] = [],
    ) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, protocol);
        socket.on('open', () =>
          messages.forEach((message) =>
            socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
          ),
        );
        socket.once('message', () =>
          acknowledged.forEach((message) => socket.send(JSON.stringify(message))),
        );
        socket.on('close', resolve);
        socket.on('error', () => {});
      });
    const init = { type: 'connection_init' };
    const subscribe = {
      type: 'subscribe',
      id: '1',
      payload: { query: 'subscription { memberCreated { name } }' },
    };
    expect(await closed(['not JSON'])).toBe(4400);
    expect(await closed([subscribe])).toBe(4401);
    expect(await closed([init, init])).toBe(4429);
    for (const id of ['1', 'ü'.repeat(100)])
      expect([
        id,
        await closed([init], 'graphql-transport-ws', [
          { ...subscribe, id },
          { ...subscribe, id },
        ]),
      ]).toEqual([id, 4409]);
    expect(await closed([], 'other-protocol')).toBe(1006);
  });

  it('is not opened for a page of another site', async () => {
    const server = await start({});
    const status = await new Promise((resolve) => {
      const socket = new WebSocket(
        `${server.url.replace('http', 'ws')}/graphql`,
        'graphql-transport-ws',
        { origin: 'https://evil.test' },
      );
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('error', () => {});
    });
    expect(status).toBe(403);
  });
});

describe.runIf(databases.includes('postgres'))('two servers over one PostgreSQL', () => {
  it('tell each other of changes', async () => {
    const database = await createDatabase();
    const one = await start({ url: database.url, env: { DATABASE_URL: database.url } });
    const two = await start({ url: database.url, env: { DATABASE_URL: database.url } });
    const heard = await listen(connect(two), 'subscription { memberCreated { id name } }');
    const own = await listen(connect(one), 'subscription { memberCreated { id name } }');
    const all = (count: number) =>
      vi.waitFor(
        () => expect([heard.events.length, own.events.length]).toEqual([count, count]),
        20_000,
      );
    await one.query('mutation { createMember(name: "Ada") { id } }');
    await all(1);
    await two.query('mutation { createMember(name: "Bob") { id } }');
    await all(2);
    const both = [
      { data: { memberCreated: { id: '1', name: 'Ada' } } },
      { data: { memberCreated: { id: '2', name: 'Bob' } } },
    ];
    expect(heard.events).toEqual(both);
    expect(own.events).toEqual(both);
    for (const client of clients) await client.dispose();
    for (const server of servers.splice(0)) await server.close();
    await database.drop();
  });
});

describe.runIf(databases.includes('postgres'))(
  'a removed row that is too large for one notification',
  () => {
    it('is shown to the subscribers of another server, whole', async () => {
      const database = await createDatabase();
      const one = await start({ url: database.url, env: { DATABASE_URL: database.url } });
      const two = await start({ url: database.url, env: { DATABASE_URL: database.url } });
      const text = `${'ü😀"\\\n'.repeat(60_000)}end`;
      await one.store.db.insertInto('members').values({ name: 'Ada' }).execute();
      await one.store.db
        .insertInto('notes')
        .values([
          { text, author_id: 1 },
          { text: 'short', author_id: 1 },
        ])
        .execute();
      const heard = await listen(connect(two, user(1)), 'subscription { noteDeleted { id text } }');
      const other = await listen(connect(two, user(2)), 'subscription { noteDeleted { id text } }');
      // What others say on the channel is passed over.
      for (const payload of [
        '',
        'null',
        '7',
        '{"node":"x"}',
        '{"node":"x","changes":[null]}',
        '0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a 0 9 eA==',
      ])
        await one.store.query("select pg_notify('twofold_changes', $1)", [payload]);
      await one.query('mutation { a: deleteNote(id: 1) b: deleteNote(id: 2) }', {}, user(1));
      await vi.waitFor(() => expect(heard.events).toHaveLength(2), 20_000);
      expect(heard.events.map(({ data }) => data.noteDeleted)).toEqual(
        expect.arrayContaining([
          { id: '1', text },
          { id: '2', text: 'short' },
        ]),
      );
      await settled();
      expect(other.events).toEqual([]);
      for (const client of clients) await client.dispose();
      for (const server of servers.splice(0)) await server.close();
      await database.drop();
    });
  },
);

describe('workers of one machine', () => {
  it('tell each other of changes', async () => {
    const port = 20_000 + (process.pid % 20_000);
    const program = run(
      `import { createServer } from '@twofold/runtime';
       await createServer().schema('type Note { id: ID! text: String! } type Query { notes: [Note!]! } type Mutation { createNote(text: String!): Note! } type Subscription { noteCreated: Note! }').serve(':${port}');`,
      { WORKERS: '2', DATABASE_URL: 'file:app.db' },
    );
    try {
      const url = `${await program.listening}/graphql`;
      // Connections go to the workers in turn, so that four of them reach both.
      const streams = await Promise.all(
        Array.from({ length: 4 }, () =>
          fetch(url, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept: 'text/event-stream',
              connection: 'close',
            },
            body: '{"query":"subscription { noteCreated { text } }"}',
          }),
        ),
      );
      await settled();
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"mutation { createNote(text: \\"hello\\") { id } }"}',
      });
      for (const stream of streams) {
        const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        while (!text.includes('hello')) text += (await reader?.read())?.value ?? '';
        expect(text.match(/hello/g)).toHaveLength(1);
        await reader?.cancel();
      }
    } finally {
      await end(program);
    }
  });
});
