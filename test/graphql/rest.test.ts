import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRest } from '../../runtime/rest/index.ts';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime
  enum Status { DRAFT LIVE }
  type User { id: ID! name: String! email: String! @unique posts: [Post!]! }
  type Post {
    id: ID! title: String! status: Status! score: Float words: [String!] author: User! createdAt: DateTime!
    secret: String @auth(allow: [ROLE], roles: ["admin"])
  }
  type Draft @auth(allow: [OWNER], owner: "owner") { id: ID! text: String! owner: User! }
  input CreatePostInput { title: String! @constraint(minLength: 2) status: Status = DRAFT score: Float words: [String!] authorId: ID! secret: String }
  input UpdatePostInput { title: String status: Status score: Float }
  type Query { users: [User!]! user(id: ID!): User posts: [Post!]! post(id: ID!): Post drafts: [Draft!]! draft(id: ID!): Draft }
  type Mutation {
    createUser(name: String!, email: String!): User!
    createPost(input: CreatePostInput!): Post!
    updatePost(id: ID!, input: UpdatePostInput!): Post
    deletePost(id: ID!): Boolean!
    deleteUser(id: ID!): Boolean!
    createDraft(text: String!): Draft!
  }
`;

describe.each(databases)('REST on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(SDL, { database, manifest: 'name: shop\napi: { access: public, rest: true }\nauth: { roles: { list: [admin, member], default: member } }\n', also: (kernel) => createRest({ kernel }) });
    await server.call('POST', '/api/users', { body: { name: 'Ada', email: 'ada@x.test' } });
  });
  afterEach(() => server.close());

  const post = (title: string, more = {}) => server.call('POST', '/api/posts', { body: { title, authorId: '1', ...more } });

  it('creates a row, says where it is and reads it back', async () => {
    const created = await post('First', { status: 'LIVE', score: 1.5, words: ['a', 'b'] });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/posts/1');
    expect(created.body).toMatchObject({ id: '1', title: 'First', status: 'LIVE', score: 1.5, words: ['a', 'b'], authorId: '1' });
    const read = await server.call('GET', '/api/posts/1');
    expect(read.body).toEqual(created.body);
    expect(read.headers.get('cache-control')).toContain('private');
    expect((await server.call('GET', '/api/posts/2')).body).toEqual({ error: 'Post not found' });
    expect(await server.call('GET', '/api/posts/x')).toMatchObject({ status: 400, body: { error: 'Invalid id format' } });
  });

  it('says what is wrong with a body', async () => {
    const answers = await Promise.all([post(''), server.call('POST', '/api/posts', { body: { authorId: '1' } }), post('ok', { status: 'NO' }), post('ok', { extra: 1 }), server.call('POST', '/api/posts', { body: '[1' }), server.call('POST', '/api/posts', { body: {}, headers: { 'content-type': 'text/plain' } }), post('ok', { authorId: '99' })]);
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [400, 'title must have at least 2 characters'],
      [400, 'title is required'],
      [400, 'status is not a valid Status'],
      [400, 'extra is not a known field'],
      [400, 'Invalid JSON'],
      [415, 'Unsupported media type'],
      [422, 'a related row does not exist, or is still in use'],
    ]);
    expect(await server.call('POST', '/api/users', { body: { name: 'Eve', email: 'ada@x.test' } })).toMatchObject({ status: 409, body: { error: 'email already exists' } });
  });

  it('lists by page, filter and order in one statement', async () => {
    for (let i = 1; i <= 5; i++) await post(`Post ${i}`, { score: i, status: i > 3 ? 'LIVE' : 'DRAFT' });
    server.statements();
    const page = await server.call('GET', '/api/posts?page=2&limit=2&sort=score&order=desc&fields=id,title');
    expect(page.body).toEqual({ data: [{ id: '3', title: 'Post 3' }, { id: '2', title: 'Post 2' }], pagination: { total: 5, page: 2, page_size: 2, total_pages: 3 } });
    expect(server.statements()).toHaveLength(1);
    const ids = async (query: string) => (await server.call('GET', `/api/posts?fields=id&${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('status=LIVE')).toEqual(['4', '5']);
    expect(await ids('score_gt=2&score_lte=4')).toEqual(['3', '4']);
    expect(await ids('title_contains=3')).toEqual(['3']);
    expect(await ids('id_in=1,5')).toEqual(['1', '5']);
    expect(await ids('authorId=2')).toEqual([]);
    expect((await server.call('GET', '/api/posts?page=9')).body).toEqual({ data: [], pagination: { total: 5, page: 9, page_size: 20, total_pages: 1 } });
  });

  it('refuses parameters that are wrong', async () => {
    const errors = await Promise.all(['page=0', 'limit=x', 'limit=1000', 'order=up', 'sort=nothing', 'status=NO', 'score_gt=x', 'include=nothing', 'fields=nothing'].map(async (query) => (await server.call('GET', `/api/posts?${query}`)).body.error));
    expect(errors).toEqual([
      'Invalid page number', 'Invalid limit number', 'Invalid limit number', "Invalid sort order. Use 'asc' or 'desc'",
      'sort: Post has no field nothing', 'status must be one of DRAFT, LIVE', 'score_gt is not a valid Float', 'include: Post has no relation nothing', 'fields: Post has no field nothing',
    ]);
  });

  it('embeds relations in the same statement', async () => {
    await post('First');
    server.statements();
    expect((await server.call('GET', '/api/posts/1?include=author&fields=title')).body).toEqual({ id: '1', title: 'First', author: { id: '1', name: 'Ada', email: 'ada@x.test' } });
    expect((await server.call('GET', '/api/users?include=posts')).body.data[0].posts).toMatchObject([{ id: '1', title: 'First', authorId: '1' }]);
    expect(server.statements()).toHaveLength(2);
  });

  it('changes what is given, keeps what is absent, and deletes', async () => {
    await post('First', { score: 2 });
    expect((await server.call('PATCH', '/api/posts/1', { body: { score: null } })).body).toMatchObject({ title: 'First', score: null });
    expect((await server.call('PUT', '/api/posts/1', { body: { title: 'Second' } })).body).toMatchObject({ title: 'Second' });
    expect((await server.call('PATCH', '/api/posts/7', { body: { score: 1 } })).status).toBe(404);
    expect((await server.call('DELETE', '/api/posts/1')).status).toBe(204);
    expect((await server.call('DELETE', '/api/posts/1')).status).toBe(404);
  });

  it('keeps a row that changed since the client saw it', async () => {
    const tag = (await post('First')).headers.get('etag') ?? '';
    expect((await server.call('GET', '/api/posts/1', { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await server.call('PATCH', '/api/posts/1', { body: { title: 'Mine' }, headers: { 'if-match': tag } })).status).toBe(200);
    expect((await server.call('PATCH', '/api/posts/1', { body: { title: 'Late' }, headers: { 'if-match': tag } })).status).toBe(412);
    expect((await server.call('DELETE', '/api/posts/1', { headers: { 'if-match': tag } })).status).toBe(412);
    expect((await server.call('GET', '/api/posts/1')).body.title).toBe('Mine');
  });

  it('shows, filters and sorts by nothing that the caller may not read', async () => {
    await post('First', { secret: 'x' }).then(({ status }) => expect(status).toBe(401));
    await server.call('POST', '/api/posts', { body: { title: 'First', authorId: '1', secret: 'x' }, as: user(1, 'admin') });
    expect((await server.call('GET', '/api/posts/1')).body).not.toHaveProperty('secret');
    expect((await server.call('GET', '/api/posts/1', { as: user(1, 'admin') })).body.secret).toBe('x');
    for (const query of ['secret=x', 'sort=secret', 'fields=secret']) expect((await server.call('GET', `/api/posts?${query}`, { as: user(2) })).status).toBe(403);
    await server.call('POST', '/api/drafts', { body: { text: 'mine' }, as: user(1) });
    expect((await server.call('GET', '/api/drafts')).status).toBe(401);
    expect((await server.call('GET', '/api/drafts', { as: user(2) })).body.pagination.total).toBe(0);
    expect((await server.call('GET', '/api/drafts/1', { as: user(2) })).status).toBe(404);
    expect((await server.call('GET', '/api/drafts/1', { as: user(1) })).body.text).toBe('mine');
  });

  it('lets a service key reach what its scopes name', async () => {
    const key = (...scopes: string[]) => ({ kind: 'api_key', id: 'k', scopes, userId: null }) as const;
    expect((await server.call('GET', '/api/posts', { as: key('users:read') })).status).toBe(403);
    expect((await server.call('GET', '/api/posts', { as: key('posts:read') })).status).toBe(200);
    expect((await server.call('POST', '/api/posts', { body: { title: 'Hi', authorId: '1' }, as: key('posts:read') })).status).toBe(403);
    expect((await server.call('POST', '/api/posts', { body: { title: 'Hi', authorId: '1' }, as: key('*') })).status).toBe(201);
  });
});
