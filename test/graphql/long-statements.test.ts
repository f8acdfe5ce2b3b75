import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRest } from '../../runtime/core/rest/index.ts';
import { sql } from 'kysely';
import type { EntityHooks } from '../../runtime/core/context/entity-hooks.ts';
import { inferred, type Resolvers } from '../../runtime/core/index.ts';
import { slowness } from '../machine.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! posts(where: PostFilter, limit: Int): [Post!]! }
  type Post { id: ID! title: String! body: String! author: Author! }
  input PostFilter { title: TextFilter author: AuthorFilter }
  input AuthorFilter { name: TextFilter posts: PostListFilter }
  input PostListFilter { some: PostFilter none: PostFilter }
  input TextFilter { eq: String contains: String ne: String }
  input AuthorPatch { name: String }
  type Query { authors(where: AuthorFilter, limit: Int): [Author!]! posts(where: PostFilter, limit: Int): [Post!]! post(id: ID!): Post own: [Author!]! found: Int counted: Int }
  type Mutation { createAuthor(name: String!): Author! updateAuthor(id: ID!, name: String!): Author renameAuthor(id: ID!, name: String!): Author @resolve(as: UPDATE) updatePost(id: ID!, body: String!): Post }
  type Subscription { authorCreated: Author! }
`;

/** Milliseconds; the statements below take minutes, and what is to be answered a few. */
const TIME = 400 * slowness();
const POSTS = 3000;

/** Each post has a hundred thousand posts to look at in its turn: it takes minutes. */
const HOPS =
  '{ author: { posts: { some: { author: { posts: { none: { title: { eq: "nothing" } } } } } } } }';
const WHERE = {
  author: { posts: { some: { author: { posts: { some: { title: { eq: 'x' } } } } } } },
};
const LONG = `{ posts(where: ${HOPS.replace('"nothing"', '"x"').replace('none', 'some')}) { id } }`;

let server: TestServer;
let folder: string | undefined;
afterEach(async () => {
  await server?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

const RESOLVERS: Resolvers = {
  Query: {
    own: () => [{ id: 1 }, { id: 2 }],
    found: async (_, __, { data }) => (await data.post.findMany({ where: WHERE })).length,
    counted: (_, __, { data }) => data.post.count({ where: WHERE }),
  },
  Mutation: {
    renameAuthor: (parent, args, ctx, info) =>
      ctx.transaction(() => inferred(parent, args, ctx, info)),
  },
};

interface StartOptions {
  readonly limits?: Record<string, number>;
  readonly entityHooks?: Record<string, EntityHooks>;
}

async function start(
  database: string,
  { limits = {}, entityHooks = {} }: StartOptions = {},
): Promise<void> {
  const resolvers = RESOLVERS;
  if (database === 'file') folder = mkdtempSync(join(tmpdir(), 'long-'));
  server = await startServer(SDL, {
    manifest: 'name: long\napi: { rest: true }\n',
    resolvers,
    entityHooks,
    ...(folder ? { url: `file:${join(folder, 'app.db')}` } : {}),
    ...(database === 'postgres' && { database }),
    change: (project) => ({
      ...project,
      api: {
        ...project.api,
        limits: { ...project.api.limits, time: TIME, cost: 10_000_000, batch: 5, ...limits },
      },
    }),
    also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
  });
  const { db } = server.store;
  await db
    .insertInto('authors')
    .values([{ name: 'Ada' }, { name: 'Bob' }])
    .execute();
  for (let from = 0; from < POSTS; from += 500)
    await db
      .insertInto('posts')
      .values(
        Array.from({ length: 500 }, (_, index) => ({
          title: `post ${from + index}`,
          body: 'x'.repeat(100),
          author_id: 1,
        })),
      )
      .execute();
}

/** PostgreSQL finds short ways through hops: here it takes five milliseconds for each post that it looks at. */
async function startSlow(database: string, options: StartOptions = {}): Promise<void> {
  await start(database, options);
  if (database !== 'postgres') return;
  const { db } = server.store;
  await sql`alter table posts rename to quick`.execute(db);
  await sql`create view posts as select * from quick where pg_sleep(0.005) is not null`.execute(db);
}

const kinds = [...databases.flatMap((name) => (name === 'sqlite' ? ['file', ':memory:'] : [name]))];
const codeOf = ({ errors }: { errors?: any[] }) =>
  errors?.[0]?.extensions.code as string | undefined;

/** How often a query by id is answered until `until` is done. */
async function askMeanwhile(until: Promise<unknown>): Promise<number> {
  const end = new AbortController();
  let answered = 0;
  void until.finally(() => end.abort()).catch(() => {});
  while (!end.signal.aborted) {
    const { data } = await server.query('{ post(id: 1) { title } }');
    if (!end.signal.aborted && data.post.title === 'post 0') answered += 1;
  }
  return answered;
}

/** Statements that the server of the database works on, for anyone but who asks. */
async function active(): Promise<number> {
  if (server.store.dialect === 'sqlite') return server.store.connections().used;
  const { rows } = await sql<{
    count: string;
  }>`select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle' and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(
    server.store.db,
  );
  return Number(rows[0]?.count);
}

