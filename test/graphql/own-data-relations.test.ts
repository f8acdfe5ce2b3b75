import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer, user } from './harness.ts';

const SDL = `
  type User @auth(allow: [PUBLIC]) { id: ID! email: String! @unique name: String! posts: [Post!]! }
  type Post @auth(allow: [PUBLIC], on: [READ], where: { hidden: false }) @auth(allow: [OWNER], owner: "author") {
    id: ID! title: String! views: Int hidden: Boolean! author: User tags: [Tag!]! comments: [Comment!]! cover: Cover
    commentCount: Int! @count(relation: "comments") discussed: Boolean! @exists(relation: "comments")
  }
  type Tag @auth(allow: [PUBLIC]) { id: ID! name: String! @unique weight: Int posts: [Post!]! }
  type Comment @auth(allow: [PUBLIC]) { id: ID! text: String! post: Post }
  type Cover @auth(allow: [PUBLIC]) { id: ID! url: String! @unique post: Post @relation(inverse: "cover") }
  scalar JSON
  type Query { posts: [Post!]! }
  type Mutation { run(name: String!): JSON }
`;

type Script = (ctx: any) => unknown;

describe.each(databases)('ctx.data with relations, on %s', (database) => {
  let server: TestServer;
  const scripts = new Map<string, Script>();
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: relations\napi: { access: public }\nauth: {}\n',
      resolvers: {
        Mutation: {
          run: (_: unknown, { name }: any, ctx: any) => scripts.get(name)?.(ctx) ?? null,
        },
      },
    });
    await run((ctx) => fill(ctx.sudo().data));
  });
  afterAll(() => server.close());

  async function fill(data: any) {
    for (const [email, name] of [
      ['ada@x.test', 'Ada'],
      ['ben@x.test', 'Ben'],
    ])
      await server.store.db.insertInto('users').values({ email, name }).execute();
    const post = (title: string, views: number | null, authorId: number | null, hidden = false) =>
      data.post.create({ data: { title, views, authorId, hidden } });
    await post('one', 5, 2);
    await post('two', null, 1);
    await post('three', 1, 1);
    await post('four', 5, null);
    await post('secret', 9, 2, true);
    await data.comment.createMany({
      data: [
        { text: 'a', postId: 1 },
        { text: 'b', postId: 1 },
        { text: 'c', postId: 3 },
        { text: 'd', postId: 5 },
      ],
    });
  }

  async function run(script: Script, as?: Parameters<TestServer['query']>[2]): Promise<any> {
    scripts.set('now', script);
    const { data, errors } = await server.query('mutation { run(name: "now") }', {}, as);
    if (errors) throw Object.assign(new Error(errors[0].message), errors[0].extensions);
    return data.run;
  }
  const titles = (args: object, as?: Parameters<TestServer['query']>[2]) =>
    run(async (ctx) => (await ctx.data.post.findMany(args)).map(({ title }: any) => title), as);

  it.each([
    ['a related object', [{ author: { name: 'desc' } }, { id: 'desc' }], 'four one three two'],
    ['a number of rows', [{ comments: { count: 'desc' } }, { title: 'asc' }], 'one three four two'],
    ['@count', [{ commentCount: 'asc' }, { id: 'desc' }], 'four two three one'],
    ['@exists', [{ discussed: 'desc' }, { id: 'asc' }], 'one three two four'],
    [
      'nulls last, downwards',
      [{ views: { direction: 'desc', nulls: 'last' } }, { id: 'asc' }],
      'one four three two',
    ],
    [
      'nulls first, upwards',
      { views: { direction: 'asc', nulls: 'first' }, title: 'desc' },
      'two three one four',
    ],
  ])('sorts by %s', async (_, orderBy, expected) => {
    expect((await titles({ orderBy })).join(' ')).toBe(expected);
  });

  it('has the first row of each combination with distinct, and counts as it filters', async () => {
    expect(await titles({ distinct: ['views'], orderBy: { id: 'desc' } })).toEqual([
      'four',
      'three',
      'two',
    ]);
    expect(await titles({ distinct: ['authorId', 'views'], orderBy: { id: 'asc' } })).toHaveLength(
      4,
    );
  });

  it('filters by @count, @exists and count, under the rules of the caller', async () => {
    expect(await titles({ where: { commentCount: { gte: 1 } } })).toEqual(['one', 'three']);
    expect(await titles({ where: { commentCount: 2 } })).toEqual(['one']);
    expect(await titles({ where: { discussed: false } })).toEqual(['two', 'four']);
    expect(await titles({ where: { comments: { count: { lt: 1 } } } })).toEqual(['two', 'four']);
    expect(await titles({ where: { discussed: true } }, user('2'))).toEqual([
      'one',
      'three',
      'secret',
    ]);
  });

  it('writes to many: connectOrCreate, set, update, delete, disconnect, by any unique key', async () => {
    const tags = () =>
      run(async (ctx) =>
        (
          await ctx
            .sudo()
            .data.tag.findMany({ where: { posts: { some: { id: 2 } } }, orderBy: { name: 'asc' } })
        ).map(({ name, weight }: any) => [name, weight]),
      );
    const change = (input: object) =>
      run((ctx) => ctx.data.post.update({ where: { id: 2 }, data: { tags: input } }), user('1'));
    const make = (name: string) => ({ where: { name }, create: { name, weight: 1 } });
    await change({ connectOrCreate: [make('art'), make('math')] });
    expect(await tags()).toEqual([
      ['art', 1],
      ['math', 1],
    ]);
    await change({ connectOrCreate: { ...make('math'), create: { name: 'other' } } });
    await change({ update: [{ where: { name: 'art' }, data: { weight: 7 } }] });
    expect(await tags()).toEqual([
      ['art', 7],
      ['math', 1],
    ]);
    await change({ set: [{ name: 'math' }], create: { name: 'new' } });
    expect(await tags()).toEqual([
      ['math', 1],
      ['new', null],
    ]);
    await change({ connect: { name: 'art' }, delete: { name: 'new' } });
    expect(await tags()).toEqual([
      ['art', 7],
      ['math', 1],
    ]);
    await change({ disconnect: [{ name: 'art' }] });
    await change({ connect: 1, set: [] });
    expect(await tags()).toEqual([['art', 7]]);
    expect(await run((ctx) => ctx.data.tag.count())).toBe(2);
  });

  it('writes to one: connectOrCreate, update, disconnect, delete, on either side of the key', async () => {
    const change = (data: object) =>
      run((ctx) => ctx.data.post.update({ where: { id: 3 }, data }), user('1'));
    const ada = { email: 'ada@x.test' };
    expect(
      await change({ author: { connectOrCreate: { where: ada, create: { name: 'x' } } } }),
    ).toMatchObject({ authorId: '1' });
    await change({ author: { update: { name: 'Ada L' } } });
    await change({ cover: { create: { url: 'a.png' } } });
    await change({ cover: { update: { url: 'b.png' } } });
    expect(await run((ctx) => ctx.data.cover.findMany())).toMatchObject([{ url: 'b.png' }]);
    const url = 'b.png';
    await run(
      (ctx) => ctx.data.cover.update({ where: { url }, data: { post: { update: { views: 8 } } } }),
      user('1'),
    );
    expect(await titles({ where: { views: 8, cover: { url } } })).toEqual(['three']);
    await change({ cover: { delete: true } });
    expect(await run((ctx) => ctx.data.cover.count())).toBe(0);
    expect(await run((ctx) => ctx.sudo().data.user.findUnique({ where: ada }))).toMatchObject({
      name: 'Ada L',
    });
    const left = await run((ctx) =>
      ctx.sudo().data.post.update({
        where: { id: 4 },
        data: { author: { connect: { email: 'ben@x.test' } } },
      }),
    );
    expect(left).toMatchObject({ authorId: '2' });
    expect(
      await run((ctx) =>
        ctx.sudo().data.post.update({ where: { id: 4 }, data: { author: { disconnect: true } } }),
      ),
    ).toMatchObject({ authorId: null });
  });

  it('refuses rows of others, and undoes all', async () => {
    const before = await run((ctx) => ctx.sudo().data.comment.findMany());
    for (const comments of [
      { update: { where: { id: 3 }, data: { text: 'x' } }, create: { text: 'new' } },
      { delete: [{ id: 1 }, { id: 3 }] },
      { connect: { id: 99 }, create: { text: 'new' } },
    ])
      await expect(
        run((ctx) => ctx.sudo().data.post.update({ where: { id: 1 }, data: { comments } })),
      ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await run((ctx) => ctx.sudo().data.comment.findMany())).toEqual(before);
  });

  it.each([
    [{ orderBy: { author: { nme: 'asc' } } }, 'orderBy[0].author.nme', /Did you mean/],
    [{ orderBy: { comments: 'asc' } }, 'orderBy.comments', /must be an object/],
    [{ orderBy: { comments: { sum: 'asc' } } }, 'orderBy.comments.sum', /is not known/],
    [{ orderBy: { views: { direction: 'up' } } }, 'orderBy.views', /must be asc or desc/],
    [
      { orderBy: { views: { direction: 'asc', nulls: 'no' } } },
      'orderBy.views.nulls',
      /first or last/,
    ],
    [{ distinct: ['viws'] }, 'distinct[0]', /views/],
    [{ where: { commentCount: 'many' } }, 'where.commentCount', /Int/],
  ])('says what is wrong with %j', async (args, field, message) => {
    const error = await titles(args).then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    });
    expect(error.field.replace('[0]', '')).toBe(field.replace('[0]', ''));
  });

  it('says what is wrong with nested writes', async () => {
    const change = (tags: object) =>
      run((ctx) => ctx.data.post.update({ where: { id: 2 }, data: { tags } }), user('1'));
    await expect(change({ conect: 1 })).rejects.toThrow(/connect/);
    await expect(change({ connectOrCreate: { where: { name: 'x' } } })).rejects.toThrow(
      /tags.connectOrCreate.create is missing/,
    );
    await expect(change({ connect: { weight: 7 } })).rejects.toThrow(/exactly one of/);
    await expect(change({ update: { where: { nam: 'x' }, data: {} } })).rejects.toThrow(/name/);
  });
});
