import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  interface Writer { posts(where: PostFilter, take: Int, first: Int): [Post!]! }
  type Author implements Writer { id: ID! name: String! mentor: Author postsAggregate: PostAggregate! posts(where: PostFilter, take: Int, first: Int): [Post!]! @relation(inverse: "author") }
  type Post @search(fields: ["title"]) { id: ID! title: String! views: Int author: Author! comments(first: Int): CommentConnection! }
  type Comment { id: ID! text: String! post: Post! @relation(inverse: "comments") author: Author! }
  type CommentConnection { edges: [CommentEdge!]! nodes: [Comment!]! pageInfo: PageInfo! totalCount: Int! aggregate: CommentAggregate! }
  type CommentAggregate { count: Int! }
  type PostAggregate { count: Int! sum: PostSums! }
  type PostSums { views: BigInt }
  type PostGroup { count: Int! key: PostKey! }
  type PostKey { author: Author }
  enum PostGroupBy { AUTHOR }
  scalar BigInt
  type CommentEdge { node: Comment! cursor: String! }
  type PageInfo { hasNextPage: Boolean! }
  enum Direction { ASC DESC } enum Nulls { FIRST LAST }
  input CountOrder { count: Direction }
  input ViewsOrder { direction: Direction nulls: Nulls }
  input AuthorOrder { name: Direction posts: CountOrder mentor: AuthorOrder }
  input PostOrder { title: Direction views: ViewsOrder author: AuthorOrder }
  input IntFilter { gte: Int }
  input PostGroupOrder { count: Direction key: PostKeyOrder }
  input PostKeyOrder { author: Direction }
  input PostSumsFilter { views: IntFilter }
  input PostGroupFilter { count: IntFilter sum: PostSumsFilter or: [PostGroupFilter!] }
  input AuthorFilter { name: TextFilter posts: PostListFilter and: [AuthorFilter!] or: [AuthorFilter!] not: AuthorFilter }
  input PostListFilter { some: PostFilter every: PostFilter none: PostFilter count: IntFilter }
  input PostFilter { title: TextFilter author: AuthorFilter }
  input TextFilter { eq: String contains: String }
  type Query {
    authors(where: AuthorFilter, limit: Int): [Author!]!
    ten(limit: Int = 10): [Author!]! @list(default: 20, max: 50) @resolve(as: LIST)
    few: [Author!]! @list(default: 20, max: 50) @resolve(as: LIST)
    post(id: ID!): Post
    posts(search: String, orderBy: [PostOrder!], limit: Int): [Post!]!
    postsAggregate(where: PostFilter, search: String): PostAggregate!
    postsGroups(by: [PostGroupBy!]!, having: PostGroupFilter, orderBy: [PostGroupOrder!], limit: Int): [PostGroup!]!
    own(take: Int): [Author!]!
    writers: [Writer!]!
  }
  type Mutation { createAuthor(name: String!): Author! deletePosts(where: PostFilter!): Int! updatePosts(where: PostFilter!, input: PostInput!): [Post!]! }
  input PostInput { title: String }
  type Subscription { authorCreated: Author! }