/** No statement is left soon after its answer. */
const expectCalm = () => vi.waitFor(async () => expect(await active()).toBe(0), 1000 * slowness());

const OPERATIONS = {
  'a query': LONG,
  'a query that the executor puts together': LONG.replace(
    '{ id } }',
    '{ id } own { posts { id } } }',
  ),
  'rows that a function of yours asks for': '{ found }',
  'a number that a function of yours asks for': '{ counted }',
  'a relation of objects of a function of yours': `{ own { posts(where: ${HOPS.replace('none', 'some')}) { id } } }`,
};

const HOOKED = { Author: { afterOperation: () => {} } };

/** Mutations that run in different transactions, each with what it needs. */
const MUTATIONS = {
  'a mutation': ['updateAuthor', {}],
  'a mutation with hooks': ['updateAuthor', { entityHooks: HOOKED }],
  'what a function of yours infers in its transaction': ['renameAuthor', {}],
} as const;

describe.each(kinds)('a long statement on %s', (database) => {
  it.each(Object.entries(OPERATIONS))('of %s ends with its time', async (_, document) => {
    await startSlow(database);
    expect(codeOf(await server.query(document))).toBe('TIMEOUT');
    await expectCalm();
    expect((await server.query('{ post(id: 1) { title } }')).data.post.title).toBe('post 0');
  });

  it.each(Object.entries(MUTATIONS))(
    'of %s ends with its time, and nothing is written',
    async (_, [field, options]) => {
      await startSlow(database, options);
      const document = `mutation { ${field}(id: 1, name: "late") { posts(where: ${HOPS.replace('none', 'some')}) { id } } }`;
      expect(codeOf(await server.query(document))).toBe('TIMEOUT');
      await expectCalm();
      expect((await server.query('{ authors { name } }')).data.authors[0].name).toBe('Ada');
      const again = await server.query('mutation { updateAuthor(id: 1, name: "Eva") { name } }');
      expect(again.data.updateAuthor.name).toBe('Eva');
    },
  );

  it('of a batch, of REST and of an event ends with its time', async () => {
    await startSlow(database);
    const batch = await server.call('POST', '/graphql', { body: [{ query: LONG }] });
    expect(codeOf(batch.body[0])).toBe('TIMEOUT');
    const stream = await fetch(
      `${server.url}/graphql?query=${encodeURIComponent(`subscription { authorCreated { name posts(where: ${HOPS}) { id } } }`)}`,
      { headers: { accept: 'text/event-stream' } },
    );
    await server.query('mutation { createAuthor(name: "new") { id } }');
    const reader = stream.body?.getReader();
    await reader?.cancel();
    await expectCalm();
  });
});

const others = kinds.filter((kind) => kind !== ':memory:');

describe.each(others)('beside long statements on %s', (database) => {
  it('queries by id are answered', async () => {
    await startSlow(database);
    const long = Promise.all(Array.from({ length: 12 }, () => server.query(LONG)));
    const answered = await askMeanwhile(long);
    expect(answered).toBeGreaterThan(5);
    expect((await long).map(codeOf)).toEqual(Array.from({ length: 12 }, () => 'TIMEOUT'));
  });

  it('queries by id are answered when it is of a mutation', async () => {
    await startSlow(database);
    const document = `mutation { updateAuthor(id: 1, name: "late") { posts(where: ${HOPS.replace('none', 'some')}) { id } } }`;
    const long = server.query(document);
    expect(await askMeanwhile(long)).toBeGreaterThan(2);
    expect(codeOf(await long)).toBe('TIMEOUT');
    const { data } = await server.query('{ authors { name } }');
    expect(data.authors[0].name).toBe('Ada');
  });

  it('one of a mutation that ends well is committed', async () => {
    await start(database, { limits: { time: 10_000 } });
    const document =
      'mutation { updateAuthor(id: 1, name: "Eva") { name posts(where: { title: { contains: "2999" } }) { title } } }';
    expect((await server.query(document)).data.updateAuthor).toEqual({
      name: 'Eva',
      posts: [{ title: 'post 2999' }],
    });
    expect((await server.query('{ authors { name } }')).data.authors[0].name).toBe('Eva');
  });

  it('one whose client goes away ends, and the next has its turn', async () => {
    await startSlow(database, { limits: { time: 60_000 } });
    const abort = new AbortController();
    const asked = Array.from({ length: 8 }, () =>
      fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: LONG }),
        signal: abort.signal,
      }).catch(() => {}),
    );
    await sleep(300);
    abort.abort();
    await Promise.all(asked);
    const { data } = await server.query(
      '{ posts(where: { title: { contains: "999" } }) { title } }',
    );
    expect(data.posts.map(({ title }: any) => title)).toContain('post 999');
    await expectCalm();
  });
});

