import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

const SDL = `
type User { id: ID! name: String! shout: String! @computed slow: String! @computed broken: String @computed fatal: String! @computed posts: [Post!]! }
type Post { id: ID! title: String! author: User! }
input NewPost { title: String! authorId: ID! }
type Query { user(id: ID!): User users(limit: Int): [User!]! posts: [Post!]! numbers: [Int!]! holes: [Int!]! }
type Mutation { createPost(input: NewPost!): Post! }
`;

/** A database in a file answers reads at once; the other suites use one in memory, which does not. */
describe('on a database in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-at-once-'));
  let server: TestServer;
  let calls = 0;

  beforeAll(async () => {
    server = await startServer(SDL, {
      url: `file:${join(folder, 'app.db')}`,
      resolvers: {
        User: {
          shout: ({ name }: { name: string }) => name.toUpperCase(),
          slow: async ({ name }: { name: string }) => `${name}, later`,
          broken: () => {
            calls += 1;
            throw new TypeError('no');
          },
          fatal: async () => null,
        },
        Query: { numbers: () => new Set([1, 2]), holes: () => [1, null, 3] },
      },
    });
    await server.store.db
      .insertInto('users')
      .values([{ name: 'Ada' }, { name: 'Bob' }])
      .execute();
    await server.store.db
      .insertInto('posts')
      .values([
        { title: 'One', author_id: 1 },
        { title: 'Two', author_id: 2 },
      ])
      .execute();
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('answers rows, an absent row and a constant list', async () => {
    expect(await server.query('{ posts { id author { name } } }')).toEqual({
      data: {
        posts: [
          { id: '1', author: { name: 'Ada' } },
          { id: '2', author: { name: 'Bob' } },
        ],
      },
    });
    expect(
      await server.query('query One($id: ID!) { user(id: $id) { name } }', { id: '9' }),
    ).toEqual({ data: { user: null } });
    for (let time = 0; time < 3; time += 1)
      expect(await server.query('{ users(limit: 1) { name } }')).toEqual({
        data: { users: [{ name: 'Ada' }] },
      });
    expect(
      await server.query('query Some($limit: Int) { users(limit: $limit) { name } }', { limit: 2 }),
    ).toEqual({ data: { users: [{ name: 'Ada' }, { name: 'Bob' }] } });
  });

  it('sees what a mutation has written, and nothing of one that failed', async () => {
    const create =
      'mutation New($input: NewPost!) { createPost(input: $input) { title author { name } } }';
    expect(await server.query(create, { input: { title: 'Three', authorId: '2' } })).toEqual({
      data: { createPost: { title: 'Three', author: { name: 'Bob' } } },
    });
    const { errors } = await server.query(create, { input: { title: 'Four', authorId: '99' } });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect((await server.query('{ posts { title } }')).data.posts).toEqual([
      { title: 'One' },
      { title: 'Two' },
      { title: 'Three' },
    ]);
  });

  it('keeps the order of the members, whatever is ready first', async () => {
    const { data } = await server.query('{ users { slow name shout id } }');
    expect(JSON.stringify(data.users[0])).toBe(
      '{"slow":"Ada, later","name":"Ada","shout":"ADA","id":"1"}',
    );
  });

  it('tells an error where it happened, once, and calls the function once', async () => {
    calls = 0;
    const { data, errors } = await server.query('{ user(id: 1) { name broken } }');
    expect(data).toEqual({ user: { name: 'Ada', broken: null } });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({
      message: 'Internal server error',
      path: ['user', 'broken'],
      locations: [{ line: 1, column: 22 }],
    });
    expect(calls).toBe(1);
  });

  it('lets null where none may be take the place above with it', async () => {
    const { data, errors } = await server.query('{ user(id: 1) { fatal } users { fatal } }');
    expect(data).toBeNull();
    expect(errors?.at(-1)).toMatchObject({
      message: 'Cannot return null for non-nullable field User.fatal.',
      path: ['users', 0, 'fatal'],
    });
    expect((await server.query('{ user(id: 1) { fatal } }')).data).toEqual({ user: null });
  });

  it('takes any iterable for a list, and refuses a hole in one that has none', async () => {
    expect((await server.query('{ numbers }')).data).toEqual({ numbers: [1, 2] });
    expect((await server.query('{ holes }')).errors?.[0]).toMatchObject({
      message: 'Cannot return null for non-nullable field Query.holes.',
      path: ['holes', 1],
    });
  });

  it('lets a client name a member as it likes', async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __proto__: numbers constructor: numbers }' }),
    });
    expect(await response.text()).toBe('{"data":{"__proto__":[1,2],"constructor":[1,2]}}');
  });
});
