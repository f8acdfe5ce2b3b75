import { describe, expect, it, vi } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  schema { query: Reading mutation: Writing subscription: Hearing }
  type Note { id: ID! text: String! shout: String! @computed replies: [Note!]! parent: Note }
  type Reading { note(id: ID!): Note notes(limit: Int): [Note!]! loudest: Note run: String hello(name: String!): String! later: String }
  type Writing { createNote(text: String!, parentId: ID): Note! deleteNote(id: ID!): Boolean! silence: Int! }
  type Hearing { noteCreated: Note! noteChanged(id: ID): Note! ticks(to: Int!): Int! }
`;

const resolvers = {
  Note: { shout: (note: { text: string }) => note.text.toUpperCase() },
  Reading: {
    hello: (_: unknown, { name }: { name: string }) => `hello ${name}`,
    loudest: () => ({ id: 1 }),
    run: () => 'of the user',
  },
  Writing: { silence: () => 0 },
  Hearing: {
    ticks: {
      subscribe: async function* (_: unknown, { to }: { to: number }) {
        for (let tick = 1; tick <= to; tick++) yield tick;
      },
      resolve: (tick: unknown) => tick,
    },
  },
};

describe.each(databases)('roots that the schema calls by names of its own, on %s', (database) => {
  const within = async (test: (server: TestServer) => Promise<void>) => {
    const server = await startServer(SDL, {
      database,
      resolvers,
      manifest: 'name: test\napi: { access: public }\n',
    });
    try {
      await test(server);
    } finally {
      await server.close();
    }
  };

  it('read and write as Query and Mutation do, planned and through functions', () =>
    within(async (server) => {
      expect(
        await server.query(
          'mutation { a: createNote(text: "one") { id text } b: createNote(text: "two", parentId: 1) { shout parent { text } } }',
        ),
      ).toEqual({
        data: { a: { id: '1', text: 'one' }, b: { shout: 'TWO', parent: { text: 'one' } } },
      });
      server.statements();
      expect(
        await server.query(
          'query ($n: Int) { __typename notes(limit: $n) { text replies { text } } note(id: 2) { id } }',
          { n: 1 },
        ),
      ).toEqual({
        data: {
          __typename: 'Reading',
          notes: [{ text: 'one', replies: [{ text: 'two' }] }],
          note: { id: '2' },
        },
      });
      expect(server.statements()).toHaveLength(2);
      expect(
        await server.query(
          '{ hello(name: "you") run notes { shout } loudest { text replies { shout } } }',
        ),
      ).toEqual({
        data: {
          hello: 'hello you',
          run: 'of the user',
          notes: [{ shout: 'ONE' }, { shout: 'TWO' }],
          loudest: { text: 'one', replies: [{ shout: 'TWO' }] },
        },
      });
      expect(await server.query('mutation { silence deleteNote(id: 2) }')).toEqual({
        data: { silence: 0, deleteNote: true },
      });
      expect((await server.query('{ later }')).errors).toMatchObject([
        {
          message:
            'Reading.later is not implemented yet: write it in src/resolvers/Reading.ts and run npm run generate',
          extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'Reading.later' },
        },
      ]);
    }));

  it('tell of changes, and of events of the user', () =>
    within(async (server) => {
      const heard = await listen(server, 'subscription { noteChanged { __typename text shout } }');
      await vi.waitFor(async () => {
        await server.query('mutation { createNote(text: "three") { id } }');
        expect(heard()).toContain('event: next');
      }, 20_000);
      expect(heard()).toContain(
        '{"data":{"noteChanged":{"__typename":"Note","text":"three","shout":"THREE"}}}',
      );
      const ticks = await listen(server, 'subscription { ticks(to: 2) }');
      await vi.waitFor(() => expect(ticks()).toContain('event: complete'), 20_000);
      expect([...ticks().matchAll(/data: (.+)/g)].map(([, text]) => text)).toEqual([
        '{"data":{"ticks":1}}',
        '{"data":{"ticks":2}}',
      ]);
    }));
});

/** Everything that came over server-sent events so far. */
async function listen({ url }: TestServer, query: string): Promise<() => string> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  let text = '';
  const read = async () => {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      text += part;
  };
  void read().catch(() => {});
  return () => text;
}
