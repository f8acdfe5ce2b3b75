import { afterEach, describe, expect, it } from 'vitest';
import { GraphQLError } from 'graphql';
import { failure } from '../../runtime/core/errors.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';
import { databases, startRest, user, type RestServer } from './harness.ts';

const sdl = `
type Author { id: ID! name: String! shout: String! @computed mood: String @computed initials(length: Int!): String @computed posts: [Post!]! }
type Post { id: ID! title: String! minutes: Int! @computed author: Author! best: Comment @computed comments: [Comment!]! }
type Comment { id: ID! text: String! post: Post! }
type CreatePostPayload { post: Post ok: Boolean! }
type PostConnection { nodes: [Post!]! totalCount: Int! }
type Query {
  author(id: ID!): Author authors(name: String): [Author!]!
  post(id: ID!): Post posts(limit: Int, offset: Int): [Post!]!
  comments: [Comment!]! comment(id: ID!): Comment
}
type Mutation {
  createAuthor(name: String!): Author!
  createPost(title: String!, authorId: ID!): CreatePostPayload!
  updatePost(id: ID!, title: String): Post
  deletePost(id: ID!): Boolean!
  createComment(text: String!, postId: ID!): ID!
  updateComment(id: ID!, text: String): ID
  deleteComment(id: ID!): ID
}`;

