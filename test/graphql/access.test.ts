import { afterEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, startServer, user, type TestServer } from './harness.ts';
import { randomQuery } from './random-query.ts';
import { createRandom } from './random-schema.ts';

const AUTH =
  'name: test\napi: { access: user }\nauth: { roles: { list: [admin, member], default: member } }\n';
const PUBLIC =
  'name: test\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n';

const SDL = `
  enum Direction { ASC DESC }
  input StringOps { eq: String ne: String contains: String in: [String!] isNull: Boolean }
  type Member { id: ID! name: String! notes(limit: Int, offset: Int, where: NoteFilter, orderBy: NoteOrder): [Note!]! remarks: [Remark!]! }
  type Note @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: Member remarks(first: Int, after: String, last: Int, before: String, where: RemarkFilter): RemarkConnection! tags: [Tag!]! }
  type Remark { id: ID! text: String! note: Note member: Member }
  type Tag { id: ID! label: String! notes(where: NoteFilter, limit: Int): [Note!]! }
  type RemarkConnection { edges: [RemarkEdge!]! nodes: [Remark!]! pageInfo: PageInfo! totalCount: Int! }
  type RemarkEdge { node: Remark! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  input MemberFilter { name: StringOps notes: NoteMany and: [MemberFilter!] or: [MemberFilter!] not: MemberFilter }
  input NoteFilter { title: StringOps author: MemberFilter remarks: RemarkMany tags: TagMany and: [NoteFilter!] or: [NoteFilter!] not: NoteFilter }
  input RemarkFilter { text: StringOps note: NoteFilter member: MemberFilter and: [RemarkFilter!] or: [RemarkFilter!] not: RemarkFilter }
  input TagFilter { label: StringOps notes: NoteMany not: TagFilter }
  input NoteMany { some: NoteFilter every: NoteFilter none: NoteFilter }
  input RemarkMany { some: RemarkFilter every: RemarkFilter none: RemarkFilter }
  input TagMany { some: TagFilter every: TagFilter none: TagFilter }
  input NoteOrder { title: Direction id: Direction }
  type Query {
    member(id: ID!): Member members(where: MemberFilter, limit: Int, offset: Int): [Member!]!
    note(id: ID!): Note notes(where: NoteFilter, orderBy: NoteOrder, limit: Int, offset: Int): [Note!]!
    remarks(first: Int, after: String, last: Int, before: String, where: RemarkFilter): RemarkConnection!
    tags(where: TagFilter): [Tag!]! tag(id: ID!): Tag
  }
`;

const OPEN = (project: any) => ({
  ...project,
  api: {
    ...project.api,
    limits: {
      ...project.api.limits,
      depth: 99,
      cost: 1e9,
      aliases: 1e4,
      tokens: 1e6,
      directives: 1e4,
    },
  },
});

describe.each(databases)('rules about rows on %s', (database) => {
  it(
    'let a caller tell nothing from rows it may not see: every answer is what it would be without them',
    { timeout: 300_000 },
    async () => {
      const whole = await startServer(SDL, { database, manifest: PUBLIC, change: OPEN });
      const without = await startServer(SDL, { database, manifest: PUBLIC, change: OPEN });
      try {
        for (const server of [whole, without]) await fill(server);
        await without.store.db
          .updateTable('remarks')
          .set({ note_id: null })
          .where('note_id', 'in', (query: any) =>
            query.selectFrom('notes').select('id').where('author_id', '<>', 1),
          )
          .execute();
        await without.store.db
          .deleteFrom('notes')
          .where((where: any) =>
            where.or([where('author_id', '<>', 1), where('author_id', 'is', null)]),
          )
          .execute();
        const random = createRandom(7);
        for (let index = 0; index < 250; index++) {
          const { text, variables } = randomQuery(random, whole.project, false);
          const [seen, expected] = [
            await whole.query(text, variables, user(1)),
            await without.query(text, variables, user(1)),
          ];
          expect({ text, variables, seen }).toEqual({ text, variables, seen: expected });
          expect(JSON.stringify(seen)).not.toContain('secret');
        }
      } finally {
        await whole.close();
        await without.close();
      }
    },
  );
});

