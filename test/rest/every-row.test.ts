import { describe, expect, it } from 'vitest';
import { createStreams } from '../../runtime/core/rest/service.ts';
import { databases, startRest, type Answer, type RestServer } from './harness.ts';

const SDL = `
  scalar Long
  type Author { id: ID! name: String! posts: [Post!]! }
  type Post { id: ID! title: String views: Int big: Long author: Author }
  type Query { authors: [Author!]! posts: [Post!]! }
  type Mutation { createAuthor(name: String!): Author! createPost(title: String, views: Int, big: Long, authorId: ID): Post! }
`;
const ROWS = 1203;

describe.each(databases)('every row of a list on %s', (database) => {
  const open = async () => {
    const server = await startRest(SDL, { database });
    await server.call('POST', '/api/authors', { body: { name: 'Ada, "Countess"' } });
    await server.store.db
      .insertInto('posts')
      .values(
        Array.from({ length: ROWS }, (_, index) => ({
          title: index % 5 === 0 ? null : `Post ${index % 7}`,
          views: index % 3 === 0 ? null : index,
          big: index === 2 ? '9007199254740993' : null,
          author_id: 1,
        })),
      )
      .execute();
    return server;
  };
  const stream = (server: RestServer, question: string, type: string): Promise<Answer> =>
    server.call('GET', `/api/posts?${question}`, { headers: { Accept: type } });
  const linesOf = ({ text }: Answer) => text.trimEnd().split('\n');

  it('comes once, in the order of the list, beyond a thousand rows', async () => {
    const server = await open();
    for (const question of ['', 'sort=title&order=desc', 'sort=views&order=asc']) {
      const ids = linesOf(await stream(server, question, 'application/x-ndjson')).map(
        (line) => JSON.parse(line).id as string,
      );
      const page = await server.get(`/api/posts?${question}&limit=100`);
      expect([ids.length, new Set(ids).size]).toEqual([ROWS, ROWS]);
      expect(ids.slice(0, 100)).toEqual(page.body.data.map(({ id }: { id: string }) => id));
    }
    await server.close();
  });

  it('is filtered, embeds rows, and rounds no number', async () => {
    const server = await open();
    const answer = await stream(server, 'id_in=1,3&include=author&sort=id', 'text/csv');
    expect(answer.text.split('\r\n')).toEqual([
      'id,title,views,big,authorId,author',
      expect.stringMatching(/^1,,,,1,"\{""id"":""1"",""name"":""Ada, \\""Countess\\""""\}"$/),
      expect.stringMatching(/^3,Post 2,2,9007199254740993,1,/),
      '',
    ]);
    const line = linesOf(await stream(server, 'id_in=3,4', 'application/x-ndjson'))[0];
    expect(line).toContain('"big":9007199254740993');
    expect((await stream(server, 'nope=1', 'text/csv')).status).toBe(400);
    expect((await stream(server, 'limit=1', 'text/csv')).body).toEqual({
      error: 'Unknown query parameter: limit',
    });
    await server.close();
  });

  it('is for two at once of a caller', () => {
    const streams = createStreams();
    const end = streams.take('user 1');
    streams.take('user 1');
    streams.take('user 2');
    expect(() => streams.take('user 1')).toThrow('Two exports are running already');
    end();
    end();
    streams.take('user 1');
    expect(() => streams.take('user 1')).toThrow();
  });
});

it('counts no client who left before the first row', async () => {
  const waiting: (() => void)[] = [];
  let isSlow = true;
  const posts = async () => {
    if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
    return [];
  };
  const server = await startRest(SDL, { resolvers: { Query: { posts } } });
  const ask = (signal?: AbortSignal) =>
    fetch(`${server.url}/api/posts`, {
      headers: { Accept: 'text/csv' },
      ...(signal && { signal }),
    });
  for (let count = 1; count <= 2; count += 1) {
    const leaving = new AbortController();
    const asked = ask(leaving.signal).catch(() => {});
    await expect.poll(() => waiting.length).toBe(count);
    leaving.abort();
    await asked;
  }
  isSlow = false;
  // The server hears of it a moment later.
  await expect.poll(async () => (await ask()).status, { timeout: 4000 }).toBe(200);
  waiting.forEach((resolve) => resolve());
  await server.close();
});
