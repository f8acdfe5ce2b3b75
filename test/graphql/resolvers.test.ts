import { afterEach, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestOptions, type TestServer } from './harness.ts';

const SDL = `
  type User { id: ID! first: String! last: String! fullName: String! @computed posts(limit: Int): [Post!]! bestFriend: User @computed nickname: String }
  type Post { id: ID! title: String! author: User! comments: [Comment!]! reading: Int! @computed }
  type Comment { id: ID! text: String! post: Post! author: User }
  type Stats { users: Int! newest: User note: String }
  type Query { users: [User!]! user(id: ID!): User posts: [Post!]! post(id: ID!): Post search(text: String!): [User!]! stats: Stats! todo: String! guess(n: Int! @constraint(min: 1, max: 10)): Int! }
  type Mutation { updateUser(id: ID!, first: String): User! readUser(id: ID!): User! createUser(first: String!, last: String!): User! signUp(name: String!): User! }
`;

let server: TestServer;
afterEach(() => server?.close());

const resolvers = {
  User: {
    fullName: ({ first, last }: any) => `${first} ${last}`,
    bestFriend: ({ id }: any, _args: unknown, { loaders }: any) =>
      loaders.user.load((Number(id) % 3) + 1),
    nickname: ({ nickname, first }: any) => nickname ?? first.toLowerCase(),
  },
  Post: { reading: async ({ title }: any) => title.length },
  Query: {
    search: (_: unknown, { text }: any, { db }: any) =>
      db
        .selectFrom('users')
        .selectAll()
        .where('first', 'like', `%${text}%`)
        .orderBy('id')
        .execute(),
    stats: () => ({ users: async () => 3, newest: { id: 3 } }),
    guess: (_: unknown, { n }: any) => n,
  },
  Mutation: {
    readUser: (_: unknown, { id }: any, { loaders }: any) => loaders.user.load(id),
    signUp: async (_: unknown, { name }: any, { db, loaders }: any) => {
      const { id } = await db
        .insertInto('users')
        .values({ first: name, last: 'New' })
        .returning('id')
        .executeTakeFirst();
      return loaders.user.load(id);
    },
  },
};

async function start(options: TestOptions = {}): Promise<void> {
  server = await startServer(SDL, { resolvers, ...options });
  const { db } = server.store;
  for (const first of ['Ada', 'Bob', 'Cyd'])
    await db.insertInto('users').values({ first, last: 'X' }).execute();
  for (let id = 1; id <= 6; id++)
    await db
      .insertInto('posts')
      .values({ title: `t${'o'.repeat(id)}`, author_id: (id % 3) + 1 })
      .execute();
  for (let id = 1; id <= 9; id++)
    await db
      .insertInto('comments')
      .values({
        text: `c${id}`,
        post_id: (id % 6) + 1,
        author_id: id % 4 === 0 ? null : (id % 3) + 1,
      })
      .execute();
  server.statements();
}

const data = async (query: string) => {
  const answer = await server.query(query);
  expect(answer.errors).toBeUndefined();
  return answer.data;
};

describe.each(databases)('functions of the user on %s', (database) => {
  it('get rows by the names of their fields, whatever was selected, and one statement still reads them', async () => {
    await start({ database });
    expect(await data('{ users { n: fullName nickname } }')).toEqual({
      users: [
        { n: 'Ada X', nickname: 'ada' },
        { n: 'Bob X', nickname: 'bob' },
        { n: 'Cyd X', nickname: 'cyd' },
      ],
    });
    expect(server.statements()).toHaveLength(1);
    expect(
      await data('{ posts { title reading comments { text author { fullName } } } }'),
    ).toMatchObject({ posts: { length: 6, 0: { title: 'to', reading: 2 } } });
    expect(server.statements()).toHaveLength(1);
  });

  it('are batched: one statement for each loader and level, and one for what lies below', async () => {
    await start({ database });
    const answer = await data(
      '{ users { first bestFriend { first bestFriend { first posts(limit: 1) { title comments { text } } } } } }',
    );
    expect(answer.users[0]).toEqual({
      first: 'Ada',
      bestFriend: {
        first: 'Bob',
        bestFriend: {
          first: 'Cyd',
          posts: [{ title: 'too', comments: [{ text: 'c1' }, { text: 'c7' }] }],
        },
      },
    });
    expect(server.statements()).toHaveLength(3);
  });

  it('may answer with rows of the database, with parts of a row, and with functions', async () => {
    await start({ database });
    expect(
      await data('{ search(text: "b") { id first fullName posts { title author { first } } } }'),
    ).toEqual({
      search: [
        {
          id: '2',
          first: 'Bob',
          fullName: 'Bob X',
          posts: [
            { title: 'to', author: { first: 'Bob' } },
            { title: 'toooo', author: { first: 'Bob' } },
          ],
        },
      ],
    });
    expect(server.statements()).toHaveLength(1);
    expect(await data('{ stats { users newest { id first posts { title } } note } }')).toEqual({
      stats: {
        users: 3,
        newest: { id: '3', first: 'Cyd', posts: [{ title: 'too' }, { title: 'tooooo' }] },
        note: null,
      },
    });
    expect(server.statements().length).toBeLessThanOrEqual(2);
  });

  it('see what a mutation changed', async () => {
    await start({ database });
    expect(
      await data(
        'mutation { a: signUp(name: "Dan") { id fullName posts { id } } b: createUser(first: "Eve", last: "Y") { id fullName bestFriend { first } } }',
      ),
    ).toEqual({
      a: { id: '4', fullName: 'Dan New', posts: [] },
      b: { id: '5', fullName: 'Eve Y', bestFriend: { first: 'Cyd' } },
    });
    expect(
      await data(
        'mutation { a: readUser(id: 1) { first } updateUser(id: 1, first: "Zoe") { id } b: readUser(id: 1) { first posts(limit: 0) { id } } }',
      ),
    ).toEqual({ a: { first: 'Ada' }, updateUser: { id: '1' }, b: { first: 'Zoe', posts: [] } });
  });
});

