import { createClient, type Client } from 'graphql-ws';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { createDatabase } from '../engines/available.ts';
import { end, run } from '../server/program.ts';
import { databases, startServer, user, type TestOptions, type TestServer } from './harness.ts';

const SDL = `
  enum Level { LOW HIGH }
  input Place { floor: Int! room: ID }
  type Alarm { text: String! level: Level! note: Note }
  type Member { id: ID! name: String! }
  type Note @auth(allow: [OWNER], owner: "author") { id: ID! text: String! author: Member! }
  type Query { notes: [Note!]! }
  type Mutation { shout(text: String!, fail: Boolean!): Boolean! }
  type Subscription {
    alarm(floor: Int, room: ID, level: Level, at: Place): Alarm!
    count(step: Int! @constraint(max: 9)): Int!
    noteFeatured: Note!
    noteUpdated(id: ID): Note!
    noteDeleted: Note!
    own: Int!
    secret: Int! @auth(allow: [ROLE], roles: ["admin"])
  }
`;
const MANIFEST =
  'name: test\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n';

const resolvers = {
  Mutation: {
    shout: async (_: unknown, { text, fail }: any, ctx: any) => {
      await ctx.data.member.create({ data: { name: text } });
      ctx.publish('alarm', { text, level: 'HIGH' });
      await ctx
        .transaction(async () => {
          ctx.publish('alarm', { text: `${text}, undone`, level: 'LOW' });
          throw new Error('undone');
        })
        .catch(() => {});
      if (fail) throw new Error('fails');
      return true;
    },
  },
  Subscription: {
    own: {
      subscribe: async function* () {
        yield { own: 1 };
      },
    },
  },
};

let servers: TestServer[] = [];
let clients: Client[] = [];
afterEach(async () => {
  for (const client of clients) await client.dispose();
  for (const server of servers) await server.close();
  [servers, clients] = [[], []];
});

async function start(options: TestOptions) {
  const server = await startServer(SDL, { manifest: MANIFEST, resolvers, ...options });
  servers.push(server);
  const log = { child: () => log, warn: () => {}, error: () => {} };
  const ctx: any = systemContext({ store: server.store, log: log as never });
  return { server, ctx };
}

