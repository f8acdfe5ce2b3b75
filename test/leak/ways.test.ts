import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inferred } from '../../runtime/core/inferred.ts';
import { databases, startServer, user, type TestServer } from '../graphql/harness.ts';

const MANIFEST =
  'name: leak\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n';
const SDL = `
  enum Direction { ASC DESC }
  type User @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "id") { id: ID! email: String name: String! phone: String @auth(allow: [OWNER], owner: "id") posts: [Post!]! @relation(inverse: "author") }
  type Post @auth(allow: [PUBLIC], on: [READ, CREATE]) @auth(allow: [OWNER], owner: "author", on: [UPDATE, DELETE]) { id: ID! title: String! author: User! editor: User notes: [Note!]! }
  type Note @auth(allow: [OWNER], owner: "author") { id: ID! slug: String! @unique mark: Int author: User post: Post }
  input PostFilter { authorId: IdOps author: UserFilter notes: NoteMany and: [PostFilter!] not: PostFilter } input NoteMany { some: NoteFilter every: NoteFilter none: NoteFilter }
  input NoteFilter { slug: TextOps mark: IntOps } input UserFilter { name: TextOps phone: TextOps } input TextOps { eq: String startsWith: String } input IdOps { eq: ID in: [ID!] isNull: Boolean } input IntOps { gt: Int }
  input PostOrder { title: Direction author: Direction editor: Direction } input UserOrder { phone: Direction name: Direction }
  type PostConnection { edges: [PostEdge!]! nodes: [Post!]! totalCount: Int! pageInfo: PageInfo! } type PostEdge { node: Post! cursor: String! } type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Query { user(id: ID!): User users(where: UserFilter, orderBy: UserOrder): [User!]! posts(where: PostFilter, orderBy: PostOrder, authorId: ID, editorId: ID): [Post!]! pages(first: Int, after: String, orderBy: PostOrder): PostConnection! @resolve(as: LIST) note(id: ID!): Note notes: [Note!]! noteBySlug(slug: String!): Note userByPhone(phone: String!): User @resolve(as: GET) }
  type Mutation { createNote(slug: String!, postId: ID): Note updateNote(id: ID!, slug: String): Note deleteNote(id: ID!): Boolean! updatePost(id: ID!, title: String): Post }
`;

