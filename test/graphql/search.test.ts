import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  enum Direction { ASC DESC }
  input PostOrder { views: Direction id: Direction }
  input PostFilter { published: Boolean }
  type User @search(fields: ["name"]) @auth(allow: [PUBLIC], on: [READ]) {
    id: ID! name: String! email: String! posts(search: String, limit: Int): [Post!]!
    rank: Float @search(as: RANK)
  }
  type Post @search(fields: ["title", "body"], language: "english")
    @auth(allow: [PUBLIC], on: [READ], where: { published: true }) @auth(allow: [ROLE], roles: ["Admin"]) {
    id: ID! title: String! body: String views: Int! published: Boolean! author: User
    rank: Float @search(as: RANK)
    excerpt: String @search(as: HIGHLIGHT, of: "body")
    heading: String @search(as: HIGHLIGHT, of: "title")
  }
  union Hit = User | Post
  type PostAggregate { count: Int! sum: PostSums! }  type PostSums { views: Int }
  type PostGroup { key: PostKey! count: Int! }  type PostKey { published: Boolean }
  enum PostGroupBy { PUBLISHED }
  type PostEdge { node: Post! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type PostConnection { edges: [PostEdge!]! nodes: [Post!]! pageInfo: PageInfo! totalCount: Int! }
  type Query {
    posts(search: String, where: PostFilter, orderBy: [PostOrder!], limit: Int, offset: Int): [Post!]!
    pages(search: String, first: Int, after: String, last: Int, before: String): PostConnection! @resolve(as: LIST)
    users(search: String): [User!]!
    hits(search: String, limit: Int): [Hit!]!
    post(id: ID!): Post
    postsAggregate(search: String, where: PostFilter): PostAggregate!
    postsGroups(search: String, by: [PostGroupBy!]!): [PostGroup!]!
  }
`;

const MANIFEST =
  'name: found\napi: { access: public }\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n';
const admin = user(9, 'Admin');

/** title, body, and whether it is published. */
const POSTS: readonly (readonly [title: string, body: string | null, published?: boolean])[] = [
  /* 1 */ ['Cooking with fire', 'A pan, an onion and a little patience.'],
  /* 2 */ ['Of cats', 'They sleep. Dogs bark at them.'],
  /* 3 */ ['Dogs and cats', null],
  /* 4 */ ['Running a café', 'The runner ran; opening hours are long.'],
  /* 5 */ ['Μητέρα', 'Ёлка и тётя; Ångström naïve résumé.'],
  /* 6 */ ['日本語 テスト', 'party🥳time ❤️heart'],
  /* 7 */ [
    '<b>Bold</b> & "quoted"',
    "It's <mark>marked</mark> <script>alert(1)</script> \uE000x\uE001",
  ],
  /* 8 */ [
    'Well-known C++ tricks',
    'a.b.c foo@example.com http://example.com/path?x=1 1e5 -7 3.14',
  ],
  /* 9 */ ['To be or not to be', 'that is the question'],
  /* 10 */ ['Secret cats', 'cats cats cats', false],
];

describe.each(databases)('a search on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
    const { db } = server.store;
    for (const name of ['Ada Lovelace', 'Félix Cat'])
      await db
        .insertInto('users')
        .values({ name, email: `${name.length}@x.test` })
        .execute();
    for (const [index, [title, body, published = true]] of POSTS.entries())
      await db
        .insertInto('posts')
        .values({ title, body, views: 100 - index, published, author_id: (index % 2) + 1 })
        .execute();
  });
  afterAll(() => server?.close());

  const found = async (search: string | null, as = admin) => {
    const { data, errors } = await server.query(
      'query ($search: String) { posts(search: $search) { id } }',
      { search },
      as,
    );
    return errors ? JSON.stringify(errors) : data.posts.map(({ id }: any) => Number(id)).join();
  };

  it.each([
    ['all words, in any field', 'cats dogs', '3,2'],
    ['no case', 'CATS DoGs', '3,2'],
    ['the best first: a title before a body, then the key', 'dogs', '3,2'],
    ['a phrase', '"dogs and cats"', '3'],
    ['a phrase in order only', '"cats and dogs"', ''],
    ['a phrase of one field only', '"cats they"', ''],
    ['no word', 'cats -dogs', '10'],
    ['no phrase', 'cats -"dogs and"', '10,2'],
    ['one of two', 'onion or question', '1,9'],
    ['an alternative binds to the word before it', 'cats onion or bark', '2'],
    ['a beginning', 'onio*', '1'],
    ['stems', 'runs', '4'],
    ['no accents', 'cafe naive', ''],
    ['no accents in the text', 'CAFE', '4'],
    ['accents that are marks', 'cafe\u0301', '4'],
    ['Greek', 'μητερα', '5'],
    ['Cyrillic', 'елка ТЕТЯ', '5'],
    ['Latin', 'angstrom resume', '5'],
    ['Japanese', '日本語', '6'],
    ['words beside emoji', 'party time heart', '6'],
    ['words of an address', 'example.com', '8'],
    ['a number', '3.14 1e5 7', '8'],
    ['common words', 'to be', '9'],
    ['"or" as a word at an end', 'or question', '9'],
    ['"or" as a word before one to avoid', 'question or -cats', '9'],
    ['operators of the databases', 'be AND NOT that NEAR to', ''],
    ['signs around words', '(cats) & !dogs | *', '3,2'],
    ['a quote that does not end', '"cats dogs', '3,2'],
    ['only what must not be there', '-cats -dogs', '1,4,5,6,7,8,9'],
    ['empty', '', ''],
    ['signs only', '?!', ''],
    ['emoji only', '🥳❤️', ''],
    ['a minus', '-', ''],
    ['two quotes', '""', ''],
    ['no search', null, '1,2,3,4,5,6,7,8,9,10'],
  ])('finds %s', async (_, search, expected) => {
    expect(await found(search)).toBe(expected);
  });

  it.each([
    'cats\0',
    "'; drop table posts; --",
    'a:b',
    '{c0}: cats',
    'cats:*',
    'NEAR(cats dogs)',
    '^cats',
    '"""',
    '\\',
    "'cats' <-> 'dogs'",
    '!!',
    '((((',
    '"a" "',
    '*',
    '**',
    '- -',
    'or or or',
    '-or',
    '\uD800',
    '\u0301',
    'cats\u0000dogs',
    '﻿',
    '%',
    '_',
    'title:cats',
    '+',
    '-"',
    '-*',
    '"*"',
    'x'.repeat(100_000),
    'x '.repeat(5_000),
    `"${'y '.repeat(2000)}"`,
    'AND',
    'OR',
    'NOT',
    'a NOT b',
  ])('takes %j as text', async (search) => {
    expect(await found(search)).toMatch(/^[\d,]*$/);
  });

  it('takes 10,000 words', async () => {
    const words = Array.from({ length: 10_000 }, (_, index) => `w${index}`);
    expect(await found(words.join(' '))).toBe('');
    expect(await found(`${words.join(' or ')} or onion`)).toBe('1');
    expect(await found(`onion ${words.map((word) => `-${word}`).join(' ')}`)).toBe('1');
  });

  it('finds only what the caller may read, and ranks without the other rows', async () => {
    const query = '{ pages(search: "cats", first: 10) { totalCount nodes { id rank } } }';
    const { data } = await server.query(query);
    expect(data.pages.totalCount).toBe(2);
    expect(data.pages.nodes.map(({ id }: any) => id)).toEqual(['2', '3']);
    await server.store.db
      .insertInto('posts')
      .values({ title: 'cats', body: 'cats', views: 1, published: false })
      .execute();
    expect((await server.query(query)).data).toEqual(data);
    await server.store.db.deleteFrom('posts').where('body', '=', 'cats').execute();
  });

  it('pages by rank in both directions, each row once, with the total', async () => {
    const ids = async (args: string) => {
      const { data, errors } = await server.query(
        `{ pages(search: "cats or dogs or onion or question", ${args}) { totalCount edges { node { id rank } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        {},
        admin,
      );
      expect(errors).toBeUndefined();
      return { ...data.pages, ids: data.pages.edges.map(({ node }: any) => Number(node.id)) };
    };
    const all = await ids('first: 10');
    expect([all.ids, all.totalCount]).toEqual([[3, 2, 10, 1, 9], 5]);
    const first = await ids('first: 2');
    expect([first.ids, first.pageInfo.hasNextPage]).toEqual([[3, 2], true]);
    const second = await ids(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(second.ids).toEqual([10, 1]);
    const last = await ids('last: 2');
    expect([last.ids, last.pageInfo.hasPreviousPage]).toEqual([[1, 9], true]);
    expect((await ids(`last: 2, before: "${last.pageInfo.startCursor}"`)).ids).toEqual([2, 10]);
  });

  it('filters, sorts and pages as ever, in one statement', async () => {
    server.statements();
    const { data, errors } = await server.query(
      '{ posts(search: "cats", where: { published: true }, orderBy: [{ views: ASC }], limit: 1, offset: 1) { id rank heading } }',
    );
    expect(errors).toBeUndefined();
    expect(data.posts).toEqual([{ id: '2', rank: 8 / 12, heading: 'Of <mark>cats</mark>' }]);
    expect(server.statements()).toHaveLength(1);
  });

  it('counts what it finds in aggregates and groups', async () => {
    const query =
      '{ postsAggregate(search: "cats") { count sum { views } } postsGroups(search: "cats", by: [PUBLISHED]) { key { published } count } }';
    const { data, errors } = await server.query(query, {}, admin);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      postsAggregate: { count: 3, sum: { views: 99 + 98 + 91 } },
      postsGroups: [
        { key: { published: false }, count: 1 },
        { key: { published: true }, count: 2 },
      ],
    });
    expect((await server.query(query)).data.postsAggregate.count).toBe(2);
  });

  it('searches lists of a parent and several types', async () => {
    const { data, errors } = await server.query(
      '{ users { name posts(search: "cats", limit: 5) { id rank } } hits(search: "cat") { __typename ... on User { name rank } ... on Post { title heading rank } } }',
      {},
      admin,
    );
    expect(errors).toBeUndefined();
    expect(data.users.map(({ posts }: any) => posts.map(({ id }: any) => id))).toEqual([
      ['3'],
      ['10', '2'],
    ]);
    expect(data.hits).toEqual([
      expect.objectContaining({ title: 'Secret cats' }),
      expect.objectContaining({ title: 'Of cats', heading: 'Of <mark>cats</mark>' }),
      expect.objectContaining({ __typename: 'User', name: 'Félix Cat' }),
      expect.objectContaining({ title: 'Dogs and cats' }),
    ]);
  });

  it('shows rank and highlights only in a search', async () => {
    const { data } = await server.query(
      '{ post(id: 2) { rank excerpt author { rank } } posts(limit: 1) { rank excerpt } none: posts(search: "?!") { rank } }',
    );
    expect(data).toEqual({
      post: { rank: null, excerpt: null, author: { rank: null } },
      posts: [{ rank: null, excerpt: null }],
      none: [],
    });
  });

  it('escapes what the text has, so that a highlight can be inserted as it is', async () => {
    const { data } = await server.query(
      '{ posts(search: "bold quoted alert") { heading excerpt } }',
    );
    expect(data.posts).toEqual([
      {
        heading: '&lt;b&gt;<mark>Bold</mark>&lt;/b&gt; &amp; &quot;<mark>quoted</mark>&quot;',
        excerpt:
          'It&#39;s &lt;mark&gt;marked&lt;/mark&gt; &lt;script&gt;<mark>alert</mark>(1)&lt;/script&gt; \uE000x\uE001',
      },
    ]);
  });

  it('highlights at most 300 characters of a long text, around the hits', async () => {
    const { db } = server.store;
    const body = `${'before & '.repeat(400)}needle ${'& after '.repeat(400)}`;
    const { id } = await db
      .insertInto('posts')
      .values({ title: 'long', body, views: 1, published: true })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { data } = await server.query('{ posts(search: "needle") { excerpt } }');
    const { excerpt } = data.posts[0];
    expect(excerpt).toContain('<mark>needle</mark>');
    const shown = excerpt.replace(/<\/?mark>/g, '').replaceAll('&amp;', '&');
    expect(shown.length).toBeGreaterThan(100);
    expect(shown.length).toBeLessThanOrEqual(300);
    await db.deleteFrom('posts').where('id', '=', id).execute();
  });

  it('keeps the index on every write, in the transaction', async () => {
    const { db } = server.store;
    const insert = (title: string) =>
      db.insertInto('posts').values({ title, views: 1, published: true }).returning('id');
    const { id } = await insert('zebra').executeTakeFirstOrThrow();
    expect(await found('zebra')).toBe(String(id));
    await db.updateTable('posts').set({ body: 'giraffe' }).where('id', '=', id).execute();
    expect(await found('giraffe zebra')).toBe(String(id));
    await db.updateTable('posts').set({ title: 'lion' }).where('id', '=', id).execute();
    expect(await found('zebra')).toBe('');
    await expect(
      server.store.transaction(async (trx) => {
        await trx.deleteFrom('posts').where('id', '=', id).execute();
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    expect(await found('lion')).toBe(String(id));
    await db.deleteFrom('posts').where('id', '=', id).execute();
    expect(await found('lion')).toBe('');
  });
});