/** What a subscription hears. It listens when the operation behind it is answered. */
async function listen({ url }: TestServer, query: string, as?: object) {
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
  const heard: any[] = [];
  client.subscribe(
    { query: `subscription { ${query} }` },
    {
      next: ({ data, errors }) => void heard.push(errors ?? data),
      error: (error) => void heard.push(error),
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
  return heard;
}

const heardBy = async (heard: readonly any[], expected: readonly unknown[]) => {
  await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(expected.length), 5000);
  expect(heard).toEqual(expected);
};

describe.each(databases)('ctx.publish on %s', (database) => {
  it('reaches subscribers with equal arguments; those left out match all', async () => {
    const { server, ctx } = await start({ database });
    const all = await listen(server, 'alarm { text level }');
    const high = await listen(server, 'alarm(level: HIGH) { text }');
    const third = await listen(server, 'alarm(floor: 3, room: 7) { text }');
    const place = await listen(server, 'alarm(at: { room: "7", floor: 3 }) { text }');
    ctx.publish('alarm', { text: 'a', level: 'LOW' }, { floor: 3, room: 7, level: 'LOW' });
    ctx.publish('alarm', { text: 'b', level: 'HIGH' }, { floor: 4, level: 'HIGH' });
    ctx.publish('alarm', { text: 'c', level: 'LOW' }, { level: 'LOW', at: { floor: 3, room: 7 } });
    ctx.publish('alarm', { text: 'd', level: 'LOW' }, { at: { floor: 3 }, room: undefined });
    ctx.publish('alarm', { text: 'end', level: 'LOW' });
    const texts = (...list: string[]) => list.map((text) => ({ alarm: { text } }));
    await heardBy(third, texts('a', 'c', 'd', 'end'));
    await heardBy(high, texts('b', 'd', 'end'));
    await heardBy(place, texts('a', 'b', 'c', 'end'));
    await heardBy(
      all,
      ['a', 'b', 'c', 'd', 'end'].map((text) => ({
        alarm: { text, level: text === 'b' ? 'HIGH' : 'LOW' },
      })),
    );
  });

  it('is sent once at the commit, never after a rollback or of an undone savepoint', async () => {
    const { server, ctx } = await start({ database });
    const heard = await listen(server, 'alarm { text }');
    const shout = (text: string, fail: boolean) =>
      server.query(`mutation { shout(text: "${text}", fail: ${fail}) }`);
    expect((await shout('lost', true)).errors).toHaveLength(1);
    let before = -1;
    await ctx.transaction(async () => {
      ctx.publish('alarm', { text: 'inside', level: 'LOW' });
      await ctx.data.member.create({ data: { name: 'x' } });
      before = heard.length;
    });
    expect(await shout('kept', false)).toEqual({ data: { shout: true } });
    ctx.publish('alarm', { text: 'end', level: 'LOW' });
    await heardBy(
      heard,
      ['inside', 'kept', 'end'].map((text) => ({ alarm: { text } })),
    );
    expect(before).toBe(0);
  });

  it('shows each subscriber of an entity the row that they may read', async () => {
    const { server, ctx } = await start({ database });
    for (const name of ['Ada', 'Bob']) await ctx.data.member.create({ data: { name } });
    const mine = await ctx.data.note.create({ data: { text: 'mine', authorId: 1 } });
    const fields = ['noteFeatured', 'noteUpdated', 'noteDeleted'];
    const [ada, bob] = await Promise.all(
      [user(1), user(2)].map((as) =>
        Promise.all(fields.map((field) => listen(server, `${field} { id text }`, as))),
      ),
    );
    const other = await listen(server, 'noteUpdated(id: 2) { text }', user(1));
    await ctx.db.updateTable('notes').set({ text: 'changed' }).execute();
    ctx.publish('noteFeatured', { id: 1 });
    ctx.publish('noteUpdated', mine);
    ctx.publish('noteUpdated', { id: 404 });
    ctx.publish('noteDeleted', { id: 1 });
    ctx.publish('noteDeleted', { ...mine, text: 'gone' });
    const second = await ctx.data.note.create({ data: { text: 'end', authorId: 2 } });
    for (const field of fields) ctx.publish(field, second);
    const shown = (index: number, id: string, text: string) => [
      { [fields[index] as string]: { id, text } },
    ];
    await heardBy(ada![0]!, shown(0, '1', 'changed'));
    await heardBy(ada![1]!, shown(1, '1', 'changed'));
    await heardBy(ada![2]!, shown(2, '1', 'gone'));
    for (const [index, heard] of bob!.entries()) await heardBy(heard, shown(index, '2', 'end'));
    expect(other).toEqual([]);
  });

  it('says what is wrong with an event, and keeps the rules of the field', async () => {
    const { server, ctx } = await start({ database });
    const refused = (...args: unknown[]) => expect(() => ctx.publish(...args));
    refused('alarn', {}).toThrow(/alarn is no field of Subscription. Did you mean "alarm"\?/);
    refused('own', 1).toThrow(/own is fed by your own function/);
    refused('count', undefined).toThrow(/count takes a JSON value/);
    refused('count', 1n).toThrow(/count takes a JSON value/);
    refused('count', 1, { stp: 1 }).toThrow(/count has no argument stp/);
    refused('noteFeatured', { text: 'x' }).toThrow(/takes a row of Note, or an object with its id/);
    const text = (bytes: number) => ({ text: 'x'.repeat(bytes - 25), level: 'LOW' });
    expect(JSON.stringify(text(65_536))).toHaveLength(65_536);
    ctx.publish('alarm', text(65_536));
    refused('alarm', text(65_537)).toThrow(
      /at most 65536 bytes of JSON, and the payload has 65537/,
    );
    const [late] = await listen(server, 'count(step: 10)');
    expect(JSON.stringify(late)).toContain('step must be at most 9');
    const secret = await listen(server, 'secret', user(2, 'member'));
    const open = await listen(server, 'secret', user(1, 'admin'));
    ctx.publish('secret', 7);
    await heardBy(open, [{ secret: 7 }]);
    expect(JSON.stringify(secret)).toContain('FORBIDDEN');
    expect(await listen(server, 'own')).toEqual([{ own: 1 }]);
  });
});

describe.runIf(databases.includes('postgres'))('ctx.publish on two servers', () => {
  it('reaches the subscribers of the other server, once, and whole', async () => {
    const database = await createDatabase();
    const options = { url: database.url, env: { DATABASE_URL: database.url } };
    const one = await start(options);
    const { server } = await start(options);
    const [near, far] = [
      await listen(one.server, 'alarm(floor: 1) { text level note { id } }'),
      await listen(server, 'alarm(floor: 1) { text level note { id } }'),
    ];
    const text = 'ü'.repeat(30_000);
    await one.ctx.transaction(async () => {
      one.ctx.publish('alarm', { text: 'other', level: 'LOW' }, { floor: 2 });
      one.ctx.publish('alarm', { text, level: 'LOW' }, { floor: 1 });
    });
    one.ctx.publish('alarm', { text: 'end', level: 'HIGH' });
    const expected = [
      { alarm: { text, level: 'LOW', note: null } },
      { alarm: { text: 'end', level: 'HIGH', note: null } },
    ];
    await heardBy(near, expected);
    await heardBy(far, expected);
    for (const client of clients.splice(0)) await client.dispose();
    for (const each of servers.splice(0)) await each.close();
    await database.drop();
  });
});

describe('ctx.publish among workers of one machine', () => {
  it('reaches the subscribers of all of them, once', async () => {
    const port = 20_000 + ((process.pid + 7) % 20_000);
    const program = run(
      `import { createServer } from '@twofold/runtime';
       await createServer()
         .schema('type Alarm { text: String! } type Query { now: Int } type Mutation { ring(text: String!): Boolean! } type Subscription { alarm: Alarm! }')
         .plugin({ name: 'ring', resolvers: { Mutation: { ring: (_, { text }, ctx) => (ctx.publish('alarm', { text }), true) } } })
         .serve(':${port}');`,
      { WORKERS: '2', DATABASE_URL: 'file:app.db' },
    );
    try {
      const url = `${await program.listening}/graphql`;
      const ask = (query: string, accept = 'application/json') =>
        fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept, connection: 'close' },
          body: JSON.stringify({ query }),
        });
      // Connections go to the workers in turn, so that four of them reach both.
      const streams = await Promise.all(
        Array.from({ length: 4 }, () =>
          ask('subscription { alarm { text } }', 'text/event-stream'),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 250));
      await ask('mutation { one: ring(text: "hello") two: ring(text: "end") }');
      for (const stream of streams) {
        const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        while (!text.includes('end')) text += (await reader?.read())?.value ?? '';
        expect(text.match(/hello/g)).toHaveLength(1);
        await reader?.cancel();
      }
    } finally {
      await end(program);
    }
  });
});