describe.each(databases)('what a caller may not see cannot be told on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
    const { db } = server.store;
    for (const name of ['Ada', 'Bob', 'Cyd'])
      await db
        .insertInto('users')
        .values({ name, phone: `+${name}`, email: `${name}@x.test` })
        .execute();
    await db
      .insertInto('posts')
      .values([
        { title: 'a', author_id: 3, editor_id: 2 },
        { title: 'b', author_id: 1, editor_id: 1 },
        { title: 'c', author_id: 2, editor_id: null },
      ])
      .execute();
    await db
      .insertInto('notes')
      .values([
        { slug: 'mine', author_id: 1, post_id: 1, mark: 1 },
        { slug: 'hidden', author_id: 2, post_id: 2, mark: 9 },
      ])
      .execute();
  });
  afterEach(() => server?.close());

  const ask = async (query: string, as: ReturnType<typeof user> | undefined = user(1)) => {
    const { data, errors } = await server.query(query, {}, as);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : Object.values(data)[0];
  };

  it('by the key of a row: filters and arguments take it for nothing, and there is no order by it', async () => {
    expect(await ask('{ posts(where: { authorId: { eq: 1 } }) { title } }')).toEqual([
      { title: 'b' },
    ]);
    expect(await ask('{ posts(where: { authorId: { eq: 3 } }) { title } }')).toEqual([]);
    expect(await ask('{ posts(where: { authorId: { in: [2, 3] } }) { title } }')).toEqual([]);
    expect(
      await ask('{ posts(where: { not: { authorId: { isNull: false } } }) { title } }'),
    ).toEqual([{ title: 'a' }, { title: 'c' }]);
    expect(await ask('{ posts(authorId: 2) { title } }')).toEqual([]);
    // As in the answer itself, where both of them are nothing.
    expect(await ask('{ posts(editorId: null) { title editor { name } } }')).toEqual([
      { title: 'a', editor: null },
      { title: 'c', editor: null },
    ]);
    for (const field of ['author', 'editor'])
      expect(await ask(`{ posts(orderBy: { ${field}: ASC }) { title } }`)).toEqual([
        'FORBIDDEN: Forbidden',
      ]);
    expect(
      await ask('{ pages(first: 1, orderBy: { author: DESC }) { edges { cursor } } }'),
    ).toEqual(['FORBIDDEN: Forbidden']);
    expect(
      await ask(
        '{ posts(where: { authorId: { eq: 3 } }, orderBy: { author: ASC }) { title } }',
        user(9, 'admin'),
      ),
    ).toEqual([{ title: 'a' }]);
  });

  it('by a user: one is the owner of the own row, on every path', async () => {
    expect(await ask('{ users { name phone } }')).toEqual([{ name: 'Ada', phone: '+Ada' }]);
    expect(await ask('{ user(id: 2) { name } }')).toBeNull();
    expect(await ask('{ user(id: 1) { name posts { title } } }')).toEqual({
      name: 'Ada',
      posts: [{ title: 'b' }],
    });
    expect(await ask('{ users(where: { name: { startsWith: "B" } }) { name } }')).toEqual([]);
    expect(await ask('{ posts(where: { author: { name: { eq: "Bob" } } }) { title } }')).toEqual(
      [],
    );
    // In rows where the caller may not read it, a field has no value: nothing is found or sorted by it.
    const admin = user(9, 'admin');
    const byId = await ask('{ users { name } }', admin);
    expect([
      await ask('{ users(where: { phone: { eq: "+Bob" } }) { name } }', admin),
      await ask('{ users(where: { phone: { startsWith: "+" } }) { name } }', admin),
      await ask('{ users(orderBy: { phone: ASC }) { name } }', admin),
      await ask('{ users(orderBy: { phone: DESC }) { name } }', admin),
    ]).toEqual([[], [], byId, byId]);
    // A lookup finds no row by what the caller may not read of it.
    expect([
      await ask('{ userByPhone(phone: "+Bob") { name } }', user(9, 'admin')),
      await ask('{ userByPhone(phone: "+Bob") { name } }', user(2)),
    ]).toEqual([null, { name: 'Bob' }]);
    expect(await ask('{ users { name } }', user(2))).toEqual([{ name: 'Bob' }]);
    expect(await ask('{ users { name } }', user(9, 'admin'))).toHaveLength(3);
  });

  it('by cursors: they hold what the page is ordered by, and foreign ones find no more', async () => {
    const cursors = async (query: string) =>
      ((await ask(query)) as any).edges.map(({ cursor }: { cursor: string }) =>
        JSON.parse(Buffer.from(cursor, 'hex').toString()),
      );
    expect(
      await cursors('{ pages(first: 2, orderBy: { title: ASC }) { edges { cursor } } }'),
    ).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    const after = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('hex');
    for (const values of [[3, 1], ['x'], [{}, 1], [1, 2, 3]]) {
      const answer = JSON.stringify(
        await ask(
          `{ pages(first: 1, orderBy: { author: ASC }, after: "${after(values)}") { edges { cursor } } }`,
        ),
      );
      expect(answer).toMatch(/FORBIDDEN|BAD_USER_INPUT/);
    }
    expect(
      await ask(
        `{ pages(first: 9, orderBy: { title: ASC }, after: "${after(['a', 0])}") { totalCount nodes { title notes { slug } } } }`,
      ),
    ).toEqual({
      totalCount: 3,
      nodes: [
        { title: 'a', notes: [{ slug: 'mine' }] },
        { title: 'b', notes: [] },
        { title: 'c', notes: [] },
      ],
    });
  });

  it('by filters over hidden rows, and by their number', async () => {
    expect(
      await ask('{ posts(where: { notes: { some: { mark: { gt: 5 } } } }) { title } }'),
    ).toEqual([]);
    expect(await ask('{ posts(where: { notes: { none: {} } }) { title } }')).toEqual([
      { title: 'b' },
      { title: 'c' },
    ]);
    expect(
      await ask('{ posts(where: { notes: { every: { mark: { gt: 5 } } } }) { title } }'),
    ).toEqual([{ title: 'b' }, { title: 'c' }]);
    expect([
      await ask('{ note(id: 2) { slug } }'),
      await ask('{ noteBySlug(slug: "hidden") { id } }'),
      await ask('{ notes { slug } }'),
    ]).toEqual([null, null, [{ slug: 'mine' }]]);
  });

  it('by writing to it: it is as if it were not there', async () => {
    for (const id of [2, 77]) {
      expect([
        await ask(`mutation { updateNote(id: ${id}, slug: "x") { id } }`),
        await ask(`mutation { deleteNote(id: ${id}) }`),
      ]).toEqual([null, false]);
    }
    expect(
      await server.store.db.selectFrom('notes').select('slug').orderBy('id').execute(),
    ).toEqual([{ slug: 'mine' }, { slug: 'hidden' }]);
  });

  it('by a unique value that is taken: which row has it is not told, only that it cannot be had', async () => {
    const taken = (slug: string) => ask(`mutation { createNote(slug: "${slug}") { id } }`);
    expect(await taken('hidden')).toEqual(['CONFLICT: slug already exists']);
    expect(await taken('mine')).toEqual(await taken('hidden'));
    const { errors } = await server.query(
      'mutation { updateNote(id: 1, slug: "hidden") { id } }',
      {},
      user(1),
    );
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'CONFLICT', fields: ['slug'] },
    ]);
  });
});

