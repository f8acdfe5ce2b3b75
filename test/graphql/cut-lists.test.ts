import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, startServer, type TestServer } from './harness.ts';

/** No list has an argument, so nobody who wrote this can have asked for a page. */
const SDL = `
  type Author { id: ID! name: String! posts: [Post!]! latest: [Post!]! @list(relation: "posts", orderBy: ["id DESC"], max: 2) shout: String! @computed }
  type Post { id: ID! title: String! author: Author! comments: [Comment!]! related: CommentConnection! @list(relation: "comments") }
  type Comment implements Named { id: ID! text: String! post: Post! }
  type Tag implements Named { id: ID! text: String! }
  interface Named { id: ID! text: String! }
  type CommentConnection { edges: [CommentEdge!]! nodes: [Comment!]! totalCount: Int! pageInfo: PageInfo! }
  type CommentEdge { node: Comment! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type PostGroup { count: Int! key: PostKey! } type PostKey { title: String }
  enum PostGroupBy { TITLE }
  type Query {
    authors: [Author!]! author(id: ID!): Author posts: [Post!]! comments: [Comment!]! commentsConnection: CommentConnection!
    named: [Named!]! own: [Author!]! @resolve(as: CUSTOM) postsGroups(by: [PostGroupBy!]!): [PostGroup!]!
  }
  type Mutation { updateAuthor(id: ID!, name: String): Author! deleteAuthor(id: ID!): ID! }
`;

/** Pages of three rows: a table of four has a row that no page of the defaults shows. */
const MANIFEST = 'name: x\napi: { rest: true, limits: { list: 3 } }';

const RESOLVERS = {
  Query: { own: () => [{ id: 1 }, { id: 2 }] },
  Author: { shout: ({ name }: { name: string }) => `${name}!` },
};

describe.each(databases)('a list that ends before its rows do, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
      resolvers: RESOLVERS as never,
    });
    const { db } = server.store;
    for (const name of ['Ada', 'Ben', 'Cleo', 'Dora'])
      await db.insertInto('authors').values({ name }).execute();
    // Ada has four posts, Ben three; the first post of Ada has four comments, the second three.
    for (const author_id of [1, 1, 1, 1, 2, 2, 2])
      await db
        .insertInto('posts')
        .values({ title: `of ${author_id}`, author_id })
        .execute();
    for (const post_id of [1, 1, 1, 1, 2, 2, 2])
      await db.insertInto('comments').values({ text: 'yes', post_id }).execute();
    await db.insertInto('tags').values({ text: 'tag' }).execute();
  });
  afterAll(() => server?.close());

  const ask = async (query: string) =>
    (await server.query(query)) as { data?: any; errors?: any[]; extensions?: { cut: any[] } };
  const cut = async (query: string) => {
    const { errors, extensions, data } = await ask(query);
    expect(errors).toBeUndefined();
    return {
      cut: (extensions?.cut ?? []).map(
        ({ path, size, lists }) => `${path.join('.')} ${size} ${lists}`,
      ),
      data,
    };
  };

  it.each([
    ['{ authors { name } }', ['authors 3 1']],
    ['{ people: authors { name } }', ['people 3 1']],
    ['{ author(id: 1) { posts { title } } }', ['author.posts 3 1']],
    ['{ author(id: 2) { posts { title } } }', []],
    ['{ author(id: 1) { latest { id } } }', []],
    [
      '{ authors { posts { comments { text } } } }',
      ['authors 3 1', 'authors.posts 3 1', 'authors.posts.comments 3 1'],
    ],
    ['{ author(id: 1) { shout mine: posts { title } } }', ['author.mine 3 1']],
    [
      '{ own { shout posts { title comments { id } } } }',
      ['own.posts 3 1', 'own.posts.comments 3 1'],
    ],
    ['{ named { id ... on Comment { text } } }', ['named 3 1']],
    ['{ commentsConnection { nodes { id } } }', ['commentsConnection.nodes 3 1']],
    ['{ commentsConnection { edges { cursor node { id } } } }', ['commentsConnection.edges 3 1']],
    ['{ commentsConnection { edges { node { id } } pageInfo { hasNextPage } } }', []],
    ['{ posts(limit: 2) { related { edges { node { text } } } } }', ['posts.related.edges 3 1']],
    ['{ postsGroups(by: [TITLE]) { count } }', []],
    ['mutation { updateAuthor(id: 1, name: "Ada") { posts { id } } }', ['updateAuthor.posts 3 1']],
    ['{ authors(limit: 3) { posts(limit: 3) { id } } }', []],
    ['{ authors { name } posts(limit: 1) { comments(limit: 1) { id } } }', ['authors 3 1']],
  ])('says so in the answer to %s', async (query, wanted) => {
    // The second time the server knows that the lists are longer, the third that it was told.
    for (let time = 0; time < 3; time += 1) expect((await cut(query)).cut).toEqual(wanted);
  });

  it('answers with the rows of its page and nothing else, as if the page had been asked for', async () => {
    const page = (size: string) =>
      `{ authors${size} { id posts${size} { title comments${size} { text post { title } } related${size.replace('limit', 'first')} { nodes { id } totalCount } } shout } named${size} { __typename id } }`;
    const { data, cut: found } = await cut(page(''));
    expect(data).toEqual((await ask(page('(limit: 3)'))).data);
    expect(data.authors).toHaveLength(3);
    expect(found).toContain('authors.posts.related.nodes 3 1');
  });

  it('leads to its last row: each list has the arguments for the next page', async () => {
    expect((await cut('{ authors(limit: 3, offset: 3) { name } }')).data.authors).toEqual([
      { name: 'Dora' },
    ]);
    expect((await cut('{ authors(offset: 3) { name } }')).cut).toEqual([]);
    const { data } = await ask('{ author(id: 1) { posts(offset: 3) { id } } }');
    expect(data.author.posts).toEqual([{ id: '4' }]);
  });

  it('takes one statement for each root field where nothing is cut', async () => {
    const query = '{ author(id: 2) { posts { title comments { text } } } }';
    await ask(query);
    server.statements();
    expect((await cut(query)).cut).toEqual([]);
    expect(server.statements()).toHaveLength(1);
  });

  it('takes one statement as well where its rows are known to be more than its page', async () => {
    const query = '{ authors { id posts { id } } }';
    await ask(query);
    server.statements();
    expect((await cut(query)).cut).toHaveLength(2);
    expect(server.statements()).toHaveLength(1);
  });

  it('is named by a header of REST', async () => {
    const one = await server.call('GET', '/api/authors/1?include=posts.comments');
    expect(one.headers.get('x-cut-lists')).toBe('posts=3, posts.comments=3');
    const many = await server.call('GET', '/api/authors?include=posts');
    expect(many.body.data[0].posts).toHaveLength(3);
    expect(many.headers.get('x-cut-lists')).toBe('posts=3');
    const whole = await server.call('GET', '/api/authors/2?include=posts');
    expect(whole.headers.get('x-cut-lists')).toBeNull();
  });
});