describe.each(databases)('functions of the user in REST on %s', (database) => {
  let server: RestServer;
  afterEach(() => server.close());

  const start = async (resolvers: Resolvers = {}) => {
    server = await startRest(sdl, { database, resolvers });
    const { db } = server.store;
    await db
      .insertInto('authors')
      .values([{ name: 'Ada' }, { name: 'Bob' }])
      .execute();
    await db
      .insertInto('posts')
      .values([
        { title: 'one', author_id: 1 },
        { title: 'two', author_id: 1 },
        { title: 'three', author_id: 2 },
      ])
      .execute();
    await db
      .insertInto('comments')
      .values([{ text: 'hi', post_id: 1 }])
      .execute();
    server.statements();
  };

  it('answer their fields, which nobody asks that are not written yet', async () => {
    await start({
      Author: { shout: (author) => author.name.toUpperCase() },
      Post: { minutes: (post) => post.title.length },
    });
    expect((await server.get('/api/authors/1')).body).toEqual({
      id: '1',
      name: 'Ada',
      shout: 'ADA',
    });
    expect((await server.get('/api/posts?include=author&fields=minutes')).body.data[0]).toEqual({
      id: '1',
      minutes: 3,
      author: { id: '1', name: 'Ada', shout: 'ADA' },
    });
    const unwritten = await server.get('/api/authors/1?fields=mood');
    expect([unwritten.status, unwritten.body.error]).toEqual([
      501,
      'Author.mood is not implemented yet: write it in src/resolvers/Author.ts and run npm run generate',
    ]);
    expect((await server.get('/api/authors/1?fields=initials')).status).toBe(400);
  });

  it('make no more statements than levels', async () => {
    await start({ Author: { shout: (author) => author.name.toUpperCase() } });
    await server.get('/api/authors?include=posts.author');
    expect(server.statements().length).toBe(1);
  });

  it('answer relations, and what lies below is planned again', async () => {
    await start({
      Post: {
        best: async (post, _args, context) =>
          (await context.loaders.commentsByPost?.load(post.id))?.[0] ?? { id: 1, text: 'hi' },
        comments: () => [{ id: '7', text: 'mine', post_id: 1 }],
      },
    });
    expect((await server.get('/api/posts/1?include=best,comments&fields=title')).body).toEqual({
      id: '1',
      title: 'one',
      best: { id: '1', text: 'hi', postId: '1' },
      comments: [{ id: '7', text: 'mine', postId: '1' }],
    });
  });

  it('are never bypassed by a call that they answer', async () => {
    const seen: unknown[] = [];
    const note = (name: string, result: unknown) => (_parent: unknown, args: unknown) => (
      seen.push([name, args]),
      result
    );
    await start({
      Query: {
        post: note('post', { id: 1, title: 'from the function' }),
        posts: note('posts', [
          { id: 1, title: 'first' },
          { id: 2, title: 'second' },
        ]),
      },
      Mutation: {
        createPost: note('createPost', { post: { id: 3, title: 'three' }, ok: true }),
        updatePost: note('updatePost', { id: 1, title: 'changed' }),
        deletePost: note('deletePost', true),
      },
    });
    expect((await server.get('/api/posts/1?fields=title')).body).toEqual({
      id: '1',
      title: 'from the function',
    });
    expect((await server.get('/api/posts?page=3&limit=2&fields=title')).body).toEqual({
      data: [
        { id: '1', title: 'first' },
        { id: '2', title: 'second' },
      ],
      pagination: { total: null, page: 3, page_size: 2, total_pages: null },
    });
    const made = await server.call('POST', '/api/posts?fields=title', {
      body: { title: 'three', authorId: '1' },
    });
    expect([made.status, made.body, made.headers.get('location')]).toEqual([
      201,
      { id: '3', title: 'three' },
      '/api/posts/3',
    ]);
    expect(
      (await server.call('PATCH', '/api/posts/1?fields=title', { body: { title: 'changed' } }))
        .body,
    ).toEqual({ id: '1', title: 'changed' });
    expect((await server.call('DELETE', '/api/posts/1')).status).toBe(204);
    expect(seen).toEqual([
      ['post', { id: '1' }],
      ['posts', { limit: 2, offset: 4 }],
      ['createPost', { title: 'three', authorId: '1' }],
      ['updatePost', { id: '1', title: 'changed' }],
      ['deletePost', { id: '1' }],
    ]);
    expect((await server.store.db.selectFrom('posts').selectAll().execute()).length).toBe(3);
  });

  it('take the arguments that their list declares as filters, and no others', async () => {
    const seen: unknown[] = [];
    await start({
      Query: {
        authors: (_parent, args) => (
          seen.push(args),
          [
            { id: 1, name: 'A' },
            { id: 2, name: 'B' },
            { id: 3, name: 'C' },
          ]
        ),
      },
    });
    const { body } = await server.get('/api/authors?name=Ada&page=2&limit=2&fields=name');
    expect(body).toEqual({
      data: [{ id: '3', name: 'C' }],
      pagination: { total: 3, page: 2, page_size: 2, total_pages: 2 },
    });
    expect(seen).toEqual([{ name: 'Ada' }]);
    // All rows fit the page, so a second one has none of them again.
    const second = await server.get('/api/authors?page=2&limit=3');
    expect(second.body).toEqual({
      data: [],
      pagination: { total: 3, page: 2, page_size: 3, total_pages: 1 },
    });
    expect((await server.get('/api/authors?name_contains=x')).body).toEqual({
      error: 'Unknown query parameter: name_contains',
    });
    expect((await server.get('/api/authors?sort=name')).body).toEqual({
      error: 'Unknown query parameter: sort',
    });
  });

  it('find the object of an answer that is a key alone', async () => {
    await start();
    const made = await server.call('POST', '/api/comments', { body: { text: 'x', postId: '1' } });
    expect([made.status, made.body]).toEqual([201, { id: '2', text: 'x', postId: '1' }]);
    await server.close();
    await start({
      Mutation: {
        createComment: () => '1',
        updateComment: (_parent, { id }) => (id === '1' ? id : null),
        deleteComment: () => null,
      },
    });
    expect(
      (await server.call('POST', '/api/comments', { body: { text: 'x', postId: '1' } })).body,
    ).toEqual({ id: '1', text: 'hi', postId: '1' });
    expect((await server.call('PATCH', '/api/comments/1', { body: { text: 'x' } })).body).toEqual({
      id: '1',
      text: 'hi',
      postId: '1',
    });
    expect((await server.call('PATCH', '/api/comments/2', { body: { text: 'x' } })).status).toBe(
      404,
    );
    expect((await server.call('DELETE', '/api/comments/1')).status).toBe(404);
  });

  it('fail with the status of their failure, and what is unknown is masked and logged', async () => {
    await start({
      Query: {
        post: (_parent, { id }) => {
          if (id === '1') throw failure.conflict('not now');
          if (id === '2')
            throw new GraphQLError('slow down', { extensions: { code: 'RATE_LIMITED' } });
          if (id === '3') throw new GraphQLError('not like that');
          throw new Error('the password is swordfish');
        },
      },
    });
    const answers = await Promise.all(
      ['1', '2', '3', '4'].map((id) => server.get(`/api/posts/${id}`)),
    );
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'not now'],
      [429, 'slow down'],
      [400, 'not like that'],
      [500, 'Internal server error'],
    ]);
    expect(answers[3]?.text).not.toContain('swordfish');
    expect(server.lines.join('')).toContain('swordfish');
  });

  it('lose nothing to another writer, though If-Match looks at what a function says', async () => {
    await start({ Post: { minutes: (post) => post.title.length } });
    const tag = (await server.get('/api/posts/1')).headers.get('etag') as string;
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((title) =>
        server.call('PATCH', '/api/posts/1', { body: { title }, headers: { 'if-match': tag } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    expect(
      (
        await server.call('PATCH', '/api/posts/1', {
          body: { title: 'x' },
          headers: { 'if-match': tag },
        })
      ).status,
    ).toBe(412);
  });

  it('get by node what node answers, and nothing that is of another type', async () => {
    const seen: unknown[] = [];
    server = await startRest(
      'interface Node { id: ID! } type Item implements Node { id: ID! name: String! } type Other implements Node { id: ID! } type Query { items: [Item!]! node(id: ID!): Node others: [Other!]! }',
      {
        database,
        resolvers: {
          Query: {
            node: (_parent, { id }) => (
              seen.push(id),
              id === 'Item:1'
                ? { __typename: 'Item', id: 1, name: 'one' }
                : { __typename: 'Other', id: 2 }
            ),
          },
        },
      },
    );
    expect((await server.get('/api/items/1')).body).toEqual({ id: 'Item:1', name: 'one' });
    expect((await server.get('/api/items/Item:1')).status).toBe(200);
    expect(seen).toEqual(['Item:1', 'Item:1']);
    expect((await server.get('/api/items/9')).body).toEqual({ error: 'Item not found' });
  });

  it('have their time, and no more', async () => {
    server = await startRest(sdl, {
      database,
      manifest: 'name: test\napi:\n  rest: true\n  limits: { time: 50ms }\n',
      resolvers: { Query: { post: () => new Promise(() => {}) } },
    });
    const { status, body } = await server.get('/api/posts/1');
    expect([status, body]).toEqual([503, { error: 'the request took longer than 50 ms' }]);
  });

  it('get the caller and see their own rules', async () => {
    await start({
      Author: { shout: (author, _args, context) => `${author.name} for ${context.user?.id}` },
    });
    expect((await server.get('/api/authors/1', user(5))).body.shout).toBe('Ada for 5');
  });
});
