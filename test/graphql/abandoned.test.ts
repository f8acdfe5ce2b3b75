import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { createRest } from '../../runtime/core/rest/index.ts';
import { postgresUrl } from '../engines/available.ts';
import { startServer, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! mentor: Author posts: [Post!]! }
  type Post { id: ID! author: Author! slow: Slow }
  type Slow { id: ID! name: String! posts: [Post!]! }
  type Query { slows: [Slow!]! slow(id: ID!): Slow posts: [Post!]! post(id: ID!): Post loaded: String given: Post never: String }
  type Mutation { createAuthor(name: String!): Author! updateAuthor(id: ID!, name: String!): Author deleteAuthor(id: ID!): Boolean! }
`;

const TIME = 400;
const HOUR = 3600;

let server: TestServer;
afterEach(() => server?.close());

/** Rows of `Slow` take an hour to read, and those of `Author` an hour to write. */
async function start(time = TIME): Promise<void> {
  const resolvers = {
    Query: {
      loaded: async (_: unknown, __: unknown, { loaders }: any) =>
        (await loaders.slow.load(1)).name,
      given: () => ({ id: 1, slow_id: 1 }),
    },
  };
  const manifest = 'name: slow\napi: { rest: true }\n';
  server = await startServer(SDL, {
    manifest,
    resolvers,
    database: 'postgres',
    change: (project) => ({
      ...project,
      api: { ...project.api, limits: { ...project.api.limits, time } },
    }),
    also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
  });
  const { db } = server.store;
  await db.insertInto('slows').values({ name: 'one' }).execute();
  await db.insertInto('authors').values({ name: 'Ada' }).execute();
  await db.insertInto('posts').values({ author_id: 1, slow_id: 1 }).execute();
  await sql`create function sleep_first() returns trigger language plpgsql as ${sql.lit(`begin perform pg_sleep(${HOUR}); return new; end`)}`.execute(
    db,
  );
  await sql`create trigger sleep_first before insert or update or delete on authors for each row execute function sleep_first()`.execute(
    db,
  );
  await sql`alter table slows rename to quick`.execute(db);
  await sql`create view slows as select quick.* from quick, pg_sleep(${sql.lit(HOUR)})`.execute(db);
}

/** Statements that the server of the database works on, for anybody but who asks. */
async function active(): Promise<string[]> {
  const { rows } = await sql<{
    query: string;
  }>`select query from pg_stat_activity where datname = current_database() and state <> 'idle' and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(
    server.store.db,
  );
  return rows.map(({ query }) => query);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}

/** Nothing runs any more, every connection of the pool answers, and nobody complains. */
async function expectCalm(): Promise<void> {
  await until(async () => (await active()).length === 0);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      server.store.query('select $1::integer as index', [index]),
    ),
  );
  expect(answers.map(([row]) => row?.['index'])).toEqual(answers.map((_, index) => index));
  expect(server.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
}

const DOCUMENTS = {
  'a planned read': '{ slows { name } }',
  'a read that the executor explains': '{ slow(id: 1) { name } never }',
  'a relation': '{ posts { slow { name } } }',
  'a field of an object that a function returned': '{ given { slow { name } } }',
  'a loader': '{ loaded }',
  'a mutation that creates': 'mutation { createAuthor(name: "late") { id } }',
  'a mutation that changes': 'mutation { updateAuthor(id: 1, name: "late") { name } }',
  'a mutation that removes': 'mutation { deleteAuthor(id: 1) }',
  'many at once': `{ ${Array.from({ length: 5 }, (_, index) => `a${index}: slows { name }`).join(' ')} }`,
};

const CALLS = [
  ['GET', '/api/slows', undefined],
  ['GET', '/api/slows/1', undefined],
  ['POST', '/api/authors', { name: 'late' }],
  ['PATCH', '/api/authors/1', { name: 'late' }],
] as const;

describe.skipIf(!postgresUrl)('PostgreSQL goes on with no statement', () => {
  it.each(Object.entries(DOCUMENTS))('of %s that took too long', async (_, document) => {
    await start();
    const { errors } = await server.query(document);
    expect(errors?.[0]?.extensions.code).toBe('TIMEOUT');
    await expectCalm();
  });

  it.each(CALLS)('of %s %s that took too long', async (method, path, body) => {
    await start();
    expect(await server.call(method, path, body && { body })).toMatchObject({
      status: 503,
      body: { error: `the request took longer than ${TIME} ms` },
    });
    await expectCalm();
  });

  it.each(Object.entries(DOCUMENTS))('of %s whose client went away', async (_, query) => {
    await start(10 * 60_000);
    const abort = new AbortController();
    const asked = fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal: abort.signal,
    }).catch(() => {});
    await until(async () => (await active()).length > 0);
    abort.abort();
    await asked;
    await expectCalm();
  });

  it('when more wait than it has connections, and begins none for those that were told', async () => {
    await start();
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => server.query('{ slows { name } }')),
    );
    expect(answers.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual(
      answers.map(() => 'TIMEOUT'),
    );
    await expectCalm();
  });

  it('and with every statement that somebody waits for', async () => {
    await start(10 * 60_000);
    await sql`create or replace view slows as select quick.* from quick, pg_sleep(1.5)`.execute(
      server.store.db,
    );
    const staying = server.query('{ slows { name } }');
    const abort = new AbortController();
    const leaving = fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ slow(id: 1) { name } }' }),
      signal: abort.signal,
    }).catch(() => {});
    await until(async () => (await active()).length === 2);
    abort.abort();
    await leaving;
    expect(await staying).toEqual({ data: { slows: [{ name: 'one' }] } });
  });

  it('and with those of the user, which nothing limits', async () => {
    await start();
    const own = server.store.transaction(
      async (trx) => (await sql`select pg_sleep(1.5), 7 as seven`.execute(trx)).rows,
    );
    expect((await server.query('{ slows { name } }')).errors?.[0]?.extensions.code).toBe('TIMEOUT');
    expect(await own).toMatchObject([{ seven: 7 }]);
  });
});
