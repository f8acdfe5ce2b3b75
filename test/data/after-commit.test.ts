import { afterEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
  type Note { id: ID! title: String! slow: String @computed }
  type Query { notes: [Note!]! }
  type Mutation { createNote(title: String!): Note! }
`;

/** The call of a hook after a commit, as far as the test looks at it. */
interface Committed {
  readonly item: { readonly title: string };
  readonly ctx: any;
}

describe.each(databases)('what follows a commit on %s', (database) => {
  let server: TestServer;
  afterEach(() => server.close());

  const titles = async () =>
    (await server.query('{ notes { title } }')).data.notes.map(({ title }: any) => title);

  it('reads and writes to its end, though the client has gone', async () => {
    const left = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const afterCommit = async ({ item, ctx }: Committed) => {
      if (item.title !== 'first') return;
      ctx.signal.addEventListener('abort', () => left.resolve());
      await left.promise;
      const found = await ctx.data.note.findMany();
      await ctx.data.note.create({ data: { title: `after ${found.length}` } });
    };
    server = await startServer(SDL, {
      database,
      entityHooks: { Note: { afterCommit: { create: afterCommit } } },
      resolvers: { Note: { slow: () => (reached.resolve(), new Promise(() => {})) } },
    });
    const client = new AbortController();
    const asked = fetch(`${server.url}/graphql`, {
      method: 'POST',
      signal: client.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'mutation { createNote(title: "first") { slow } }' }),
    });
    await reached.promise;
    client.abort();
    await expect(asked).rejects.toThrow('aborted');
    await expect.poll(titles).toEqual(['first', 'after 1']);
  });
});
