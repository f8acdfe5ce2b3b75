import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { root } from '../source-files.ts';
import { databases, projectOf, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! friend: Author posts(limit: Int): [Post!]! pages(first: Int): PostConnection! @relation(inverse: "author") }
  type Post { id: ID! title: String! author: Author! }
  type PostConnection { edges: [PostEdge!]! nodes: [Post!]! totalCount: Int! }
  type PostEdge { node: Post! cursor: String! }
  input AuthorFilter { name: TextFilter not: AuthorFilter } input TextFilter { eq: String in: [String!] }
  type Query { authors(limit: Int, where: AuthorFilter): [Author!]! author(id: ID!): Author text(characters: Int!): String wait(milliseconds: Int!): String }
  input NewPost { title: String! authorId: ID! }
  type Mutation { createAuthor(name: String!): Author! createPosts(input: [NewPost!]!): Int! }
  type Subscription { authorCreated: Author! }
`.replace(' pages(first: Int): PostConnection! @relation(inverse: "author")', '');

const MANIFEST = 'name: test\napi: { limits: { batch: 10, time: 5s } }\n';

/** A request and what it comes to: everything, or the code of a refusal. */
interface Side {
  readonly sends: () => Promise<unknown>;
  readonly gets: unknown;
}

interface Pair {
  /** The default that the contract names, or what this test's manifest says. */
  readonly limit: number;
  readonly at: Side;
  readonly over: Side;
}

let server: TestServer;

const post = (body: unknown, headers: Record<string, string> = {}) =>
  server.call('POST', '/graphql', { body, headers });
const told = async (body: unknown) => {
  const { status, body: answer } = await post(body);
  const error = answer.errors?.[0];
  return error
    ? [status, error.extensions.code, error.extensions.value, error.extensions.limit]
    : status;
};
const repeated = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');

/** A document on the line, and one with one more. */
const pair = (limit: number, code: string, body: (count: number) => unknown): Pair => ({
  limit,
  at: { sends: () => told(body(limit)), gets: 200 },
  over: { sends: () => told(body(limit + 1)), gets: [400, code, limit + 1, limit] },
});

const nested = (levels: number) =>
  `{ author(id: 1) ${'{ friend '.repeat(levels - 2)}{ id }${' }'.repeat(levels - 2)} }`;
const sized = (bytes: number) => {
  const body = (padding: number) =>
    JSON.stringify({ query: '{ __typename }', extensions: { x: 'y'.repeat(padding) } });
  return body(bytes - body(0).length);
};
const names = async (query: string) => (await post({ query })).body.data.authors.length;
const chunked = async (text: string) =>
  (
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      duplex: 'half',
      body: new Blob([text]).stream(),
    } as RequestInit)
  ).status;
/** `{"data":{"text":"…"}}` */
const TEXT = '{"data":{"text":""}}'.length;
const RESULT = 10 * 2 ** 20;
/** In UTF-8 an ü takes two bytes. */
const result = (bytes: number) => ({
  query: 'query ($n: Int!) { text(characters: $n) }',
  variables: { n: (bytes - TEXT) / 2 },
});

/** One mutation of many rows. */
const creating = (count: number) => ({
  query: 'mutation ($input: [NewPost!]!) { createPosts(input: $input) }',
  variables: { input: Array.from({ length: count }, () => ({ title: 'one', authorId: '1' })) },
});

/** A query, while others in the making hold so many bytes. */
async function besideAnswersOf(bytes: number): Promise<unknown> {
  const { memory } = server.store;
  const other = { cancelled: false };
  const { limits } = server.project.api;
  await memory.take({ asker: other, limits, sent: true }, bytes);
  try {
    return await told({ query: '{ authors(where: { name: { eq: "x" } }) { id } }' });
  } finally {
    memory.end(other);
  }
}

/** Every limit of `api.limits`, the body, and those that no setting changes. */
const LIMITS: Readonly<Record<string, Pair>> = {
  depth: pair(12, 'TOO_DEEP', (levels) => ({ query: nested(levels) })),
  aliases: pair(30, 'TOO_MANY_ALIASES', (count) => ({
    query: `{ author(id: 1) { ${repeated(count, (index) => `a${index}: name`)} } }`,
  })),
  rootFields: pair(20, 'TOO_MANY_ROOT_FIELDS', (count) => ({
    query: `{ ${repeated(count, (index) => `a${index}: __typename`)} }`,
  })),
  directives: pair(50, 'TOO_MANY_DIRECTIVES', (count) => ({
    query: `{ author(id: 1) { ${'id @include(if: true) '.repeat(count)} } }`,
  })),
  // Twenty signs and words, and the names.
  tokens: pair(2000, 'TOO_MANY_TOKENS', (count) => ({
    query: `{ authors(where: { name: { in: [${'"x" '.repeat(count - 20)}] } }) { id } }`,
  })),
  // Four times 100 authors with 100 posts each, and 96 with 99, are 50,000 objects.
  cost: pair(50_000, 'TOO_COSTLY', (cost) => ({
    query: `{ ${repeated(4, (index) => `a${index}: authors { posts(limit: 100) { id } }`)} authors(limit: 96) { posts(limit: 99) { id } } ${'author(id: 1) { id }'.repeat(cost - 50_000)} }`,
  })),
  batch: pair(10, 'BATCH_TOO_LARGE', (count) =>
    Array.from({ length: count }, () => ({ query: '{ __typename }' })),
  ),
  many: {
    limit: 1000,
    at: { sends: () => told(creating(1000)), gets: 200 },
    over: { sends: () => told(creating(1001)), gets: [200, 'BAD_USER_INPUT', 1001, 1000] },
  },
  list: {
    limit: 100,
    at: { sends: () => names('{ authors(limit: 100) { id } }'), gets: 100 },
    over: {
      sends: () => told({ query: '{ authors(limit: 101) { id } }' }),
      gets: [200, 'BAD_USER_INPUT', undefined, 100],
    },
  },
  time: {
    limit: 5000,
    at: { sends: () => told({ query: '{ wait(milliseconds: 1) }' }), gets: 200 },
    over: {
      sends: () => told({ query: '{ wait(milliseconds: 60000) }' }),
      gets: [400, 'TIMEOUT', 5000, 5000],
    },
  },
  result: {
    limit: RESULT,
    at: { sends: () => told(result(RESULT)), gets: 200 },
    over: {
      sends: () => told(result(RESULT + 2)),
      gets: [400, 'RESULT_TOO_LARGE', RESULT + 2, RESULT],
    },
  },
  memory: {
    limit: 2 ** 27,
    at: { sends: () => besideAnswersOf(2 ** 27 - RESULT), gets: 200 },
    over: {
      sends: () => besideAnswersOf(2 ** 27 - RESULT + 1),
      gets: [503, 'UNAVAILABLE', undefined, 2 ** 27],
    },
  },
  body: {
    limit: 2 ** 20,
    at: {
      sends: async () => [(await post(sized(2 ** 20))).status, await chunked(sized(2 ** 20))],
      gets: [200, 200],
    },
    over: {
      sends: async () => [
        (await post(sized(2 ** 20 + 1))).status,
        await chunked(sized(2 ** 20 + 1)),
      ],
      gets: [413, 413],
    },
  },
  // What a caller nests in a variable, and in a filter.
  variables: {
    limit: 64,
    at: {
      sends: () => told({ query: '{ __typename }', variables: { deep: lists(63) } }),
      gets: 200,
    },
    over: {
      sends: () => told({ query: '{ __typename }', variables: { deep: lists(64) } }),
      gets: [400, 'TOO_DEEP', undefined, 64],
    },
  },
  filter: {
    limit: 40,
    at: { sends: () => told({ query: FILTERED, variables: { where: filter(38) } }), gets: 200 },
    over: {
      sends: () => told({ query: FILTERED, variables: { where: filter(40) } }),
      gets: [200, 'TOO_DEEP', undefined, 40],
    },
  },
  // A filter has two fields, and so has its name.
  values: {
    limit: 200_000,
    at: {
      sends: () => told({ query: FILTERED, variables: { where: among(200_000 - 4) } }),
      gets: 200,
    },
    over: {
      sends: () => told({ query: FILTERED, variables: { where: among(200_000 - 3) } }),
      gets: [400, 'BAD_USER_INPUT', 200_001, 200_000],
    },
  },
  fields: pair(10_000, 'TOO_COSTLY', (count) => ({ query: fields(count) })),
  socketOperations: {
    limit: 100,
    at: { sends: () => socketCloses(100), gets: null },
    over: { sends: () => socketCloses(101), gets: 4429 },
  },
  socketMessage: {
    limit: 2 ** 20,
    at: { sends: () => socketCloses(0, 2 ** 20), gets: null },
    over: { sends: () => socketCloses(0, 2 ** 20 + 1), gets: 1009 },
  },
};

const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
const FILTERED = 'query ($where: AuthorFilter) { authors(limit: 1, where: $where) { id } }';
const among = (names: number) => ({ name: { in: Array.from({ length: names }, () => 'x') } });
const filter = (levels: number): unknown =>
  levels === 0 ? { name: { eq: 'x' } } : { not: filter(levels - 1) };

/** A thousand fields nine times, a hundred nine times, ten nine times: with the one that they stand in, and nine more, ten thousand. */
function fields(count: number): string {
  const times = (number: number, what: string) => `${what} `.repeat(number);
  return `{ author(id: 1) { ${times(9, '...C')} ${times(9, '...B')} ${times(9, '...A')} ${times(count - 9991, 'id')} } } fragment C on Author { ${times(10, '...B')} } fragment B on Author { ${times(10, '...A')} } fragment A on Author { ${times(10, 'id')} }`;
}

/** The code that a socket is closed with, if it is, after so many subscriptions, or a message of so many bytes. */
async function socketCloses(operations: number, bytes = 0): Promise<number | null> {
  const socket = new WebSocket(
    `${server.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const send = (message: object) => socket.send(JSON.stringify(message));
  return new Promise((resolve) => {
    socket.on('open', () => send({ type: 'connection_init' }));
    socket.on('close', (code) => resolve(code === 1000 ? null : code));
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data));
      if (type === 'pong') socket.close(1000);
      if (type !== 'connection_ack') return;
      for (let id = 0; id < operations; id++)
        send({
          type: 'subscribe',
          id: String(id),
          payload: { query: 'subscription { authorCreated { id } }' },
        });
      const ping = { type: 'ping', payload: { x: '' } };
      send({
        ...ping,
        payload: { x: 'y'.repeat(Math.max(bytes - JSON.stringify(ping).length, 0)) },
      });
    });
  });
}