async function fill({ store }: TestServer): Promise<void> {
  const random = createRandom(3);
  for (let id = 1; id <= 3; id++)
    await store.db
      .insertInto('members')
      .values({ name: `m${id}` })
      .execute();
  for (let id = 1; id <= 12; id++) {
    const author = id % 5 === 0 ? null : 1 + (id % 3);
    await store.db
      .insertInto('notes')
      .values({ title: author === 1 ? `mine ${id}` : `secret ${id}`, author_id: author })
      .execute();
  }
  for (let id = 1; id <= 30; id++)
    await store.db
      .insertInto('remarks')
      .values({
        text: random.pick(['dog', 'cat', 'eel']),
        note_id: random.chance(0.2) ? null : 1 + random.below(12),
        member_id: 1 + random.below(3),
      })
      .execute();
  for (let id = 1; id <= 4; id++)
    await store.db
      .insertInto('tags')
      .values({ label: random.pick(['ant', 'owl']) })
      .execute();
  for (let note = 1; note <= 12; note++)
    await store.db
      .insertInto('note_tags')
      .values({ note_id: note, tag_id: 1 + (note % 4) })
      .execute();
}

const RULES = `
  type User { id: ID! email: String name: String! self: User salary: Int @auth(allow: [ROLE], roles: ["admin"]) phone: String @auth(allow: [OWNER], owner: "self") docs: [Doc!]! }
  type Doc @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "owner", on: [CREATE, UPDATE, DELETE]) { id: ID! text: String! owner: User! kind: String }
  type Secret @auth(allow: [ROLE], roles: ["admin"]) { id: ID! text: String! user: User! }
  input UserFilter { name: StringOps salary: IntOps phone: StringOps }
  input StringOps { eq: String } input IntOps { gt: Int }
  input UserOrder { salary: Direction name: Direction } enum Direction { ASC DESC }
  input DocInput { text: String! kind: String ownerId: ID }
  input DocPatch { text: String ownerId: ID }
  type Query { user(id: ID!): User users(where: UserFilter, orderBy: UserOrder): [User!]! @resolve(as: LIST) docs: [Doc!]! doc(id: ID!): Doc secrets: [Secret!]! someone: User! hello: String! welcome: String! @auth(allow: [PUBLIC]) }
  type Mutation { createDoc(input: DocInput!): Doc! updateDoc(id: ID!, input: DocPatch!): Doc deleteDoc(id: ID!): Boolean! createSecret(text: String!, userId: ID!): Secret! }
`;