describe('functions of the user', () => {
  it('that are not written yet say so with the coordinate', async () => {
    await start();
    expect((await server.query('{ todo }')).errors).toMatchObject([
      { path: ['todo'], extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'Query.todo' } },
    ]);
    await server.close();
    server = await startServer(SDL, { resolvers: {} });
    await server.store.db.insertInto('users').values({ first: 'Ada', last: 'X' }).execute();
    expect(await server.query('{ users { first bestFriend { id } } }')).toMatchObject({
      data: { users: [{ first: 'Ada', bestFriend: null }] },
      errors: [
        {
          path: ['users', 0, 'bestFriend'],
          extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'User.bestFriend' },
        },
      ],
    });
  });

  it('are called with arguments that keep to their constraints, or not at all', async () => {
    await start();
    expect(await data('{ guess(n: 3) }')).toEqual({ guess: 3 });
    expect((await server.query('{ guess(n: 11) }')).errors).toMatchObject([
      { message: 'n must be at most 10', extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  it('have loaders with the names of the model, keyed by number or text', async () => {
    const seen: unknown[] = [];
    await start({
      resolvers: {
        ...resolvers,
        Query: {
          ...resolvers.Query,
          todo: async (_: unknown, _args: unknown, { loaders, user: caller }: any) => {
            seen.push(caller, Object.keys(loaders));
            const [one, two, none, posts] = await Promise.all([
              loaders.user.load(1),
              loaders.user.load('2'),
              loaders.user.load(99),
              loaders.postsByAuthor.load(1),
            ]);
            seen.push(
              one,
              two.first,
              none,
              posts.map(({ title }: any) => title),
            );
            return 'done';
          },
        },
      },
    });
    expect((await server.query('{ todo }', {}, user(7))).data).toEqual({ todo: 'done' });
    expect(seen[0]).toMatchObject({ id: '7' });
    expect(seen[1]).toEqual(
      expect.arrayContaining(['user', 'post', 'comment', 'postsByAuthor', 'commentsByPost']),
    );
    expect(seen.slice(2)).toEqual([
      { id: '1', first: 'Ada', last: 'X', nickname: null },
      'Bob',
      null,
      ['tooo', 'toooooo'],
    ]);
    expect(server.statements()).toHaveLength(2);
  });

  it('take the place of an inferred one, root fields included', async () => {
    await start({
      resolvers: {
        Query: { users: () => [{ id: 2, first: 'Mine' }] },
        User: { last: () => 'overridden' },
      },
    });
    expect(
      await data('{ users { id first last posts { title } } user(id: 1) { first last } }'),
    ).toMatchObject({
      users: [
        {
          id: '2',
          first: 'Mine',
          last: 'overridden',
          posts: [{ title: 'to' }, { title: 'toooo' }],
        },
      ],
      user: { first: 'Ada', last: 'overridden' },
    });
  });
});

describe('a query three relations deep', () => {
  it('is one statement without functions of the user', async () => {
    await start();
    await data(
      '{ posts { title comments { text author { first posts(limit: 1) { title author { last } } } } } }',
    );
    expect(server.statements()).toHaveLength(1);
    await data('{ a: user(id: 1) { first } b: posts { id } __typename }');
    expect(server.statements()).toHaveLength(2);
  });
});
