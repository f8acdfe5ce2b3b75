import { afterEach, describe, expect, it, vi } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! posts(limit: Int): [Post!]! }
  type Post { id: ID! title: String! author: Author! }
  type Query { authors: [Author!]! posts: [Post!]! }
  input NewPost { title: String! }
  input PostPatch { title: String! }
  input PostUpdate { where: PostKey! data: PostPatch! }
  input PostKey { id: ID! }
  input NestedPosts { create: [NewPost!] update: [PostUpdate!] delete: [PostKey!] }
  input AuthorInput { name: String posts: NestedPosts }
  type Mutation { createAuthor(name: String!, posts: NestedPosts): Author! updateAuthor(id: ID!, input: AuthorInput!): Author tell(text: String!): Boolean! }
  type Subscription { authorCreated: Author! postCreated: Post! postUpdated: Post! postDeleted: Post! told: String! }
`;

let server: TestServer;
const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await server?.close();
});

async function start(database: 'sqlite' | 'postgres', limits: Record<string, number> = {}) {
  server = await startServer(SDL, {
    database,
    resolvers: {
      Mutation: {
        tell: (_, { text }, ctx) => {
          ctx.publish('told', text);
          return true;
        },
      },
    },
    change: (project) => ({
      ...project,
      api: { ...project.api, limits: { ...project.api.limits, ...limits } },
    }),
  });
}

/** Subscribes, and collects what an event stream says. */
async function listen(query: string) {
  const abort = new AbortController();
  ends.push(() => abort.abort());
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  });
  const heard = { status: response.status, text: '' };
  const read = async () => {
    for await (const piece of response.body!) heard.text += Buffer.from(piece).toString();
  };
  void read().catch(() => {});
  return heard;
}

const create = (args: string) => server.query(`mutation { createAuthor(${args}) { id } }`);
const tell = (text: string) => server.query(`mutation { tell(text: "${text}") }`);

const eventsIn = ({ text }: { text: string }): any[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));

/** The events, when there are so many. */
async function events(heard: { text: string }, count: number): Promise<any[]> {
  await vi.waitFor(() => expect(eventsIn(heard)).toHaveLength(count), 10_000);
  return eventsIn(heard);
}

describe.each(databases)('a subscription on %s', (database) => {
  it('is refused when its selection is too costly', async () => {
    await start(database);
    const lists =
      '{ posts(limit: 100) { author { posts(limit: 100) { author { posts(limit: 100) { id } } } } } }';
    const heard = await listen(`subscription { authorCreated ${lists} }`);
    await vi.waitFor(() => expect(heard.text).toContain('}'));
    expect(heard.status).toBe(400);
    expect(JSON.parse(heard.text).errors).toMatchObject([
      { extensions: { code: 'TOO_COSTLY', limit: 50_000, coordinate: 'Author.posts' } },
    ]);
  });

  it('gets an error in place of an event that is too large, and the next event', async () => {
    await start(database, { result: 400 });
    const published = await listen('subscription { told }');
    const created = await listen('subscription { authorCreated { name posts { title } } }');
    await tell('x'.repeat(1000));
    await tell('short');
    const large = Array.from({ length: 20 }, (_, index) => `{ title: "post number ${index}" }`);
    await create(`name: "Ada", posts: { create: [${large.join()}] }`);
    await create('name: "Bob"');
    const refused = { extensions: { code: 'RESULT_TOO_LARGE', limit: 400 } };
    expect(await events(published, 2)).toMatchObject([
      { data: null, errors: [refused] },
      { data: { told: 'short' } },
    ]);
    expect(await events(created, 2)).toMatchObject([
      { data: null, errors: [refused] },
      { data: { authorCreated: { name: 'Bob', posts: [] } } },
    ]);
  });

  it('hears of rows that a mutation writes below its own', async () => {
    await start(database);
    const [created, updated, deleted] = [
      await listen('subscription { postCreated { title author { name } } }'),
      await listen('subscription { postUpdated { title } }'),
      await listen('subscription { postDeleted { title } }'),
    ];
    await create('name: "Ada", posts: { create: [{ title: "a" }, { title: "b" }] }');
    // A row that is gone when its event is answered causes none.
    await events(created, 2);
    const written = await server.query(
      `mutation { updateAuthor(id: 1, input: { posts: {
        create: [{ title: "c" }] update: [{ where: { id: 1 }, data: { title: "A" } }] delete: [{ id: 2 }]
      } }) { id } }`,
    );
    expect(written.errors).toBeUndefined();
    expect((await events(created, 3)).map(({ data }) => data.postCreated)).toEqual(
      ['a', 'b', 'c'].map((title) => ({ title, author: { name: 'Ada' } })),
    );
    expect(await events(updated, 1)).toEqual([{ data: { postUpdated: { title: 'A' } } }]);
    expect(await events(deleted, 1)).toEqual([{ data: { postDeleted: { title: 'b' } } }]);
  });
});
