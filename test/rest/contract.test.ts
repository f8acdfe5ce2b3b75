import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startRest, type RestServer } from './harness.ts';

const sdl = `
scalar DateTime
enum Status { DRAFT LIVE }
type Author { id: ID! name: String! email: String! @unique age: Int posts(limit: Int, offset: Int): [Post!]! }
type Post {
  id: ID! title: String! status: Status! @default(value: "DRAFT") views: Int! @default(value: 0) score: Float published: Boolean subtitle: String
  author: Author! editor: Author @relation(inverse: NONE) comments: [Comment!]! tags: [Tag!]! createdAt: DateTime!
}
type Comment { id: ID! text: String! post: Post! }
type Tag { id: ID! label: String! @unique posts: [Post!]! }
input CreatePostInput { title: String! @constraint(minLength: 2) status: Status views: Int score: Float published: Boolean subtitle: String authorId: ID! tagIds: [ID!] }
input UpdatePostInput { title: String status: Status views: Int score: Float published: Boolean subtitle: String authorId: ID }
type Query { post(id: ID!): Post posts(status: Status, limit: Int, offset: Int): [Post!]! authors: [Author!]! author(id: ID!): Author tags: [Tag!]! }
type Mutation {
  createAuthor(name: String!, email: String!, age: Int): Author!
  createPost(input: CreatePostInput!): Post!
  updatePost(id: ID!, input: UpdatePostInput!): Post
  deletePost(id: ID!): Boolean!
  deleteAuthor(id: ID!): Boolean!
  createComment(text: String!, postId: ID!): Comment!
  createTag(label: String!): Tag!
}`.replace(' @relation(inverse: NONE)', '');

describe.each(databases)('the contract on %s', (database) => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRest(sdl.replace('editor: Author', ''), { database });
  });
  afterAll(() => server.close());
  it('x', async () => {
    const show = async (m: string, p: string, s?: any) => { const r = await server.call(m, p, s); console.log(m, p, r.status, r.text, r.headers.get('location'), r.headers.get('etag')); console.log('   ', server.statements().length); return r; };
    await show('POST', '/api/authors', { body: { name: 'Ada', email: 'a@x' } });
    await show('POST', '/api/authors', { body: { name: 'Ada', email: 'a@x' } });
    await show('POST', '/api/tags', { body: { label: 'x' } });
    await show('POST', '/api/posts', { body: { title: 'One', authorId: 1, tagIds: ['1'] } });
    await show('POST', '/api/posts', { body: { title: 'Two', authorId: 9 } });
    await show('POST', '/api/posts', { body: { authorId: 9 } });
    await show('POST', '/api/posts?include=author,tags', { body: { title: 'Two', authorId: '1', score: 1.5 } });
    await show('POST', '/api/comments', { body: { text: 'hi', postId: 1 } });
    await show('GET', '/api/posts');
    await show('GET', '/api/posts?include=author,comments,tags&sort=title&order=desc&fields=title,author.name&title_contains=w');
    await show('GET', '/api/posts/1');
    await show('GET', '/api/posts/99');
    await show('GET', '/api/posts/x');
    await show('PATCH', '/api/posts/1', { body: { subtitle: 'S', score: null } });
    await show('DELETE', '/api/authors/1');
    await show('DELETE', '/api/posts/1');
    await show('GET', '/api/posts?nope=1&x=2');
    await show('GET', '/api/posts?limit=101');
    await show('GET', '/api/comments');
  });
});