// In the one thread of SQLite nobody is noticed to leave while a statement runs.
describe.each(databases.filter((name) => name === 'postgres'))('on %s', (database) => {
  const rows = `posts(where: ${HOPS.replace('none', 'some')}) { id }`;
  it.each([
    ['a query of ctx.data', '{ found }', {}],
    ['a mutation with hooks', `mutation { updateAuthor(id: 1, name: "x") { ${rows} } }`, HOOKED],
    [
      'what is inferred in a transaction',
      `mutation { renameAuthor(id: 1, name: "x") { ${rows} } }`,
      {},
    ],
  ])('%s ends when its client goes away', async (_, query, entityHooks) => {
    await startSlow(database, { limits: { time: 60_000 }, entityHooks });
    const abort = new AbortController();
    const asked = fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal: abort.signal,
    }).catch(() => {});
    await vi.waitFor(async () => expect(await active()).toBe(1), 5000 * slowness());
    abort.abort();
    await asked;
    await expectCalm();
    const { data } = await server.query('{ authors { name } }');
    expect(data.authors[0].name).toBe('Ada');
  });
});

describe.each(kinds)('a large answer on %s', (database) => {
  const LARGE = '{ posts(limit: 100) { title body } }';

  it('is refused when it is larger than the limit, and never made', async () => {
    await start(database, { limits: { result: 5_000 } });
    expect(codeOf(await server.query(LARGE))).toBe('RESULT_TOO_LARGE');
    expect(codeOf(await server.query('{ own { name posts { body } } }'))).toBe('RESULT_TOO_LARGE');
    expect(await server.call('GET', '/api/posts?limit=100')).toMatchObject({
      status: 400,
      body: { error: 'the result has more than 5000 bytes' },
    });
    const { data } = await server.query('{ posts(limit: 2) { title } }');
    expect(data.posts).toHaveLength(2);
  });

  it('is answered as it is up to the limit', async () => {
    await start(database, { limits: { time: 10_000 } });
    const body = 'ü'.repeat(900_000);
    await server.store.db.updateTable('posts').set({ body }).where('id', '<', 4).execute();
    const { data } = await server.query('{ posts(limit: 3) { body } post(id: 2) { body } }');
    expect(data.posts.map((post: any) => post.body === body)).toEqual([true, true, true]);
    expect(data.post.body).toBe(body);
    expect(server.store.memory.held).toBe(0);
  });

  it.each(Object.entries(MUTATIONS))(
    'of %s is refused, and nothing is written',
    async (_, [field, options]) => {
      await start(database, { ...options, limits: { result: 5_000 } });
      const document = `mutation { ${field}(id: 1, name: "large") { posts(limit: 100) { body } } }`;
      expect(codeOf(await server.query(document))).toBe('RESULT_TOO_LARGE');
      expect((await server.query('{ authors { name } }')).data.authors[0].name).toBe('Ada');
    },
  );

  it('does not keep a larger value from being stored', async () => {
    await start(database, { limits: { result: 5_000, time: 10_000 } });
    const [body, name] = ['b'.repeat(20_000), 'n'.repeat(20_000)];
    const { errors } = await server.query(
      `mutation { updatePost(id: 1, body: "${body}") { id } renameAuthor(id: 1, name: "${name}") { id } updateAuthor(id: 2, name: "${name}") { posts(where: { title: { contains: "7" } }) { id } } }`,
    );
    expect(errors).toBeUndefined();
    const rows = await server.store.query('select name from authors order by id', []);
    expect(rows.map((row) => String(row['name']).length)).toEqual([20_000, 20_000]);
  });
});