`;

/** What an operation is refused with when nothing is allowed: its cost, and the dearest field. */
const PRICES: readonly [string, string, number, string, Record<string, unknown>?][] = [
  [
    'the filter of a mutation of many',
    'mutation { deletePosts(where: { author: { posts: { some: { title: { eq: "a" } } } } }) }',
    101,
    'Mutation.deletePosts',
  ],
  [
    'the filter of a list of an interface',
    '{ writers { posts(where: { author: { posts: { some: {} } } }, take: 1) { id } } }',
    100 * (1 + 1 + 101),
    'Writer.posts',
  ],
  ['an object', '{ post(id: 1) { id } }', 1, 'Query.post'],
  ['an object in an object', '{ post(id: 1) { author { name } } }', 2, 'Query.post'],
  ['a list without a size', '{ authors { id } }', 100, 'Query.authors'],
  ['a list with a size', '{ authors(limit: 7) { id } }', 7, 'Query.authors'],
  ['a list of no rows', '{ authors(limit: 0) { posts { id } } }', 0, 'Query.authors'],
  ['the default of a list', '{ few { id } }', 20, 'Query.few'],
  ['the default of an argument', '{ ten { id } }', 10, 'Query.ten'],
  ['a list in a list', '{ authors { posts(take: 100) { id } } }', 10_100, 'Author.posts'],
  [
    'the smallest page of one without a size',
    '{ authors { posts { id } } }',
    1_100,
    'Author.posts',
  ],
  [
    'a connection',
    '{ post(id: 1) { comments(first: 100) { nodes { id } } } }',
    101,
    'Post.comments',
  ],
  [
    'edges, nodes and what a connection has once',
    '{ post(id: 1) { comments(first: 5) { edges { cursor node { author { id } } } pageInfo { hasNextPage } totalCount } } }',
    1 + 5 * 2 + 1,
    'Post.comments',
  ],
  [
    'a list of a function of yours',
    '{ own(take: 300) { posts(first: 2) { id } } }',
    900,
    'Author.posts',
  ],
  [
    'a size in a variable',
    'query ($n: Int) { authors(limit: $n) { id } }',
    9,
    'Query.authors',
    { n: 9 },
  ],
  [
    'the default of a variable',
    'query ($n: Int = 8) { authors(limit: $n) { id } }',
    8,
    'Query.authors',
  ],
  [
    'a size that is null',
    'query ($n: Int) { authors(limit: $n) { id } }',
    100,
    'Query.authors',
    { n: null },
  ],
  [
    'a hop into a list',
    '{ authors(limit: 1, where: { posts: { some: { title: { eq: "x" } } } }) { id } }',
    101,
    'Query.authors',
  ],
  [
    'hops in each other, in a variable',
    'query ($where: AuthorFilter) { authors(limit: 1, where: $where) { id } }',
    1 + 100 * (1 + 1 + 100),
    'Query.authors',
    { where: { not: { posts: { none: { author: { posts: { every: {} } } } } } } },
  ],
  [
    'hops side by side',
    '{ authors(limit: 1, where: { or: [{ posts: { some: {} } }, { posts: { none: {} } }] }) { id } }',
    201,
    'Query.authors',
  ],
  [
    'hops of a list in a list',
    '{ authors(limit: 3) { posts(first: 1, where: { author: { posts: { some: {} } } }) { id } } }',
    3 + 3 + 3 * 101,
    'Author.posts',
  ],
  [
    'a fragment that is used twice',
    'fragment A on Author { posts(first: 4) { id } } { authors(limit: 2) { ...A } few { ...A } }',
    2 * 5 + 20 * 5,
    'Author.posts',
  ],
  [
    'what is left out',
    'query ($no: Boolean!) { authors @include(if: $no) { id } post(id: 1) { id ... @skip(if: true) { author { id } } } }',
    1,
    'Query.post',
    { no: false },
  ],
  [
    'an aggregate, and an object of it',
    '{ postsAggregate { count sum { views } } }',
    101,
    'Query.postsAggregate',
  ],
  [
    'an aggregate of each parent',
    '{ authors(limit: 3) { postsAggregate { count } } }',
    3 + 3 * 100,
    'Author.postsAggregate',
  ],
  [
    'the aggregate of a connection, once',
    '{ post(id: 1) { comments(first: 5) { nodes { id } aggregate { count } } } }',
    1 + 5 + 100,
    'CommentConnection.aggregate',
  ],
  [
    'groups, whatever their number, with their keys',
    '{ postsGroups(by: [AUTHOR], limit: 2) { count key { author { name } } } }',
    100 * 3,
    'Query.postsGroups',
  ],
  [
    'hops in the filter of an aggregate',
    '{ postsAggregate(where: { author: { posts: { some: {} } } }) { count } }',
    100 + 101,
    'Query.postsAggregate',
  ],
  ['a search', '{ posts(search: "a", limit: 3) { id } }', 3 + 100, 'Query.posts'],
  [
    'a search that a variable leaves out',
    'query ($search: String) { posts(search: $search, limit: 3) { id } }',
    3,
    'Query.posts',
    { search: null },
  ],
  [
    'a search of an aggregate',
    '{ postsAggregate(search: "a") { count } }',
    100 + 100,
    'Query.postsAggregate',
  ],
  [
    'a count in a filter, below a hop to one object',
    '{ authors(limit: 1, where: { posts: { some: { author: { posts: { count: { gte: 2 } } } } } }) { id } }',
    1 + 100 * (1 + 1 + 100),
    'Query.authors',
  ],
  [
    'an order by columns',
    '{ posts(limit: 1, orderBy: [{ title: ASC }, { views: { direction: DESC, nulls: LAST } }]) { id } }',
    1,
    'Query.posts',
  ],
  [
    'an order by a related object',
    '{ posts(limit: 1, orderBy: { author: { name: ASC } }) { id } }',
    1 + 1,
    'Query.posts',
  ],
  [
    'an order by objects in each other, and by a count of their rows',
    '{ posts(limit: 1, orderBy: [{ author: { mentor: { mentor: { posts: { count: DESC } } } } }]) { id } }',
    1 + 3 + 100,
    'Query.posts',
  ],
  [
    'a having by counts',
    '{ postsGroups(by: [AUTHOR], limit: 2, having: { sum: { views: { gte: 1 } }, or: [{ count: { gte: 2 } }, { count: { gte: 3 } }] }) { count } }',
    100 + 2 * 100,
    'Query.postsGroups',
  ],
  [
    'an order of groups',
    '{ postsGroups(by: [AUTHOR], orderBy: [{ key: { author: ASC } }, { count: DESC }]) { count } }',
    100,
    'Query.postsGroups',
  ],
  ['a mutation', 'mutation { createAuthor(name: "x") { posts { id } } }', 11, 'Author.posts'],
];

const REST = [
  ['/api/posts/1?include=author.posts', 1 + 1 + 10],
  ['/api/authors?limit=5&include=posts', 5 * 11],
] as const;

describe.each(databases)('the cost of an operation on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: priced\napi: { rest: true }\n',
      resolvers: { Query: { own: () => [] } },
      change: (project) => ({
        ...project,
        api: { ...project.api, limits: { ...project.api.limits, cost: -1, batch: 5 } },
      }),
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
    });
  });
  afterAll(() => server.close());

  it.each(PRICES)('counts %s', async (_, query, value, coordinate, variables) => {
    server.statements();
    const { errors } = await server.query(query, variables);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'TOO_COSTLY',
      value,
      limit: -1,
      coordinate,
    });
    const batch = await server.call('POST', '/graphql', { body: [{ query, variables }] });
    expect(batch.body[0].errors[0].extensions).toMatchObject({ code: 'TOO_COSTLY', value });
    expect(server.statements()).toEqual([]);
  });

  it.each(REST)('counts REST alike: %s', async (path, value) => {
    expect(await server.call('GET', path)).toMatchObject({
      status: 400,
      body: {
        error: `the request may come to ${value} objects, -1 are allowed: include less, or ask for a smaller limit`,
      },
    });
  });
});

describe('the default', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { resolvers: { Query: { own: () => [] } } });
    const { db } = server.store;
    await db.insertInto('authors').values({ name: 'Ada' }).execute();
    for (let post = 0; post < 60; post += 1)
      await db
        .insertInto('posts')
        .values({ title: `post ${post}`, author_id: 1 })
        .execute();
  });
  afterAll(() => server.close());

  const code = async (query: string) =>
    (await server.query(query)).errors?.[0]?.extensions.code ?? 'fine';

  it.each([
    ['two lists, as long as any', '{ authors { posts { id } } }', 60],
    ['three, with fewer rows in each', '{ authors { posts { id author { posts { id } } } } }', 20],
    [
      'three in a row with more beside',
      '{ authors { posts { id author { name posts { id author { name } } } } } }',
      10,
    ],
    [
      'three with a size',
      '{ authors(limit: 4) { posts(first: 30) { id author { posts { id } } } } }',
      30,
    ],
  ])('answers %s', async (_, query, length) => {
    const { data, errors, extensions } = (await server.query(query)) as any;
    expect(errors).toBeUndefined();
    expect(data.authors[0].posts).toHaveLength(length);
    const isCut = length < 30;
    expect(extensions?.cut?.[0]).toEqual(
      isCut ? { path: ['authors', 'posts'], size: length, lists: 1 } : undefined,
    );
  });

  it.each([
    '{ authors { posts { author { posts { author { posts { id } } } } } } }',
    '{ posts { id } authors { posts { author { posts { author { posts { author { name } } } } } } } }',
    '{ post(id: 1) { author { posts { author { posts { author { posts { author { posts { author { posts { id } } } } } } } } } } } }',
    'query ($n: Int = 80) { authors(limit: $n) { posts(first: 60) { comments(first: 20) { nodes { id } } } } }',
    'fragment P on Author { posts(first: 90) { author { posts(first: 90) { id } } } } { authors { ...P } }',
  ])('refuses %s with the size that is allowed', async (query) => {
    const { errors } = await server.query(query);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'TOO_COSTLY', limit: 50_000 });
    const [, field, argument, size] =
      /: (\w+)\((\w+): (\d+)\) is allowed$/.exec(errors?.[0]?.message ?? '') ?? [];
    const sized = (most: number) =>
      query
        .replace(new RegExp(`\\b${field}\\b(?:\\([^)]*\\))?`), `${field}(${argument}: ${most})`)
        .replace('($n: Int = 80) ', '');
    expect(await code(sized(Number(size)))).toBe('fine');
    expect(await code(sized(Number(size) + 1))).toBe('TOO_COSTLY');
  });

  it('lets two hops in each other through, and refuses three', async () => {
    const hops = (count: number): string =>
      count === 0 ? '{}' : `{ author: { posts: { some: ${hops(count - 1)} } } }`;
    expect(await code(`{ authors(where: { posts: { some: ${hops(1)} } }) { id } }`)).toBe('fine');
    expect(await code(`{ authors(where: { posts: { some: ${hops(2)} } }) { id } }`)).toBe(
      'TOO_COSTLY',
    );
  });
});
