import { afterEach, describe, expect, it } from 'vitest';
import { failure } from '../../runtime/core/errors.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';
import { databases, startRest, type RestServer } from './harness.ts';

const sdl = `
type Place { city: String! street: String! }
type Author { id: ID! name: String! home: Place! shout: String! @computed mood: String @computed posts(first: Int, after: String): PostConnection! }
type Post { id: ID! title: String! minutes: Int! @computed author: Author! best: Author @computed }
type PostConnection { edges: [PostEdge] pageInfo: PageInfo! totalCount: Int! } type PostEdge { node: Post cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
input PlaceInput { city: String! street: String! }
type Query { authors: [Author!]! author(id: ID!): Author posts(first: Int, after: String): PostConnection! post(id: ID!): Post }
type Mutation { createPost(title: String!, authorId: ID!): Post! updatePost(id: ID!, title: String): Post deletePost(id: ID!): Boolean! createAuthor(name: String!, home: PlaceInput!): Author! }`;

const SWORDFISH = new Error('the password is swordfish');

describe.each(databases)('functions of the user that fail in REST on %s', (database) => {
  let server: RestServer;
  afterEach(() => server.close());

  const start = async (resolvers: Resolvers) => {
    server = await startRest(sdl, { database, resolvers });
    for (const name of ['Ada', 'Bob'])
      expect(
        (
          await server.call('POST', '/api/authors', {
            body: { name, home: { city: 'Rome', street: 'x' } },
          })
        ).status,
      ).toBe(201);
    for (const [title, authorId] of [
      ['one', 1],
      ['two', 1],
      ['three', 2],
    ])
      expect((await server.call('POST', '/api/posts', { body: { title, authorId } })).status).toBe(
        201,
      );
    server.lines.splice(0);
  };

  it('take their own field with them and nothing else, in a list, in an object and in what is embedded', async () => {
    await start({
      Post: {
        minutes: ({ id }) => {
          if (Number(id) === 2) throw SWORDFISH;
          return 5;
        },
      },
    });
    const list = await server.get('/api/posts?fields=title,minutes');
    expect([list.status, list.body]).toEqual([
      200,
      {
        data: [
          { id: '1', title: 'one', minutes: 5 },
          { id: '2', title: 'two' },
          { id: '3', title: 'three', minutes: 5 },
        ],
        pagination: { total: 3, page: 1, page_size: 20, total_pages: 1 },
      },
    ]);
    const one = await server.get('/api/posts/2');
    expect([one.status, one.body]).toEqual([200, { id: '2', title: 'two', authorId: '1' }]);
    const embedded = await server.get('/api/authors/1?include=posts&fields=name,posts.minutes');
    expect(embedded.body).toEqual({
      id: '1',
      name: 'Ada',
      posts: [{ id: '1', minutes: 5 }, { id: '2' }],
    });
    expect(
      [list, one, embedded].map(({ headers }) => [
        headers.get('x-incomplete'),
        headers.get('etag'),
        headers.get('cache-control'),
      ]),
    ).toEqual([
      ['minutes', null, 'no-store'],
      ['minutes', null, 'no-store'],
      ['posts.minutes', null, 'no-store'],
    ]);
    expect([list, one, embedded].map(({ text }) => text).join('')).not.toContain('swordfish');
    expect(server.lines.filter((line) => line.includes('swordfish'))).toHaveLength(3);
    const whole = await server.get('/api/posts/1');
    expect([whole.headers.get('x-incomplete'), whole.headers.get('etag')]).toEqual([
      null,
      expect.any(String),
    ]);
  });

  it('leave a field out too when they have nothing for one that must have something; null means null', async () => {
    await start({
      Author: {
        shout: ({ name }) => (name === 'Ada' ? null : Promise.resolve(undefined)),
        mood: () => null,
        home: () => ({ city: 'Rome' }),
      },
    });
    const { body, headers } = await server.get('/api/authors?fields=name,shout,mood,home');
    expect(body.data).toEqual([
      { id: '1', name: 'Ada', mood: null },
      { id: '2', name: 'Bob', mood: null },
    ]);
    expect(headers.get('x-incomplete')?.split(', ').toSorted()).toEqual(['home.street', 'shout']);
  });

  it('do not make a write look undone that is done', async () => {
    await start({
      Post: {
        minutes: () => {
          throw failure.conflict('not now');
        },
      },
    });
    const made = await server.call('POST', '/api/posts', { body: { title: 'four', authorId: 1 } });
    expect([
      made.status,
      made.body,
      made.headers.get('location'),
      made.headers.get('x-incomplete'),
    ]).toEqual([201, { id: '4', title: 'four', authorId: '1' }, '/api/posts/4', 'minutes']);
    const changed = await server.call('PATCH', '/api/posts/4', { body: { title: 'five' } });
    expect([changed.status, changed.body, changed.headers.get('etag')]).toEqual([
      200,
      { id: '4', title: 'five', authorId: '1' },
      null,
    ]);
    expect((await server.call('DELETE', '/api/posts/4')).status).toBe(204);
  });

  it('that nobody has written yet answer 501 when they are named, after a write with the key of what was written', async () => {
    await start({});
    const read = await server.get('/api/posts/1?fields=minutes');
    expect([read.status, read.body]).toEqual([
      501,
      {
        error:
          'Post.minutes is not implemented yet: write it in src/resolvers/Post.ts and run npm run generate',
      },
    ]);
    const made = await server.call('POST', '/api/posts?fields=minutes', {
      body: { title: 'four', authorId: 1 },
    });
    expect([made.status, made.body, made.headers.get('x-incomplete')]).toEqual([
      201,
      { id: '4' },
      '*',
    ]);
    expect((await server.get('/api/posts')).body.pagination.total).toBe(4);
  });

  it('that answer a relation with a connection are embedded as a list, and listed', async () => {
    const page = (titles: string[]) => ({
      edges: titles.map((title, index) =>
        title === '' ? null : { node: { id: index + 1, title }, cursor: 'c' },
      ),
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
      totalCount: titles.length,
    });
    await start({
      Author: { posts: ({ name }) => (name === 'Ada' ? page(['a', 'b']) : page([])) },
      Query: { posts: () => page(['x', '', 'y']) },
    });
    const embedded = await server.get('/api/authors?include=posts&fields=name,posts.title');
    expect([embedded.status, embedded.body.data]).toEqual([
      200,
      [
        {
          id: '1',
          name: 'Ada',
          posts: [
            { id: '1', title: 'a' },
            { id: '2', title: 'b' },
          ],
        },
        { id: '2', name: 'Bob', posts: [] },
      ],
    ]);
    const listed = await server.get('/api/posts?fields=title');
    expect([listed.status, listed.body]).toEqual([
      200,
      {
        data: [
          { id: '1', title: 'x' },
          { id: '3', title: 'y' },
        ],
        pagination: { total: 3, page: 1, page_size: 20, total_pages: 1 },
      },
    ]);
  });

  it('that answer a relation with nothing, or fail at it, leave the others as they are', async () => {
    await start({
      Post: {
        best: ({ id }) => {
          if (Number(id) === 1) throw SWORDFISH;
          return Number(id) === 2
            ? null
            : { id: 2, name: 'Bob', home: { city: 'Rome', street: 'x' } };
        },
      },
    });
    const { body, headers } = await server.get('/api/posts?include=best&fields=title,best.name');
    expect(body.data).toEqual([
      { id: '1', title: 'one' },
      { id: '2', title: 'two', best: null },
      { id: '3', title: 'three', best: { id: '2', name: 'Bob' } },
    ]);
    expect(headers.get('x-incomplete')).toBe('best');
  });

  it('of a root field have no module of their own: what REST offers is what the contract names', async () => {
    await server?.close();
    server = await startRest(
      'type Post { id: ID! title: String! } type Query { posts: [Post!]! newest(limit: Int): Post } type Mutation { publish(title: String!): Post! @resolve(as: CREATE) archive(id: ID!): Post touchAll: Int! }',
      {
        database,
        resolvers: {
          Mutation: { archive: () => null, touchAll: () => 1 },
          Query: { newest: () => null },
        },
      },
    );
    expect((await server.call('POST', '/api/posts', { body: { title: 'x' } })).status).toBe(201);
    for (const [method, path, status] of [
      ['POST', '/api/posts/1/archive', 404],
      ['POST', '/api/archive', 404],
      ['POST', '/api/touch-all', 404],
      ['GET', '/api/newest', 404],
      ['PATCH', '/api/posts/1', 404],
      ['DELETE', '/api/posts/1', 404],
      ['PUT', '/api/posts', 405],
    ] as const) {
      expect([
        method,
        path,
        (await server.call(method, path, method === 'GET' ? {} : { body: {} })).status,
      ]).toEqual([method, path, status]);
    }
  });
});