beforeAll(async () => {
  server = await startServer(SDL, {
    manifest: MANIFEST,
    database: databases.at(-1) ?? 'sqlite',
    resolvers: {
      Query: {
        text: (_: unknown, { characters }: { characters: number }) => 'ü'.repeat(characters),
        wait: (
          _: unknown,
          { milliseconds }: { milliseconds: number },
          { signal }: { signal: AbortSignal },
        ) =>
          new Promise((resolve) => {
            const timer = setTimeout(resolve, milliseconds, 'waited');
            signal.addEventListener('abort', () => (clearTimeout(timer), resolve(null)));
          }),
      },
    },
  });
  await server.store.db
    .insertInto('authors')
    .values(Array.from({ length: 101 }, (_, index) => ({ name: `a${index}` })))
    .execute();
  for (let id = 1; id <= 12; id++)
    await server.store.db
      .updateTable('authors')
      .set({ friend_id: id + 1 })
      .where('id', '=', id)
      .execute();
});
afterAll(() => server?.close());

describe('a limit', () => {
  it.each(Object.entries(LIMITS).map(([name, limit]) => ({ name, ...limit })))(
    '$name: $limit passes',
    async ({ at }) => {
      expect(await at.sends()).toEqual(at.gets);
    },
  );

  it.each(Object.entries(LIMITS).map(([name, limit]) => ({ name, ...limit })))(
    '$name: one over $limit does not',
    async ({ over }) => {
      expect(await over.sends()).toEqual(over.gets);
    },
  );

  it('has a test on both sides of the line, whichever a manifest may set or the page of docs names', () => {
    const { api, server: listening } = projectOf(SDL);
    const settable = [...Object.keys(api.limits), ...(listening.bodyLimit ? ['body'] : [])];
    expect(settable.filter((name) => !(name in LIMITS))).toEqual([]);
    const page = readFileSync(join(root, 'runtime/core/graphql/docs/limits.md'), 'utf8');
    const named = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name = '']) =>
      name.replace(/_(.)/, (_, letter: string) => letter.toUpperCase()),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !(name in LIMITS))).toEqual([]);
    const defaults = Object.entries({ ...api.limits, body: listening.bodyLimit }).filter(
      ([name]) => !['batch', 'time'].includes(name),
    );
    expect(defaults.map(([name, value]) => [name, value])).toEqual(
      defaults.map(([name]) => [name, LIMITS[name]?.limit]),
    );
    expect([api.limits.batch, api.limits.time]).toEqual([0, 10_000]);
  });

  it('of a batch is none at all until a manifest sets it', async () => {
    const closed = await startServer(SDL);
    try {
      expect(
        await closed.call('POST', '/graphql', { body: [{ query: '{ __typename }' }] }),
      ).toMatchObject({
        status: 400,
        body: { errors: [{ extensions: { code: 'BATCHING_DISABLED' } }] },
      });
      expect(
        (await closed.call('POST', '/graphql', { body: { query: '{ __typename }' } })).status,
      ).toBe(200);
    } finally {
      await closed.close();
    }
  });
});
