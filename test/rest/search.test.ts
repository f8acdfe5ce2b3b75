import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startRest, type RestServer } from './harness.ts';

const SDL = `
  type Post @search(fields: ["title", "body"]) { id: ID! title: String! body: String rank: Float @search(as: RANK) }
  type Tag { id: ID! search: String }
  type Query { posts(search: String): [Post!]! tags: [Tag!]! }
  type Mutation { createPost(title: String!, body: String): Post! }
`;

describe.each(databases)('search= and ctx.data on %s', (database) => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRest(SDL, { database });
    for (const [title, body] of [
      ['dogs', 'and a cat'],
      ['cat', null],
      ['birds', null],
    ])
      await server.store.db.insertInto('posts').values({ title, body }).execute();
    await server.store.db.insertInto('tags').values({ search: 'cat' }).execute();
  });
  afterAll(() => server?.close());

  it('finds the best first, in pages with their total', async () => {
    const ids = async (query: string) => {
      const { body } = await server.get(`/api/posts?${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.pagination.total];
    };
    expect(await ids('search=cat')).toEqual([['2', '1'], 2]);
    expect(await ids('search=cat&limit=1&page=2')).toEqual([['1'], 2]);
    expect(await ids('search=cat&sort=title&order=desc')).toEqual([['1', '2'], 2]);
    expect(await ids('search=cat%20-dogs')).toEqual([['2'], 1]);
    expect(await ids('search=')).toEqual([[], 0]);
    expect((await server.get('/api/posts?search=cat&fields=rank')).body.data[0]).toMatchObject({
      rank: 8 / 12,
    });
  });

  it('is a filter where the type has a field of this name and no @search', async () => {
    expect((await server.get('/api/tags?search=cat')).body.data).toHaveLength(1);
    expect((await server.get('/api/tags?search=dog')).body.data).toEqual([]);
  });

  it('is an argument of findMany, findFirst and count', async () => {
    const { data } = systemContext({
      store: server.store,
      log: { child: () => ({}) } as never,
    }) as any;
    const titles = (rows: { title: string }[]) => rows.map(({ title }) => title);
    expect(titles(await data.post.findMany({ search: 'cat' }))).toEqual(['cat', 'dogs']);
    expect((await data.post.findFirst({ search: 'cat' })).title).toBe('cat');
    expect(await data.post.count({ search: 'cat' })).toBe(2);
    expect(titles(await data.post.findMany({ search: 'cat', orderBy: { title: 'desc' } }))).toEqual(
      ['dogs', 'cat'],
    );
    expect(await data.post.findMany({ search: null })).toHaveLength(3);
    await expect(data.tag.findMany({ search: 'cat' })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
  });
});
