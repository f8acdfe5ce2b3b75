import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  type User @auth(allow: [PUBLIC], on: [READ]) { id: ID! name: String! email: String! favorites: [Article!]! @relation(inverse: "favoritedBy") }
  type Article {
    id: ID! title: String! author: User!
    favoritedBy: [User!]! comments: [Comment!]!
    favoritesCount: Int! @count(relation: "favoritedBy")
    favorited: Boolean! @exists(relation: "favoritedBy", where: { id: CALLER })
    commentsCount: Int! @count(relation: "comments")
    approvedCount: Int! @count(relation: "comments", where: { approved: true, text: { ne: "spam" } })
    mine: Int! @count(relation: "comments", where: { authorId: CALLER })
    byAda: Boolean! @exists(relation: "author", where: { name: { in: ["Ada", "Eve"] } })
  }
  type Comment @auth(allow: [OWNER], owner: "author", on: [READ]) @auth(allow: [ROLE], roles: ["Admin"], on: [READ]) {
    id: ID! text: String! approved: Boolean! @default(value: false) article: Article! author: User!
  }
  type Query { articles: [Article!]! article(id: ID!): Article own: Article @resolve(as: CUSTOM) }
  type Mutation { createArticle(title: String!, authorId: ID!, favoritedByIds: [ID!]): Article! createComment(text: String!, approved: Boolean, articleId: ID!, authorId: ID!): Comment }
`;

describe.each(databases)('counts and existence of related rows on %s', (database) => {
  let server: TestServer;
  const admin = user(9, 'Admin');
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest:
        'name: counted\napi: { access: public }\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n',
      resolvers: { Query: { own: () => ({ id: 1 }) } },
    });
    const run = (query: string) => server.query(`mutation { ${query} { id } }`, {}, admin);
    for (const name of ['Ada', 'Bob'])
      await server.store.db
        .insertInto('users')
        .values({ name, email: `${name}@x.test` })
        .execute();
    await run('createArticle(title: "A", authorId: 1, favoritedByIds: [1, 2])');
    await run('createArticle(title: "B", authorId: 2)');
    await run('createComment(text: "x", approved: true, articleId: 1, authorId: 1)');
    await run('createComment(text: "spam", approved: true, articleId: 1, authorId: 2)');
    await run('createComment(text: "y", articleId: 1, authorId: 2)');
  });
  afterAll(() => server?.close());

  const FIELDS = '{ favoritesCount favorited commentsCount approvedCount mine byAda }';
  const first = async (as?: ReturnType<typeof user>) =>
    (await server.query(`{ articles ${FIELDS} }`, {}, as)).data.articles[0];

  it('are in the one statement', async () => {
    server.statements();
    expect((await server.query(`{ articles ${FIELDS} }`, {}, admin)).data.articles).toEqual([
      {
        favoritesCount: 2,
        favorited: false,
        commentsCount: 3,
        approvedCount: 1,
        mine: 0,
        byAda: true,
      },
      {
        favoritesCount: 0,
        favorited: false,
        commentsCount: 0,
        approvedCount: 0,
        mine: 0,
        byAda: false,
      },
    ]);
    expect(server.statements().length).toBe(1);
  });

  it('obey the rules of the related type, and CALLER matches nothing for others', async () => {
    expect(await first(user(1))).toEqual({
      favoritesCount: 2,
      favorited: true,
      commentsCount: 1,
      approvedCount: 1,
      mine: 1,
      byAda: true,
    });
    expect(await first(user(2))).toMatchObject({
      favorited: true,
      commentsCount: 2,
      approvedCount: 0,
      mine: 2,
    });
    expect(await first()).toMatchObject({
      favoritesCount: 2,
      favorited: false,
      commentsCount: 0,
      mine: 0,
    });
  });

  it('are read for an object that a function returned', async () => {
    expect((await server.query(`{ own ${FIELDS} }`, {}, admin)).data.own).toMatchObject({
      favoritesCount: 2,
      commentsCount: 3,
      approvedCount: 1,
    });
  });
});

describe('names of @count and @exists', () => {
  const findings = (field: string) =>
    readProject({
      schema: [
        {
          file: 'schema.graphql',
          text: `type Query { posts: [Post!]! } type Post { id: ID! comments: [Comment!]! ${field} } type Comment { id: ID! text: String! }`,
        },
      ],
      manifest: null,
    }).diagnostics.filter(({ severity }) => severity === 'error');

  it.each([
    ['n: Int! @count(relation: "coments")', 'FIELD_UNKNOWN', 'Did you mean "comments"?'],
    [
      'n: Int! @count(relation: "comments", where: { txt: "x" })',
      'FIELD_UNKNOWN',
      'Did you mean "text"?',
    ],
    ['n: Int! @count(relation: "comments", where: { text: { equal: "x" } })', 'FIELD_UNKNOWN', ''],
    ['n: String! @count(relation: "comments")', 'DIRECTIVE_ARGUMENT', 'n: Int!'],
    ['n: Int! @exists(relation: "comments")', 'DIRECTIVE_ARGUMENT', 'n: Boolean!'],
  ])('%s is %s', (field, code, fix) => {
    expect(findings(field)).toMatchObject([{ code, fix: expect.stringContaining(fix) }]);
  });
});
