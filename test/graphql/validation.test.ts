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
  type Label { id: ID! name: String! @unique @constraint(minLength: 2) color: String @constraint(maxLength: 4) }
  input LabelKey { name: String! }
  input NewLabel { name: String! color: String }
  input LabelColor { color: String }
  input LabelFilter { name: TextFilter }
  input TextFilter { eq: String }
  type Query { labels: [Label!]! posts: [Post!]! find(search: Search!, page: Int @constraint(min: 1)): String! }
  type Mutation { createPost(input: NewPost!): Post! send(search: Search!): String! updatePost(id: ID!, input: NewPost!): Post
    upsertLabel(where: LabelKey!, create: NewLabel!, update: LabelColor!): Label! labelUpsert(input: NewLabel!): Label!
    createLabels(input: [NewLabel!]!): Int! updateLabels(where: LabelFilter!, input: LabelColor!): Int!
  }
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
          Mutation: {
            send: own('send'),
            updatePost: own('updatePost'),
            upsertLabel: own('upsertLabel'),
            labelUpsert: own('labelUpsert'),
            createLabels: own('createLabels'),
            updateLabels: own('updateLabels'),
          },
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

  it.each([
    [
      'upsertLabel(where: { name: "x" }, create: { name: "x" }, update: { color: "much" }) { id }',
      ['create.name must have at least 2 characters'],
    ],
    [
      'upsertLabel(where: { name: "xy" }, create: { name: "xy" }, update: { color: "too much" }) { id }',
      ['update.color must have at most 4 characters'],
    ],
    [
      'labelUpsert(input: { name: "x", color: "much" }) { id }',
      ['input.name must have at least 2 characters'],
    ],
    [
      'createLabels(input: [{ name: "xy" }, { name: "x", color: "too much" }])',
      [
        'input.1.name must have at least 2 characters',
        'input.1.color must have at most 4 characters',
      ],
    ],
    [
      'updateLabels(where: { name: { eq: "xy" } }, input: { color: "too much" })',
      ['input.color must have at most 4 characters'],
    ],
  ])(
    'a function that replaces a write of another form gets it too: %s',
    async (mutation, wrong) => {
      const { errors } = await refused(`mutation { ${mutation} }`);
      expect(errors.map(({ field, message }: any) => `${field} ${message}`)).toEqual(wrong);
      expect(called).toEqual([]);
    },
  );

  it('what is right passes', async () => {
    const { data } = await server.query(
      '{ find(search: { words: ["ok"], near: { zip: "12345" } }, page: 1) }',
    );
    expect(data).toEqual({ find: 'find' });
  });
});
