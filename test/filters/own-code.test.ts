import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { insert, SDL } from './project.ts';

describe.each(databases)('ctx.data on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: 'name: words\n' });
    await insert(server.store, 'posts', [
      { title: 'Éclair', tags: ['a', 'b'], meta: { a: [1] }, place: { city: 'Lyon' } },
      { title: 'Books', tags: [], meta: 'text' },
      { title: null },
    ]);
    await insert(server.store, 'comments', [{ text: 'one', post_id: 1 }]);
  });
  afterAll(() => server.close());

  it.each<[unknown, number[]]>([
    [{ title: { startsWith: 'éc', mode: 'INSENSITIVE' } }, [1]],
    [{ tags: { has: 'b' } }, [1]],
    [{ tags: { hasSome: ['z', 'a'] } }, [1]],
    [{ tags: { isEmpty: true } }, [2]],
    [{ tags: ['a', 'b'] }, [1]],
    [{ meta: { path: ['a', '0'], gte: 1 } }, [1]],
    [{ meta: { a: [1] } }, [1]],
    [{ meta: { isNull: true } }, [3]],
    [{ place: { isNull: false } }, [1]],
    [{ comments: { count: { gte: 1 } } }, [1]],
  ])('takes the words of filters: %j', async (where, ids) => {
    const { data } = systemContext({
      store: server.store,
      log: { child: () => ({}) } as never,
    }) as any;
    expect((await data.post.findMany({ where })).map(({ id }: any) => Number(id))).toEqual(ids);
  });

  it('refuses words that do not fit', async () => {
    const { data } = systemContext({
      store: server.store,
      log: { child: () => ({}) } as never,
    }) as any;
    for (const where of [{ views: { has: 1 } }, { title: { mode: 'LOUD' } }, { tags: { lt: 'a' } }])
      await expect(data.post.findMany({ where })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});
