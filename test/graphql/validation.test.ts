import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Post { id: ID! title: String! @constraint(minLength: 2) labels: [String!]! @constraint(maxLength: 3, maxItems: 2) comments: [Comment!]! }
  type Comment { id: ID! text: String! post: Post! }
  input NewPost { title: String! labels: [String!]! comments: PostComments }
  input PostComments { create: [NewComment!] connectOrCreate: [CommentOrNew!] }
  input CommentOrNew { where: Key! create: NewComment! }
  input Key { id: ID! }
  input NewComment { text: String! @constraint(minLength: 2, maxLength: 9) }
  input Search { words: [String!] @constraint(minItems: 1, maxItems: 2, minLength: 2) near: Place tags: [Tag!] }
  input Place { zip: String @constraint(pattern: "^[0-9]{5}$") within: Place }
  input Tag { name: String! @constraint(maxLength: 3) }
  type Query { posts: [Post!]! find(search: Search!, page: Int @constraint(min: 1)): String! }
  type Mutation { createPost(input: NewPost!): Post! send(search: Search!): String! updatePost(id: ID!, input: NewPost!): Post }
`;

describe.each(databases)('validation before any function, on %s', (database) => {
  let server: TestServer;
  const called: string[] = [];
  const own = (name: string) => () => (called.push(name), name);
  beforeAll(
    async () =>
      void (server = await startServer(SDL, {
        database,
        resolvers: {
          Query: { find: own('find') },
          Mutation: { send: own('send'), updatePost: own('updatePost') },
        },
      })),
  );
  afterAll(() => server?.close());

  const refused = async (query: string, variables = {}) => {
    const { errors = [] } = await server.query(query, variables);
    expect(errors).toHaveLength(1);
    const { message, extensions } = errors[0];
    return { message, ...extensions };
  };

  it('§13.8: no constraint is passed by, wherever it stands, in Query and Mutation, inferred or not', async () => {
    const bad = {
      words: ['x', 'ok', 'more'],
      near: { zip: 'abc', within: { zip: '1' } },
      tags: [{ name: 'abc' }, { name: 'abcd' }],
    };
    const errors = [
      { field: 'search.words', message: 'must have at most 2 items' },
      { field: 'search.words', message: 'must have at least 2 characters' },
      { field: 'search.near.zip', message: 'must match ^[0-9]{5}$' },
      { field: 'search.near.within.zip', message: 'must match ^[0-9]{5}$' },
      { field: 'search.tags.1.name', message: 'must have at most 3 characters' },
    ];
    expect(await refused('query ($s: Search!) { find(search: $s, page: 0) }', { s: bad })).toEqual({
      message: 'page must be at least 1',
      code: 'BAD_USER_INPUT',
      field: 'page',
      errors: [{ field: 'page', message: 'must be at least 1' }, ...errors],
    });
    expect(await refused('mutation ($s: Search!) { send(search: $s) }', { s: bad })).toMatchObject({
      errors,
    });
    expect(await refused('{ find(search: { words: [] }) }')).toMatchObject({
      message: 'search.words must have at least 1 item',
    });
    const input = {
      title: 'x',
      labels: ['long', 'a', 'b'],
      comments: {
        create: [{ text: 'a' }],
        connectOrCreate: [{ where: { id: '1' }, create: { text: 'much too long' } }],
      },
    };
    expect(
      await refused('mutation ($input: NewPost!) { createPost(input: $input) { id } }', { input }),
    ).toEqual({
      message: 'input.title must have at least 2 characters',
      code: 'BAD_USER_INPUT',
      field: 'input.title',
      errors: [
        { field: 'input.title', message: 'must have at least 2 characters' },
        { field: 'input.labels', message: 'must have at most 2 items' },
        { field: 'input.labels', message: 'must have at most 3 characters' },
        { field: 'input.comments.create.text', message: 'must have at least 2 characters' },
        {
          field: 'input.comments.connectOrCreate.create.text',
          message: 'must have at most 9 characters',
        },
      ],
    });
    expect(called).toEqual([]);
  });

  it('a function that replaces an inferred action gets what the columns allow', async () => {
    const input = { title: 'x', labels: [] };
    expect(
      await refused('mutation ($input: NewPost!) { updatePost(id: 1, input: $input) { id } }', {
        input,
      }),
    ).toMatchObject({
      errors: [{ field: 'input.title', message: 'must have at least 2 characters' }],
    });
    expect(called).toEqual([]);
  });

  it('what is right passes', async () => {
    const { data } = await server.query(
      '{ find(search: { words: ["ok"], near: { zip: "12345" } }, page: 1) }',
    );
    expect(data).toEqual({ find: 'find' });
  });
});
