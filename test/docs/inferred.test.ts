import { describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { databases, projectOf, type TestServer } from '../graphql/harness.ts';
import { serversOn } from './servers.ts';

/** One test for each row of the table of what is inferred; `promises.test.ts` holds them to it. */
describe.each(databases)('what is inferred, on %s', (database) => {
  const start = serversOn(database);
  /** Data, or the errors as text, so that a failure says why. */
  const ask = async (server: TestServer, query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : data;
  };
  const columns = async ({ store }: TestServer, table: string) =>
    (await store.db.introspection.getTables())
      .find(({ name }) => name === table)
      ?.columns.map(({ name }) => name);

  it('an object type with an id is a table in snake_case, and roots, connections, edges, PageInfo and payloads are none', async () => {
    const server = await start(`
      type BlogPost { id: ID! wordCount: Int }
      type BlogPostConnection { edges: [BlogPostEdge!]! pageInfo: PageInfo! } type BlogPostEdge { node: BlogPost! cursor: String! }
      type PageInfo { hasNextPage: Boolean! endCursor: String } type CreateBlogPostPayload { id: ID blogPost: BlogPost }
      type Query { blogPosts(first: Int, after: String): BlogPostConnection! } type Mutation { createBlogPost(wordCount: Int): CreateBlogPostPayload! }`);
    const tables = (await server.store.db.introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('sqlite_'));
    expect(tables).toEqual(['blog_posts']);
    expect(await columns(server, 'blog_posts')).toEqual(['id', 'word_count']);
    expect(
      await ask(server, 'mutation { createBlogPost(wordCount: 3) { id blogPost { wordCount } } }'),
    ).toEqual({ createBlogPost: { id: '1', blogPost: { wordCount: 3 } } });
  });

  const USERS = `type User { id: ID! name: String! email: String! @unique posts(limit: Int, offset: Int): [Post!]! }
    type Post { id: ID! title: String! views: Int author: User! }
    type Query { user(id: ID!): User userByEmail(email: String!): User users(name: String, limit: Int, offset: Int): [User!]! posts: [Post!]! }
    type Mutation { createUser(name: String!, email: String!): User! createPost(title: String!, views: Int, authorId: ID!): Post! }`;
  const people = async () => {
    const server = await start(USERS);
    await server.store.db
      .insertInto('users')
      .values(['Ada', 'Bob', 'Bob'].map((name, index) => ({ name, email: `${index}@x.test` })))
      .execute();
    await server.store.db
      .insertInto('posts')
      .values([
        { title: 'one', author_id: 1 },
        { title: 'two', author_id: 1 },
        { title: 'three', author_id: 2 },
      ])
      .execute();
    server.statements();
    return server;
  };

  it('a single result by id is got, and is null when there is none', async () => {
    const server = await people();
    expect(
      await ask(
        server,
        '{ user(id: 2) { name } none: user(id: 9) { name } odd: user(id: "x") { name } }',
      ),
    ).toEqual({ user: { name: 'Bob' }, none: null, odd: null });
    expect(server.statements()).toHaveLength(3);
  });

  it('a single result whose arguments are fields is a lookup, with a hint where the field is not unique', async () => {
    expect(
      await ask(
        await people(),
        '{ userByEmail(email: "1@x.test") { id } none: userByEmail(email: "no") { id } }',
      ),
    ).toEqual({ userByEmail: { id: '2' }, none: null });
    const { diagnostics } = readProject({
      schema: [
        {
          file: 's',
          text: 'type User { id: ID! name: String! } type Query { userByName(name: String!): User }',
        },
      ],
      manifest: null,
    });
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ['LOOKUP_NOT_UNIQUE', 'hint'],
    ]);
  });

  it('a list is all of them by id, filtered by arguments that are fields, paged and capped', async () => {
    const server = await people();
    expect(
      await ask(
        server,
        '{ users { id } named: users(name: "Bob") { id } page: users(limit: 1, offset: 1) { id } }',
      ),
    ).toEqual({
      users: [{ id: '1' }, { id: '2' }, { id: '3' }],
      named: [{ id: '2' }, { id: '3' }],
      page: [{ id: '2' }],
    });
    await server.store.db
      .insertInto('posts')
      .values(Array.from({ length: 120 }, (_, index) => ({ title: `p${index}`, author_id: 3 })))
      .execute();
    expect((await ask(server, '{ posts { id } }')).posts).toHaveLength(100);
  });

  it('a filter and an order are what their inputs declare, through relations as well', async () => {
    const server = await start(`
      input Text { eq: String ne: String in: [String!] contains: String startsWith: String isNull: Boolean } input Number { lt: Int lte: Int gt: Int gte: Int isNull: Boolean }
      input UserFilter { name: Text posts: PostMany and: [UserFilter!] or: [UserFilter!] not: UserFilter } input PostMany { some: PostFilter every: PostFilter none: PostFilter }
      input PostFilter { title: Text views: Number author: UserFilter } enum Direction { ASC DESC } input UserOrder { name: Direction id: Direction }
      type User { id: ID! name: String! posts: [Post!]! } type Post { id: ID! title: String! views: Int author: User! }
      type Query { users(where: UserFilter, orderBy: UserOrder): [User!]! posts(where: PostFilter): [Post!]! }`);
    await server.store.db
      .insertInto('users')
      .values(['Ada', 'Bob', 'Cyd'].map((name) => ({ name })))
      .execute();
    await server.store.db
      .insertInto('posts')
      .values([
        { title: 'one', views: 1, author_id: 1 },
        { title: 'two', views: 5, author_id: 1 },
        { title: 'on', views: null, author_id: 2 },
      ])
      .execute();
    const users = async (where: string) =>
      (await ask(server, `{ users(where: ${where}, orderBy: { name: DESC }) { name } }`)).users
        ?.map(({ name }: any) => name)
        .join(' ');
    const posts = async (where: string) =>
      (await ask(server, `{ posts(where: ${where}) { title } }`)).posts
        ?.map(({ title }: any) => title)
        .join(' ');
    const seen = {
      eq: await users('{ name: { eq: "Ada" } }'),
      ne: await users('{ name: { ne: "Ada" } }'),
      in: await users('{ name: { in: ["Ada", "Cyd"] } }'),
      contains: await users('{ name: { contains: "o" } }'),
      startsWith: await users('{ name: { startsWith: "C" } }'),
      lt: await posts('{ views: { lt: 5 } }'),
      lte: await posts('{ views: { lte: 5 } }'),
      gt: await posts('{ views: { gt: 1 } }'),
      gte: await posts('{ views: { gte: 1 } }'),
      isNull: await posts('{ views: { isNull: true } }'),
      and: await users('{ and: [{ name: { contains: "d" } }, { name: { ne: "Ada" } }] }'),
      or: await users('{ or: [{ name: { eq: "Ada" } }, { name: { eq: "Bob" } }] }'),
      not: await users('{ not: { name: { eq: "Ada" } } }'),
      some: await users('{ posts: { some: { title: { startsWith: "on" } } } }'),
      every: await users('{ posts: { every: { views: { gte: 1 } } } }'),
      none: await users('{ posts: { none: {} } }'),
      one: await posts('{ author: { name: { eq: "Bob" } } }'),
    };
    expect(seen).toEqual({
      eq: 'Ada',
      ne: 'Cyd Bob',
      in: 'Cyd Ada',
      contains: 'Bob',
      startsWith: 'Cyd',
      lt: 'one',
      lte: 'one two',
      gt: 'two',
      gte: 'one two',
      isNull: 'on',
      and: 'Cyd',
      or: 'Bob Ada',
      not: 'Cyd Bob',
      some: 'Bob Ada',
      every: 'Cyd Ada',
      none: 'Cyd',
      one: 'on',
    });
  });

  it('a connection is walked by cursors, and counts when it says so', async () => {
    const server =
      await start(`type User { id: ID! name: String! } type UserConnection { edges: [UserEdge!]! pageInfo: PageInfo! totalCount: Int! } type UserEdge { node: User! cursor: String! }
      type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String } type Query { users(first: Int, after: String, last: Int, before: String): UserConnection! }`);
    await server.store.db
      .insertInto('users')
      .values(['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })))
      .execute();
    const page = async (args: string) =>
      (
        await ask(
          server,
          `{ users(${args}) { edges { node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
        )
      ).users;
    const first = await page('first: 2');
    // Rows that come and go move no cursor.
    await server.store.db.deleteFrom('users').where('name', '=', 'a').execute();
    const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`);
    const back = await page(`last: 1, before: "${second.pageInfo.startCursor}"`);
    const names = ({ edges }: any) => edges.map(({ node }: any) => node.name).join('');
    expect([names(first), names(second), names(back)]).toEqual(['ab', 'cd', 'b']);
    expect([
      first.totalCount,
      second.totalCount,
      second.pageInfo.hasNextPage,
      back.pageInfo.hasPreviousPage,
    ]).toEqual([5, 4, true, false]);
  });

  it('create, update and delete do so in one transaction, absent is not null, and each answers as it is declared', async () => {
    const server = await start(`
      type User { id: ID! name: String! bio: String posts: [Post!]! } type Post { id: ID! title: String! author: User! tag: Tag } type Tag { id: ID! label: String! }
      input NewUser { name: String! bio: String posts: NewPosts } input NewPosts { create: [NewPost!] connect: [Key!] } input NewPost { title: String! tag: NewTag } input NewTag { create: TagInput connect: Key } input TagInput { label: String! } input Key { id: ID! }
      input UserPatch { name: String bio: String } type UserPayload { user: User ok: Boolean! }
      type Query { users: [User!]! posts: [Post!]! }
      type Mutation { createUser(input: NewUser!): User! updateUser(id: ID!, input: UserPatch!): UserPayload! deleteUser(id: ID!): Boolean! createTag(label: String!): ID! deletePost(id: ID!): Post }`);
    expect(
      await ask(
        server,
        'mutation { createUser(input: { name: "Ada", bio: "b", posts: { create: [{ title: "one", tag: { create: { label: "x" } } }] } }) { id posts { title tag { label } } } }',
      ),
    ).toEqual({ createUser: { id: '1', posts: [{ title: 'one', tag: { label: 'x' } }] } });
    expect(
      await ask(
        server,
        'mutation { a: updateUser(id: 1, input: { name: "Ada L" }) { ok user { name bio } } b: updateUser(id: 1, input: { bio: null }) { user { name bio } } }',
      ),
    ).toEqual({
      a: { ok: true, user: { name: 'Ada L', bio: 'b' } },
      b: { user: { name: 'Ada L', bio: null } },
    });
    expect(
      await ask(
        server,
        'mutation { createUser(input: { name: "Bob", posts: { create: [{ title: "two" }], connect: [{ id: 99 }] } }) { id } }',
      ),
    ).toEqual(['BAD_USER_INPUT: posts: there is no such Post']);
    expect(await ask(server, '{ users { name } posts { title } }')).toEqual({
      users: [{ name: 'Ada L' }],
      posts: [{ title: 'one' }],
    });
    expect(
      await ask(
        server,
        'mutation { tag: createTag(label: "y") gone: deletePost(id: 1) { title } user: deleteUser(id: 1) again: deleteUser(id: 1) }',
      ),
    ).toEqual({ tag: '2', gone: { title: 'one' }, user: true, again: false });
  });

  it('an object and a list of each other are one foreign key', async () => {
    const server = await people();
    expect(await columns(server, 'posts')).toContain('author_id');
    expect(await columns(server, 'users')).not.toContain('posts');
    expect(await ask(server, '{ user(id: 1) { posts { title author { name } } } }')).toEqual({
      user: {
        posts: [
          { title: 'one', author: { name: 'Ada' } },
          { title: 'two', author: { name: 'Ada' } },
        ],
      },
    });
    await expect(server.store.db.deleteFrom('users').where('id', '=', 1).execute()).rejects.toThrow(
      /foreign key/i,
    );
  });

  it('lists on both sides are a join table', async () => {
    const server = await start(
      'type Post { id: ID! title: String! tags: [Tag!]! } type Tag { id: ID! label: String! posts: [Post!]! } type Query { posts: [Post!]! tags: [Tag!]! } type Mutation { createTag(label: String!): Tag! createPost(title: String!, tagIds: [ID!]): Post! }',
    );
    await ask(
      server,
      'mutation { a: createTag(label: "x") { id } b: createTag(label: "y") { id } one: createPost(title: "one", tagIds: [1, 2]) { id } two: createPost(title: "two", tagIds: [2]) { id } }',
    );
    expect(await columns(server, 'post_tags')).toEqual(['post_id', 'tag_id']);
    expect(await ask(server, '{ posts { tags { label } } tags { posts { title } } }')).toEqual({
      posts: [{ tags: [{ label: 'x' }, { label: 'y' }] }, { tags: [{ label: 'y' }] }],
      tags: [{ posts: [{ title: 'one' }] }, { posts: [{ title: 'one' }, { title: 'two' }] }],
    });
  });

  it('two candidates for an inverse are an error whose fix can be pasted, and with it each relation has its own key', async () => {
    const sdl =
      'type Query { users: [User!]! } type User { id: ID! posts: [Post!]! } type Post { id: ID! author: User editor: User }';
    const { diagnostics } = readProject({ schema: [{ file: 's', text: sdl }], manifest: null });
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ['RELATION_AMBIGUOUS', 'error'],
    ]);
    const fix = /posts: \[Post!\]! @relation\(inverse: "author"\)/.exec(
      JSON.stringify(diagnostics).replaceAll('\\"', '"'),
    )?.[0];
    expect([fix, JSON.stringify(diagnostics)]).toEqual([
      'posts: [Post!]! @relation(inverse: "author")',
      expect.any(String),
    ]);
    const server = await start(sdl.replace('posts: [Post!]!', fix!));
    await server.store.db.insertInto('users').defaultValues().execute();
    await server.store.db.insertInto('users').defaultValues().execute();
    await server.store.db.insertInto('posts').values({ author_id: 1, editor_id: 2 }).execute();
    expect(await ask(server, '{ users { posts { editor { id } } } }')).toEqual({
      users: [{ posts: [{ editor: { id: '2' } }] }, { posts: [] }],
    });
  });

  it('lists of scalars and objects without an id are JSON columns', async () => {
    const server = await start(
      'type Place { id: ID! words: [String!]! spot: Spot former: [Spot!] } type Spot { x: Int! y: Int } input SpotInput { x: Int! y: Int } type Query { places: [Place!]! } type Mutation { createPlace(words: [String!]!, spot: SpotInput, former: [SpotInput!]): Place! }',
    );
    await ask(
      server,
      'mutation { createPlace(words: ["a", "b"], spot: { x: 1 }, former: [{ x: 2, y: 3 }]) { id } }',
    );
    expect(await columns(server, 'places')).toEqual(['id', 'words', 'spot', 'former']);
    expect(await ask(server, '{ places { words spot { x y } former { y } } }')).toEqual({
      places: [{ words: ['a', 'b'], spot: { x: 1, y: null }, former: [{ y: 3 }] }],
    });
  });

  it('an enum is text with a check', async () => {
    const server = await start(
      'enum Mood { CALM WILD } type Cat { id: ID! mood: Mood! } type Query { cats: [Cat!]! } type Mutation { createCat(mood: Mood!): Cat! }',
    );
    expect(await ask(server, 'mutation { createCat(mood: WILD) { mood } }')).toEqual({
      createCat: { mood: 'WILD' },
    });
    await expect(
      server.store.db.insertInto('cats').values({ mood: 'ODD' }).execute(),
    ).rejects.toThrow(/check/i);
  });

  it('a scalar of the user is mapped, and one that is not is an error that names it', async () => {
    const sdl =
      'scalar Money type Bill { id: ID! total: Money! } type Query { bills: [Bill!]! } type Mutation { createBill(total: Money!): Bill! }';
    const server = await start(sdl, {
      scalars: {
        Money: {
          type: 'text',
          serialize: (value) => `${String(value)} EUR`,
          parseValue: (value) => String(value).replace(' EUR', ''),
        },
      },
    });
    expect(await ask(server, 'mutation { createBill(total: "5 EUR") { total } }')).toEqual({
      createBill: { total: '5 EUR' },
    });
    expect(await server.store.db.selectFrom('bills').select('total').execute()).toEqual([
      { total: '5' },
    ]);
    const { diagnostics } = readProject({
      schema: [{ file: 'schema.graphql', text: `\n${sdl}` }],
      manifest: null,
      scalars: {},
    });
    expect(
      diagnostics.map(({ code, severity, at, summary }) => [code, severity, at.line, summary]),
    ).toEqual([['SCALAR_UNMAPPED', 'error', 2, expect.stringContaining('Money')]]);
  });

  it('createdAt and updatedAt are kept by the server', async () => {
    let now = Date.UTC(2026, 0, 1);
    const server = await start(
      'scalar DateTime type Note { id: ID! text: String! createdAt: DateTime! updatedAt: DateTime! } type Query { notes: [Note!]! } type Mutation { createNote(text: String!): Note! updateNote(id: ID!, text: String): Note }',
      { now: () => now },
    );
    expect(await ask(server, 'mutation { createNote(text: "a") { createdAt updatedAt } }')).toEqual(
      {
        createNote: {
          createdAt: '2026-01-01T00:00:00.000Z',
          updatedAt: '2026-01-01T00:00:00.000Z',
        },
      },
    );
    now += 1000;
    expect(
      await ask(server, 'mutation { updateNote(id: 1, text: "b") { createdAt updatedAt } }'),
    ).toEqual({
      updateNote: { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:01.000Z' },
    });
  });

  it('anything else is a stub that says what is not written, by its coordinate', async () => {
    const server = await start(
      'type Query { weather(city: String!): String } type Mutation { launch: Boolean! }',
    );
    expect((await server.query('{ weather(city: "Rome") }')).errors?.[0]).toMatchObject({
      extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'Query.weather' },
    });
    expect((await server.query('mutation { launch }')).errors?.[0]).toMatchObject({
      extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'Mutation.launch' },
    });
  });

  it('keys are whole numbers in the database and text on the wire, or UUIDs of version 7', async () => {
    const sdl =
      'type Tag { id: ID! label: String! } type Query { tags: [Tag!]! } type Mutation { createTag(label: String!): Tag! }';
    const server = await start(sdl);
    expect(await ask(server, 'mutation { createTag(label: "x") { id } }')).toEqual({
      createTag: { id: '1' },
    });
    expect(await server.store.db.selectFrom('tags').select('id').execute()).toEqual([{ id: 1 }]);
    const uuids = await start(sdl, { manifest: 'name: test\ndatabase: { ids: uuid }\n' });
    expect((await ask(uuids, 'mutation { createTag(label: "x") { id } }')).createTag.id).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('an input is checked before any function of the user runs and before anything is asked of the database', async () => {
    const called: unknown[] = [];
    const server = await start(
      'type Tag { id: ID! label: String! @constraint(minLength: 2) } input TagInput { label: String! @constraint(minLength: 2) } type Query { tags: [Tag!]! } type Mutation { createTag(input: TagInput!): Tag! shout(label: String! @constraint(maxLength: 3)): String }',
      {
        resolvers: { Mutation: { shout: (_parent, { label }) => (called.push(label), label) } },
      },
    );
    expect(await ask(server, 'mutation { createTag(input: { label: "x" }) { id } }')).toEqual([
      'BAD_USER_INPUT: input.label must have at least 2 characters',
    ]);
    expect(await ask(server, 'mutation { shout(label: "long") }')).toEqual([
      expect.stringMatching(/^BAD_USER_INPUT: label must have/),
    ]);
    expect([called, server.statements()]).toEqual([[], []]);
  });

  it('a nested list pages by its own arguments inside the one statement', async () => {
    const server = await people();
    expect(await ask(server, '{ users { posts(limit: 1, offset: 1) { title } } }')).toEqual({
      users: [{ posts: [{ title: 'two' }] }, { posts: [] }, { posts: [] }],
    });
    expect(server.statements()).toHaveLength(1);
  });

  it('an input sets relations by key, by connecting, disconnecting and creating, as it declares', async () => {
    const server = await start(`
      type Post { id: ID! title: String! author: User tags: [Tag!]! } type User { id: ID! name: String! posts: [Post!]! } type Tag { id: ID! label: String! posts: [Post!]! }
      input NewPost { title: String! authorId: ID author: AuthorInput tagIds: [ID!] tags: TagsInput } input AuthorInput { connect: Key create: UserInput } input UserInput { name: String! } input Key { id: ID! }
      input TagsInput { connect: [Key!] disconnect: [Key!] create: [TagInput!] } input TagInput { label: String! }
      type Query { posts: [Post!]! } type Mutation { createPost(input: NewPost!): Post! updatePost(id: ID!, input: NewPost!): Post }`);
    const shape = '{ author { name } tags { label } }';
    expect(
      await ask(
        server,
        `mutation { createPost(input: { title: "a", author: { create: { name: "Ada" } }, tags: { create: [{ label: "x" }, { label: "y" }] } }) ${shape} }`,
      ),
    ).toEqual({ createPost: { author: { name: 'Ada' }, tags: [{ label: 'x' }, { label: 'y' }] } });
    expect(
      await ask(
        server,
        `mutation { createPost(input: { title: "b", authorId: 1, tagIds: [2] }) ${shape} }`,
      ),
    ).toEqual({ createPost: { author: { name: 'Ada' }, tags: [{ label: 'y' }] } });
    expect(
      await ask(
        server,
        `mutation { updatePost(id: 2, input: { title: "b", author: { connect: { id: 1 } }, tags: { connect: [{ id: 1 }], disconnect: [{ id: 2 }] } }) ${shape} }`,
      ),
    ).toEqual({ updatePost: { author: { name: 'Ada' }, tags: [{ label: 'x' }] } });
    expect(
      await ask(
        server,
        `mutation { updatePost(id: 2, input: { title: "b", authorId: null, tagIds: [] }) ${shape} }`,
      ),
    ).toEqual({ updatePost: { author: null, tags: [] } });
  });

  it('an interface or union of entities is a pair of columns in a field, and one statement in a list', async () => {
    const server = await start(
      'union Target = Photo | Note type Photo { id: ID! url: String! } type Note { id: ID! text: String! } type Pin { id: ID! target: Target } type Query { pins: [Pin!]! targets: [Target!]! }',
    );
    await server.store.db.insertInto('photos').values({ url: 'u' }).execute();
    await server.store.db.insertInto('notes').values({ text: 't' }).execute();
    await server.store.db
      .insertInto('pins')
      .values([
        { target_type: 'Photo', target_id: 1 },
        { target_type: 'Note', target_id: 1 },
      ])
      .execute();
    server.statements();
    expect(
      await ask(
        server,
        '{ pins { target { __typename ... on Photo { url } ... on Note { text } } } }',
      ),
    ).toEqual({
      pins: [
        { target: { __typename: 'Photo', url: 'u' } },
        { target: { __typename: 'Note', text: 't' } },
      ],
    });
    expect((await ask(server, '{ targets { __typename } }')).targets).toHaveLength(2);
    expect(server.statements()).toHaveLength(2);
  });

  it('node finds any entity by its global id', async () => {
    const server = await start(
      'interface Node { id: ID! } type User implements Node { id: ID! name: String! } type Post implements Node { id: ID! title: String! } type Query { node(id: ID!): Node users: [User!]! posts: [Post!]! }',
    );
    await server.store.db.insertInto('users').values({ name: 'Ada' }).execute();
    await server.store.db.insertInto('posts').values({ title: 'one' }).execute();
    expect(
      await ask(
        server,
        '{ users { id } a: node(id: "User:1") { id ... on User { name } } b: node(id: "Post:1") { __typename } none: node(id: "Post:9") { id } }',
      ),
    ).toEqual({
      users: [{ id: 'User:1' }],
      a: { id: 'User:1', name: 'Ada' },
      b: { __typename: 'Post' },
      none: null,
    });
  });

  it('a known scalar is stored as what it is, and served as the schema declares it', async () => {
    const server = await start(
      '"""Mine."""\nscalar BigInt scalar Decimal scalar Date scalar JSON type Row { id: ID! big: BigInt price: Decimal day: Date any: JSON } type Query { rows: [Row!]! row(id: ID!): Row } type Mutation { createRow(big: BigInt, price: Decimal, day: Date, any: JSON): Row! }',
    );
    const given = {
      big: '9007199254740993',
      price: '0.10',
      day: '2026-02-28',
      any: { a: [1, null] },
    };
    expect(
      await ask(
        server,
        'mutation ($big: BigInt, $price: Decimal, $day: Date, $any: JSON) { createRow(big: $big, price: $price, day: $day, any: $any) { big price day any } }',
        given,
      ),
    ).toEqual({ createRow: given });
    expect(await ask(server, '{ rows { big price day any } }')).toEqual({ rows: [given] });
    expect(await ask(server, '{ __type(name: "BigInt") { description } }')).toEqual({
      __type: { description: 'Mine.' },
    });
    expect(projectOf('scalar Date type A { id: ID! } type Query { as: [A!]! }').sdl).not.toContain(
      '"""',
    );
  });
});
