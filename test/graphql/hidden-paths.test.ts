import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectOf, databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  scalar JSON
  type User @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], on: [UPDATE]) {
    id: ID! email: String! name: String!
    posts: [Post!]! @auth(allow: [ROLE], roles: ["admin"])
    postsConnection: PostConnection!
    latest: [Post!]! @list(relation: "posts", orderBy: ["id DESC"])
    postsAggregate: PostAggregate!
    open: [Post!]! @list(relation: "posts", where: { title: "a" }) @auth(allow: [PUBLIC])
    notes: [Note!]!
  }
  type Post @auth(allow: [PUBLIC]) { id: ID! title: String! meta: JSON author: User! }
  type Note @auth(allow: [PUBLIC]) {
    id: ID! text: String!
    owner: User @auth(allow: [ROLE], roles: ["admin"], on: [CREATE, UPDATE])
  }
  type PostConnection { nodes: [Post!]! totalCount: Int! }
  type PostAggregate { count: Int! }
  input TextFilter { eq: String contains: String mode: CaseMode }
  enum CaseMode { SENSITIVE INSENSITIVE }
  input JsonFilter { eq: JSON }
  input UserFilter { name: TextFilter }
  input PostFilter { meta: JsonFilter title: TextFilter author: UserFilter }
  input Ref { id: ID! }
  input NewNote { text: String! }
  input NoteLinks { connect: [Ref!] disconnect: [Ref!] create: [NewNote!] set: [Ref!] }
  input UpdateUserInput { name: String notes: NoteLinks }
  type Query { users: [User!]! posts(where: PostFilter): [Post!]! notes: [Note!]! }
  type Mutation { updateUser(id: ID!, input: UpdateUserInput!): User }
`;
const MANIFEST = 'name: paths\napi: { access: public }\nauth: { roles: { list: [user, admin] } }\n';

describe.each(databases)('paths beside a rule on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
    const { db } = server.store;
    for (const name of ['Ann', 'Bob'])
      await db
        .insertInto('users')
        .values({ name, email: `${name}@x.test` })
        .execute();
    for (const [title, author_id] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ] as const)
      await db.insertInto('posts').values({ title, author_id, meta: '{"a":"x"}' }).execute();
    for (const owner_id of [1, 2])
      await db
        .insertInto('notes')
        .values({ text: `of ${owner_id}`, owner_id })
        .execute();
  });
  afterAll(() => server?.close());

  const codes = async (query: string, as?: ReturnType<typeof user>) =>
    (await server.query(query, {}, as)).errors?.map(({ extensions }) => extensions.code);

  it.each(['postsConnection { totalCount }', 'latest { id }', 'postsAggregate { count }'])(
    'the rule of a relation holds for %s',
    async (field) => {
      expect(await codes(`{ users { ${field} } }`, user(1))).toContain('FORBIDDEN');
      expect(await codes(`{ users { ${field} } }`, user(1, 'admin'))).toBeUndefined();
    },
  );

  it('a rule of its own replaces that of the relation', async () => {
    const { data } = await server.query('{ users { open { title } } }');
    expect(data.users).toEqual([{ open: [{ title: 'a' }] }, { open: [] }]);
  });

  it.each([
    'connect: [{ id: 2 }]',
    'set: [{ id: 2 }]',
    'disconnect: [{ id: 1 }]',
    'create: [{ text: "new" }]',
  ])('a nested %s keeps the rule of the field that it writes', async (words) => {
    const link = `mutation { updateUser(id: 1, input: { notes: { ${words} } }) { id } }`;
    expect(await codes(link, user(1))).toEqual(['FORBIDDEN']);
    const { data } = await server.query('{ users { notes { text } } }');
    expect(data.users).toEqual([{ notes: [{ text: 'of 1' }] }, { notes: [{ text: 'of 2' }] }]);
  });

  it('keys of JSON in a filter do not stand for conditions of another filter', async () => {
    const find = 'query ($where: PostFilter) { posts(where: $where) { title } }';
    const forged = { meta: { eq: { 'a:v}},author:{name:{eq': 'x' } } };
    expect((await server.query(find, { where: forged })).data.posts).toEqual([]);
    const where = { meta: { eq: { a: 'x' } }, author: { name: { eq: 'Bob' } } };
    expect((await server.query(find, { where })).data.posts).toEqual([{ title: 'c' }]);
  });

  it.each(['SENSITIVE', 'INSENSITIVE'])(
    'a long text of equal letters holds nothing up: %s',
    async (mode) => {
      const { db } = server.store;
      const title = 'a'.repeat(900_000);
      const { id } = await db
        .insertInto('posts')
        .values({ title, author_id: 2 })
        .returning('id')
        .executeTakeFirstOrThrow();
      const find =
        'query ($contains: String, $mode: CaseMode) { posts(where: { title: { contains: $contains, mode: $mode } }) { id } }';
      const since = performance.now();
      const long = 'a'.repeat(4_999);
      expect((await server.query(find, { contains: `${long}b`, mode })).data.posts).toEqual([]);
      expect((await server.query(find, { contains: long, mode })).data.posts).toEqual([
        { id: String(id) },
      ]);
      expect(performance.now() - since).toBeLessThan(2000);
      await db.deleteFrom('posts').where('id', '=', id).execute();
    },
  );

  it('the character NUL in JSON is the mistake of the caller, or finds nothing', async () => {
    const found = await codes('{ posts(where: { meta: { eq: "\\u0000" } }) { id } }');
    expect(found).toEqual(database === 'sqlite' ? undefined : ['BAD_USER_INPUT']);
  });
});

it('a connection that api.crud writes has the rule of its list', () => {
  const { entities } = projectOf(
    'type User @auth(allow: [PUBLIC]) { id: ID! email: String! orders: [Order!]! @auth(allow: [OWNER]) } type Order @auth(allow: [PUBLIC]) { id: ID! total: Int! user: User! } type Query { version: String }',
    'name: paths\napi: { crud: true }\nauth: {}\n',
  );
  const fields = entities.find(({ name }) => name === 'User')!.fields;
  const rules = (of: string) => fields.find(({ name }) => name === of)?.rules;
  expect(rules('orders')).toHaveLength(1);
  expect(rules('ordersConnection')).toEqual(rules('orders'));
});
