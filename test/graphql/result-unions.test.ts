import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../runtime/core/errors.ts';
import { inferred } from '../../runtime/core/inferred.ts';
import { databases, startServer, type TestServer, user } from './harness.ts';

const SDL = `
  type User { id: ID! email: String! @unique }
  type Member @auth(allow: [PUBLIC], on: [READ, CREATE, UPDATE]) @auth(allow: [USER], on: [DELETE]) {
    id: ID! email: String! @unique name: String @constraint(minLength: 2, maxLength: 20)
  }
  type Post implements PostResult @auth(allow: [PUBLIC]) { id: ID! title: String! @constraint(minLength: 3) slug: String! @unique message: String }
  type Tag @auth(allow: [PUBLIC]) { id: ID! name: String! @unique }

  type EmailTaken @error(code: "CONFLICT", field: "email") { message: String! code: String! field: String! fields: [String!]! hint: String }
  type InvalidInput @error(code: "BAD_USER_INPUT") { message: String! field: String fields: [Flaw!]! }
  type Flaw { field: String! message: String! }
  union CreateMemberResult = Member | EmailTaken | InvalidInput

  interface PostResult { message: String }
  type SlugTaken implements PostResult @error(code: "CONFLICT") { message: String! field: String }
  type Missing implements PostResult @error(code: "NOT_FOUND") { message: String! code: ErrorCode! }
  enum ErrorCode { NOT_FOUND CONFLICT }

  type DeleteMemberPayload { id: ID! success: Boolean! member: Member query: Query! clientMutationId: String }
  type Denied @error(code: "UNAUTHENTICATED") @error(code: "FORBIDDEN") { message: String! code: String! }
  union DeleteMemberResult = DeleteMemberPayload | Denied | Missing

  type TagSaved { tag: Tag query: Query! }
  type TagFailed @error(code: "CONFLICT", field: "name") @error(code: "BAD_USER_INPUT") { message: String! fields: [String!]! }
  union TagResult = TagSaved | TagFailed
  type TagsPayload { tags: [Tag!]! count: Int! }
  union TagsResult = TagsPayload | TagFailed

  input NewMember { email: String! name: String }
  input NewTag { name: String! }
  type Query { members: [Member!]! posts: [Post!]! tags: [Tag!]! member(id: ID!): Member }
  type Mutation {
    createMember(input: NewMember!): CreateMemberResult!
    updateMember(id: ID!, name: String, email: String): CreateMemberResult
    deleteMember(id: ID!, clientMutationId: String): DeleteMemberResult!
    createPost(title: String!, slug: String!): PostResult!
    updatePost(id: ID!, slug: String): PostResult
    deletePost(id: ID!): PostResult
    upsertTag(where: NewTag!, create: NewTag!, update: NewTag!): TagResult!
    createTags(input: [NewTag!]!): TagsResult!
    renameMember(id: ID!, name: String!): CreateMemberResult!
    fail(with: String!): CreateMemberResult
  }
`;

const ERROR = '... on EmailTaken { __typename message code field fields }';

const resolvers = {
  Mutation: {
    updateMember: async (parent: any, args: any, ctx: any, info: any) => {
      await ctx.db.updateTable('members').set({ name: 'early' }).where('id', '=', 1).execute();
      return inferred(parent, args, ctx, info);
    },
    renameMember: (_parent: any, { id, name }: any): any =>
      name === 'taken'
        ? { __typename: 'EmailTaken', message: 'no', code: 'MINE', field: 'name', fields: [] }
        : { __typename: 'Member', id, email: 'x', name },
    fail: async (_parent: any, args: any, ctx: any) => {
      await ctx.db.insertInto('tags').values({ name: args.with }).execute();
      if (args.with === 'email')
        throw new AppError(409, 'CONFLICT', 'E-mail is in use', { extensions: { field: 'email' } });
      if (args.with === 'code') throw new AppError(418, 'TEAPOT', 'short and stout');
      throw new Error('secret');
    },
  },
};

