import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityData, EntityShape, WhereInput } from '../../runtime/core/data-api/types.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { insert, SDL } from './project.ts';

/** The types that the generator emits for `Post`, as far as these filters need them. */
interface PostShape extends EntityShape {
  readonly row: {
    readonly id: number | string;
    readonly title: string | null;
    readonly status: 'DRAFT' | 'LIVE' | null;
    readonly views: number | null;
    readonly tags: string[] | null;
    readonly meta: unknown;
    readonly place: { readonly city?: string | null } | null;
  };
  readonly key: { readonly id: number | string };
  readonly one: object;
  readonly many: { readonly comments: EntityShape };
}

type Where = WhereInput<PostShape>;

/** `ctx.data.post` of code that no rules apply to. */
function postsOf({ store }: TestServer): EntityData<PostShape> {
  const { data } = systemContext({ store, log: { child: () => ({}) } as never });
  return (data as { readonly post: EntityData<PostShape> }).post;
}

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

  it.each<[Where, number[]]>([
    [{ title: { startsWith: 'éc', mode: 'INSENSITIVE' } }, [1]],
    [{ tags: { has: 'b' } }, [1]],
    [{ tags: { hasSome: ['z', 'a'] } }, [1]],
    [{ tags: { isEmpty: true } }, [2]],
    [{ tags: { hasEvery: ['b', 'a'], isNull: false } }, [1]],
    [{ tags: { ne: ['a', 'b'] } }, [2, 3]],
    [{ status: { in: ['DRAFT', 'LIVE'] } }, []],
    [{ title: { in: ['BOOKS'], mode: 'insensitive' } }, [2]],
    [{ tags: ['a', 'b'] }, [1]],
    [{ meta: { path: ['a', '0'], gte: 1 } }, [1]],
    [{ meta: { a: [1] } }, [1]],
    [{ meta: { isNull: true } }, [3]],
    [{ place: { isNull: false } }, [1]],
    [{ comments: { count: { gte: 1 } } }, [1]],
  ])('takes the words of filters: %j', async (where, ids) => {
    const rows = await postsOf(server).findMany({ where });
    expect(rows.map(({ id }) => Number(id))).toEqual(ids);
  });

  it('refuses words that do not fit, when it is compiled and when it runs', async () => {
    const wrong: readonly Where[] = [
      // @ts-expect-error a number is no list
      { views: { has: 1 } },
      // @ts-expect-error there are two modes
      { title: { mode: 'LOUD' } },
      // @ts-expect-error lists have no order
      { tags: { lt: 'a' } },
      // @ts-expect-error the items are texts
      { tags: { hasSome: [1] } },
    ];
    for (const where of wrong)
      await expect(postsOf(server).findMany({ where })).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
      });
  });
});