describe.each(databases)('@auth on %s', (database) => {
  let server: TestServer;
  afterEach(() => server?.close());

  async function start(): Promise<void> {
    server = await startServer(RULES, {
      database,
      manifest: AUTH,
      resolvers: {
        Query: {
          someone: () => ({ id: 1, name: 'made up', salary: 99, phone: '+99', self_id: 1 }),
          hello: () => 'hello',
          welcome: () => 'welcome',
        },
      },
    });
    for (const [name, salary] of [
      ['Ada', 10],
      ['Bob', 20],
    ])
      await server.store.db
        .insertInto('users')
        .values({ name, salary, phone: `+${salary}`, self_id: salary === 10 ? 1 : 2 })
        .execute();
    await server.store.db
      .insertInto('docs')
      .values([
        { text: 'of Ada', owner_id: 1 },
        { text: 'of Bob', owner_id: 2 },
      ])
      .execute();
    await server.store.db.insertInto('secrets').values({ text: 'hidden', user_id: 1 }).execute();
  }
  const codes = (answer: { errors?: any[] }) =>
    answer.errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]);
  const run = (query: string, as?: Principal) => server.query(query, {}, as);

  it('asks everybody to sign in who is not told PUBLIC', async () => {
    await start();
    expect(codes(await run('{ users { name } }'))).toEqual([['users', 'UNAUTHENTICATED']]);
    expect(codes(await run('{ hello }'))).toEqual([['hello', 'UNAUTHENTICATED']]);
    expect((await run('{ welcome }')).data).toEqual({ welcome: 'welcome' });
    expect((await run('{ docs { text } }')).data.docs).toHaveLength(2);
    expect(codes(await run('{ docs { text owner { name } } }'))).toEqual([
      ['docs.0.owner', 'UNAUTHENTICATED'],
    ]);
    expect((await run('{ users { name } hello }', user(1))).data.users).toHaveLength(2);
  });

  it('keeps a field from those who may not read it, wherever it is', async () => {
    await start();
    expect(await run('{ users { name salary } }', user(1))).toMatchObject({
      data: {
        users: [
          { name: 'Ada', salary: null },
          { name: 'Bob', salary: null },
        ],
      },
      errors: [{ path: ['users', 0, 'salary'], extensions: { code: 'FORBIDDEN' } }, {}],
    });
    expect((await run('{ users { salary } }', user(9, 'admin'))).data.users).toEqual([
      { salary: 10 },
      { salary: 20 },
    ]);
    expect(await run('{ users { phone } }', user(2))).toMatchObject({
      data: { users: [{ phone: null }, { phone: '+20' }] },
      errors: [{ path: ['users', 0, 'phone'] }],
    });
    for (const query of [
      '{ users(where: { salary: { gt: 15 } }) { name } }',
      '{ users(orderBy: { salary: ASC }) { name } }',
    ]) {
      expect(codes(await run(query, user(1)))).toEqual([['users', 'FORBIDDEN']]);
    }
    const named = async (as: Principal) =>
      (await run('{ users(where: { phone: { eq: "+20" } }) { name } }', as)).data.users;
    expect(await named(user(1))).toEqual([]);
    expect(await named(user(2))).toEqual([{ name: 'Bob' }]);
    expect(
      (await run('{ users(where: { salary: { gt: 15 } }) { name } }', user(1, 'admin'))).data.users,
    ).toEqual([{ name: 'Bob' }]);
    expect(codes(await run('{ secrets { text } }', user(1)))).toEqual([['secrets', 'FORBIDDEN']]);
  });

  it('holds for objects that user code made as well', async () => {
    await start();
    expect(await run('{ someone { name salary phone } }', user(2))).toMatchObject({
      data: { someone: { name: 'made up', salary: null, phone: null } },
      errors: [
        { path: ['someone', 'salary'], extensions: { code: 'FORBIDDEN' } },
        { path: ['someone', 'phone'] },
      ],
    });
    expect((await run('{ someone { salary phone } }', user(1, 'admin'))).data).toEqual({
      someone: { salary: 99, phone: '+99' },
    });
  });

  it('lets an owner write and nobody else', async () => {
    await start();
    expect(
      (await run('mutation { createDoc(input: { text: "new" }) { id owner { name } } }', user(1)))
        .data.createDoc.owner,
    ).toEqual({ name: 'Ada' });
    expect(
      codes(
        await run('mutation { createDoc(input: { text: "new", ownerId: 2 }) { id } }', user(1)),
      ),
    ).toEqual([['createDoc', 'FORBIDDEN']]);
    expect(
      (
        await run(
          'mutation { createDoc(input: { text: "new", ownerId: 2 }) { id } }',
          user(1, 'admin'),
        )
      ).errors,
    ).toBeUndefined();
    expect(
      codes(await run('mutation { updateDoc(id: 2, input: { text: "x" }) { id } }', user(1))),
    ).toEqual([['updateDoc', 'FORBIDDEN']]);
    expect(
      codes(await run('mutation { updateDoc(id: 1, input: { ownerId: 2 }) { id } }', user(1))),
    ).toEqual([['updateDoc', 'FORBIDDEN']]);
    expect(codes(await run('mutation { deleteDoc(id: 2) }', user(1)))).toEqual([
      ['deleteDoc', 'FORBIDDEN'],
    ]);
    expect((await run('mutation { deleteDoc(id: 1) }', user(1))).data).toEqual({ deleteDoc: true });
    expect(codes(await run('mutation { createDoc(input: { text: "x" }) { id } }'))).toEqual([
      ['createDoc', 'UNAUTHENTICATED'],
    ]);
    expect(
      codes(await run('mutation { createSecret(text: "x", userId: 1) { id } }', user(1))),
    ).toEqual([['createSecret', 'FORBIDDEN']]);
    expect(
      await server.store.db.selectFrom('docs').select(['text', 'owner_id']).orderBy('id').execute(),
    ).toEqual([
      { text: 'of Bob', owner_id: 2 },
      { text: 'new', owner_id: 1 },
      { text: 'new', owner_id: 2 },
    ]);
  });

  it('gives a service key what its scopes name', async () => {
    await start();
    const key = (...scopes: string[]): Principal => ({
      kind: 'api_key',
      id: 'k',
      scopes,
      userId: null,
    });
    expect((await run('{ users { name } }', key('users:read'))).data.users).toHaveLength(2);
    expect(codes(await run('{ users { name } }', key('docs:read')))).toEqual([
      ['users', 'FORBIDDEN'],
    ]);
    expect(codes(await run('{ docs { owner { name } } }', key('docs:read')))).toEqual([
      ['docs.0.owner', 'FORBIDDEN'],
    ]);
    expect(
      codes(
        await run('mutation { deleteDoc(id: 2) }', {
          kind: 'api_key',
          id: 'k',
          scopes: ['docs:read'],
          userId: 2,
        }),
      ),
    ).toEqual([['deleteDoc', 'FORBIDDEN']]);
    expect(
      (
        await run('mutation { deleteDoc(id: 2) }', {
          kind: 'api_key',
          id: 'k',
          scopes: ['docs:write'],
          userId: 2,
        })
      ).data.deleteDoc,
    ).toBe(true);
  });
});