describe.each(databases)('a result union on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { manifest: 'name: test\nauth: {}\n', database, resolvers });
    for (const email of ['a@x.io', 'b@x.io'])
      await server.query(
        'mutation($e: String!) { createMember(input: { email: $e }) { __typename } }',
        {
          e: email,
        },
      );
  });
  afterAll(() => server.close());

  const create = (input: object) =>
    server.query(
      `mutation($input: NewMember!) { createMember(input: $input) { ... on Member { id email } ${ERROR} ... on InvalidInput { message at: field flaws: fields { field message } } } }`,
      { input },
    );

  it('answers with the entity in one statement', async () => {
    server.statements();
    expect(await create({ email: 'c@x.io' })).toEqual({
      data: { createMember: { id: '3', email: 'c@x.io' } },
    });
    expect(server.statements()).toHaveLength(1);
    const named = await server.query(
      'mutation { createMember(input: { email: "d@x.io" }) { t: __typename ... on Member { email } } }',
    );
    expect(named).toEqual({ data: { createMember: { t: 'Member', email: 'd@x.io' } } });
  });

  it('answers with the member that takes the error by code and field, filled as it declares', async () => {
    expect(await create({ email: 'a@x.io' })).toEqual({
      data: {
        createMember: {
          __typename: 'EmailTaken',
          message: 'email already exists',
          code: 'CONFLICT',
          field: 'email',
          fields: ['email'],
        },
      },
    });
    expect(await create({ email: 'e@x.io', name: 'x' })).toEqual({
      data: {
        createMember: {
          message: 'input.name must have at least 2 characters',
          at: 'input.name',
          flaws: [{ field: 'input.name', message: 'must have at least 2 characters' }],
        },
      },
    });
  });

  it('takes errors of update, delete, upsert and many, and by an interface', async () => {
    const as = user(1);
    const ask = async (query: string, who?: typeof as) => (await server.query(query, {}, who)).data;
    expect(
      await ask('mutation { deleteMember(id: 3) { ... on Denied { message code } } }'),
    ).toEqual({ deleteMember: { message: 'Unauthorized', code: 'UNAUTHENTICATED' } });
    expect(
      await ask(
        'mutation { deleteMember(id: 9) { ... on Missing { __typename message code } ... on DeleteMemberPayload { success } } }',
        as,
      ),
    ).toEqual({
      deleteMember: { __typename: 'Missing', message: 'Member not found', code: 'NOT_FOUND' },
    });
    expect(
      await ask(
        'mutation { deleteMember(id: 3, clientMutationId: "x") { ... on DeleteMemberPayload { __typename id success clientMutationId member { email } query { member(id: 3) { id } } } } }',
        as,
      ),
    ).toEqual({
      deleteMember: {
        __typename: 'DeleteMemberPayload',
        id: '3',
        success: true,
        clientMutationId: 'x',
        member: { email: 'c@x.io' },
        query: { member: null },
      },
    });
    const post = (slug: string) =>
      ask(
        `mutation { createPost(title: "One", slug: "${slug}") { __typename message ... on Post { slug } } }`,
      );
    expect(await post('one')).toEqual({
      createPost: { __typename: 'Post', message: null, slug: 'one' },
    });
    expect(await post('two')).toMatchObject({ createPost: { slug: 'two' } });
    expect(await post('one')).toEqual({
      createPost: { __typename: 'SlugTaken', message: 'slug already exists' },
    });
    expect(
      await ask(
        'mutation { a: updatePost(id: 9) { __typename } b: updatePost(id: 2, slug: "one") { __typename } c: deletePost(id: 9) { __typename message } d: deletePost(id: 2) { ... on Post { id } } }',
      ),
    ).toEqual({
      a: { __typename: 'Missing' },
      b: { __typename: 'SlugTaken' },
      c: { __typename: 'Missing', message: 'Post not found' },
      d: { id: '2' },
    });
    const upsert = (where: string, to: string) =>
      ask(
        `mutation { upsertTag(where: { name: "${where}" }, create: { name: "${where}" }, update: { name: "${to}" }) { __typename ... on TagSaved { tag { name } query { tags { name } } } ... on TagFailed { message fields } } }`,
      );
    for (const name of ['x', 'y']) await upsert(name, name);
    expect(await upsert('x', 'y')).toEqual({
      upsertTag: { __typename: 'TagFailed', message: 'name already exists', fields: ['name'] },
    });
    expect(
      await ask(
        'mutation { ok: createTags(input: [{ name: "z" }]) { ... on TagsPayload { count tags { name } } } no: createTags(input: [{ name: "new" }, { name: "y" }]) { __typename } tags: createTags(input: []) { ... on TagsPayload { query: __typename } } }',
      ),
    ).toEqual({
      ok: { count: 1, tags: [{ name: 'z' }] },
      no: { __typename: 'TagFailed' },
      tags: { query: 'TagsPayload' },
    });
    expect(await ask('{ tags { name } }')).toEqual({
      tags: [{ name: 'x' }, { name: 'y' }, { name: 'z' }],
    });
  });

  it('takes what a function throws, undoes all of it, and leaves the other errors', async () => {
    const as = user(1);
    const told = `{ __typename ${ERROR} ... on InvalidInput { text: message } ... on Member { name } }`;
    const ask = (field: string, also = '') =>
      server.query(`mutation { ${field} ${told.replace('fields }', `fields ${also}}`)} }`, {}, as);
    expect(await ask('renameMember(id: 1, name: "ada")')).toEqual({
      data: { renameMember: { __typename: 'Member', name: 'ada' } },
    });
    expect((await ask('renameMember(id: 1, name: "taken")')).data.renameMember).toMatchObject({
      __typename: 'EmailTaken',
      code: 'MINE',
    });
    expect((await ask('fail(with: "email")')).data).toMatchObject({
      fail: { message: 'E-mail is in use', field: 'email', fields: ['email'] },
    });
    expect((await ask('fail(with: "email")', 'hint ')).errors).toMatchObject([
      { path: ['fail', 'hint'], extensions: { code: 'NOT_IMPLEMENTED' } },
    ]);
    for (const [word, code] of [
      ['code', 'TEAPOT'],
      ['bug', 'INTERNAL_SERVER_ERROR'],
    ])
      expect(await ask(`fail(with: "${word}")`)).toMatchObject({
        data: { fail: null },
        errors: [{ path: ['fail'], extensions: { code } }],
      });
    expect(await ask('updateMember(id: 1, email: "b@x.io")')).toMatchObject({
      data: { updateMember: { __typename: 'EmailTaken', field: 'email' } },
    });
    const left = await server.query('{ tags { name } members { name } }', {}, as);
    expect(left.data.tags).toHaveLength(3);
    expect(left.data.members).not.toContainEqual({ name: 'early' });
  });
});