const NAMED = `
  type User @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "id") { id: ID! email: String name: String! posts(first: Int): PostConnection! @relation(inverse: "author") drafts: [Post!]! @relation(inverse: "editor") }
  type Post @auth(allow: [PUBLIC]) { id: ID! title: String! author: User editor: User }
  type PostConnection { nodes: [Post!]! totalCount: Int! }
  type Query { named(id: ID!): User @computed people: [User!]! @resolve(as: LIST) @auth(allow: [PUBLIC]) }
`;

describe.each(databases)('what refers to a row on %s', (database) => {
  let server: TestServer;
  const start = async (sdl: string, manifest: string) => {
    const drafts = (parent: any, args: any, context: any, info: any) =>
      inferred(parent, args, context, info);
    server = await startServer(sdl, {
      database,
      manifest,
      resolvers: {
        Query: { named: (_: unknown, { id }: any) => ({ id: Number(id) }) },
        User: { drafts },
      },
    });
    const { db } = server.store;
    for (const name of ['Ada', 'Bob']) await db.insertInto('users').values({ name }).execute();
    await db
      .insertInto('posts')
      .values([
        { title: 'a', author_id: 1, editor_id: 1 },
        { title: 'b', author_id: 2, editor_id: 2 },
      ])
      .execute();
  };
  beforeEach(() => start(NAMED, MANIFEST));
  afterEach(() => server?.close());

  const below = (title?: string) => ({
    posts: { nodes: title ? [{ title }] : [], totalCount: title ? 1 : 0 },
    drafts: title ? [{ title }] : [],
  });
  const QUERY =
    '{ one: named(id: 1) { ...Below } two: named(id: 2) { ...Below } } fragment Below on User { posts { nodes { title } totalCount } drafts { title } }';

  it('does not tell its key where a function named the row and the caller may not see it', async () => {
    expect((await server.query(QUERY, {}, user(1))).data).toEqual({
      one: below('a'),
      two: below(),
    });
    expect((await server.query(QUERY, {}, user(2))).data).toEqual({
      one: below(),
      two: below('b'),
    });
    expect((await server.query(QUERY, {}, user(9, 'admin'))).data).toEqual({
      one: below('a'),
      two: below('b'),
    });
    const { data, errors } = await server.query(QUERY);
    expect({ data, codes: new Set(errors?.map(({ extensions }) => extensions.code)) }).toEqual({
      data: { one: null, two: null },
      codes: new Set(['UNAUTHENTICATED']),
    });
  });

  it('is listed below rows that were read by the rules of their root field, function or not', async () => {
    await server.close();
    await start(
      NAMED.replace(/type User @auth\(.*?\) \{/, 'type User {'),
      MANIFEST.replace('access: public', 'access: user'),
    );
    const { data, errors } = await server.query(
      '{ people { posts { nodes { title } totalCount } drafts { title } } }',
    );
    expect({ errors, data }).toEqual({
      errors: undefined,
      data: { people: [below('a'), below('b')] },
    });
  });
});
