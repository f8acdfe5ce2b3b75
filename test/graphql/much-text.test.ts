import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { Resolvers } from '../../runtime/core/index.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { startServer, type TestServer } from './harness.ts';

const SDL = `
  type Post { id: ID! title: String! body: String! }
  input PostFilter { title: TextFilter body: TextFilter or: [PostFilter!] }
  input TextFilter { eq: String contains: String mode: Mode }
  enum Mode { SENSITIVE INSENSITIVE }
  type Query { posts(where: PostFilter): [Post!]! own: [Post!]! }
  type Mutation { renamePost(id: ID!, title: String!): Post @resolve(as: UPDATE) }
`;

/** `contains` leaves longer parts than 64 bytes to a function of JavaScript. */
const PART = 'y'.repeat(100);
const ANYWHERE = '{ posts(where: { body: { contains: "ÄÖÜ", mode: INSENSITIVE } }) { id } }';
const REFUSAL =
  'a filter would look through more than 100000000 characters: narrow it with another field, or look for words with search';

const RESOLVERS: Resolvers = {
  Query: { own: (_, __, { data }) => data.post.findMany({ where: { body: { contains: PART } } }) },
};

let server: TestServer;
let folder: string;
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A server with so many posts, whose bodies are `letter` so often. */
async function start(
  kind: string,
  { posts, letter, times }: { posts: number; letter: string; times: number },
): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'text-'));
  server = await startServer(SDL, {
    manifest: 'name: texts\napi: { rest: true }\n',
    resolvers: RESOLVERS,
    ...(kind === 'file' && { url: `file:${join(folder, 'app.db')}` }),
    also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
  });
  await sql`insert into posts (title, body) with recursive n(i) as (select 1 union all select i + 1 from n where i < ${posts}) select 'post ' || i, replace(printf(${`%.${times}c`}, 'x'), 'x', ${letter}) from n`.execute(
    server.store.db,
  );
}

const WITH_PART = `{ posts(where: { body: { contains: "${PART}" } }) { id } }`;

async function expectRefused(document: string): Promise<void> {
  const { errors } = await server.query(document);
  expect([document, errors?.[0]?.message]).toEqual([document, REFUSAL]);
  expect(errors?.[0].extensions).toMatchObject({ code: 'TOO_COSTLY', limit: 100_000_000 });
}

/** Twelve bodies are more than a statement may read. */
const TOO_MUCH = { posts: 12, letter: 'x', times: 9_000_000 };

describe('texts that functions of a statement on SQLite read', () => {
  it('are so many at most, as node keeps them until it ends, whoever asks', async () => {
    await start('file', TOO_MUCH);
    await expectRefused(WITH_PART);
    await expectRefused('{ own { id } }');
    const response = await fetch(`${server.url}/api/posts?body_contains=${PART}`);
    expect([response.status, await response.json()]).toEqual([400, { error: REFUSAL }]);
    // Short words, and texts of ASCII, stay with the database, which keeps nothing.
    const short = '{ posts(where: { body: { contains: "y" } }) { id } }';
    expect(await server.query(short)).toEqual({ data: { posts: [] } });
    expect(await server.query(ANYWHERE)).toEqual({ data: { posts: [] } });
  });

  it('are so many at most in memory', async () => {
    await start(':memory:', TOO_MUCH);
    await expectRefused(WITH_PART);
  });

  it('may be those of a hundred thousand rows, whatever their letters are', async () => {
    await start('file', { posts: 100_000, letter: 'Ж', times: 200 });
    expect(await server.query(ANYWHERE)).toEqual({ data: { posts: [] } });
  });
});
