import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, startServer, user, type TestServer } from '../graphql/harness.ts';

const SDL = `
  type User { id: ID! name: String! email: String articles: [Article!]! }
  type Article @auth(on: [READ], allow: [PUBLIC]) @auth(on: [CREATE, UPDATE, DELETE], allow: [OWNER], owner: "author") {
    id: ID!
    title: String! @constraint(minLength: 2, maxLength: 8)
    slug: String!
    rank: Int @auth(on: [CREATE, UPDATE], allow: [ROLE], roles: ["editor"])
    author: User!
  }
  input NewArticle { title: String! slug: String rank: Int hook: String @computed }
  input ArticlePatch { title: String rank: Int hook: String @computed }
  input ArticleFilter { title: TextFilter }
  input TextFilter { eq: String }
  type Query { articles: [Article!]! @auth(allow: [PUBLIC]) article(id: ID!): Article }
  type Mutation {
    createArticle(input: NewArticle!): Article!
    updateArticle(id: ID!, input: ArticlePatch!): Article
    deleteArticle(id: ID!): Article
    upsertArticle(id: ID!, create: NewArticle!, update: ArticlePatch!): Article!
    createArticles(input: [NewArticle!]!): Int!
    updateArticles(where: ArticleFilter!, input: ArticlePatch!): Int!
    byData(data: String!): Int! @resolve(as: CUSTOM) @auth(allow: [PUBLIC])
  }
`;
const MANIFEST =
  'name: hooked\napi: { access: public, rest: true }\nauth: { roles: { list: [editor, member], default: member } }\n';

const [ANN, BOB] = [user(101), user(102)];
const NOBODY: Principal = { kind: 'anonymous' };

/** What the hook returns, by the member `hook` of the input. */
const RETURNED: Readonly<Record<string, object>> = {
  short: { title: 'x' },
  long: { title: 'much too long', slug: 's' },
  bob: { slug: 's', authorId: 102 },
  rank: { slug: 's', rank: 9 },
  slug: { slug: 's' },
  none: {},
  null: { slug: null },
};

// own-code.md §4
describe.each(databases)('what hooks return is held to the rules on %s', (database) => {
  let server: TestServer;
  let called: string[] = [];
  const resolve =
    (operation: string) =>
    ({ input, ctx }: any) => {
      called.push(operation);
      const author = operation === 'create' ? { authorId: ctx.user?.id ?? 101 } : {};
      return { ...author, ...RETURNED[input.hook] };
    };

  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
      entityHooks: {
        Article: {
          resolveInput: { create: resolve('create'), update: resolve('update') },
          validate: { delete: () => void called.push('delete') },
        },
      },
      resolvers: {
        Mutation: {
          byData: async (_parent: unknown, { data }: any, ctx: any) => {
            await ctx.data.article.create({ data: JSON.parse(data) });
            return 1;
          },
        },
      },
    });
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    const { db } = server.store;
    for (const table of ['articles', 'users']) await db.deleteFrom(table).execute();
    await db
      .insertInto('users')
      .values([
        { id: 101, name: 'ann' },
        { id: 102, name: 'bob' },
      ])
      .execute();
    const row = { id: 7, title: 'old', slug: 'old', rank: 1, author_id: 101 };
    await db.insertInto('articles').values(row).execute();
    called = [];
  });

  const run = async (mutation: string, as = ANN) => {
    const { data, errors } = await server.query(`mutation { ${mutation} }`, {}, as);
    return errors
      ? `${errors[0].extensions.code}: ${errors[0].message}`
      : Object.values(data as object)[0];
  };
  const stored = async () =>
    (await server.store.db.selectFrom('articles').selectAll().orderBy('id').execute()).map(
      ({ title, slug, rank, author_id }) => `${title} ${slug} ${rank} ${author_id}`,
    );
  const create = (hook: string) => `createArticle(input: { title: "new", hook: "${hook}" }) { id }`;
  const update = (hook: string) => `updateArticle(id: 7, input: { hook: "${hook}" }) { id }`;

  const SHORT = 'BAD_USER_INPUT: title must have at least 2 characters';
  const LONG = 'BAD_USER_INPUT: title must have at most 8 characters';

  it.each([
    [create('short'), SHORT],
    [create('long'), LONG],
    [create('none'), 'BAD_USER_INPUT: slug is required'],
    [create('bob'), 'FORBIDDEN: Forbidden'],
    [update('short'), SHORT],
    [update('long'), LONG],
    [update('null'), 'BAD_USER_INPUT: slug is required'],
    [update('bob'), 'FORBIDDEN: Forbidden'],
    [
      'createArticles(input: [{ title: "new", hook: "slug" }, { title: "new", hook: "long" }])',
      LONG,
    ],
    [
      'updateArticles(where: { title: { eq: "old" } }, input: { hook: "bob" })',
      'FORBIDDEN: Forbidden',
    ],
    ['upsertArticle(id: 7, create: { title: "new" }, update: { hook: "long" }) { id }', LONG],
    [String.raw`byData(data: "{\"title\":\"short\"}")`, 'BAD_USER_INPUT: slug is required'],
    // What the caller writes themselves is held to the rules of its field.
    ['createArticle(input: { title: "new", slug: "s", rank: 2 }) { id }', 'FORBIDDEN: Forbidden'],
    ['updateArticle(id: 7, input: { rank: 2 }) { id }', 'FORBIDDEN: Forbidden'],
    [
      String.raw`byData(data: "{\"title\":\"new\",\"slug\":\"s\",\"rank\":2}")`,
      'FORBIDDEN: Forbidden',
    ],
  ])('%s is refused, and nothing stays', async (mutation, message) => {
    expect(await run(mutation)).toBe(message);
    expect(called).not.toEqual([]);
    expect(await stored()).toEqual(['old old 1 101']);
  });

  it('a result that breaks a limit is 400 in REST too', async () => {
    const body = { title: 'new', hook: 'short' };
    const { status } = await server.call('POST', '/api/articles', { body, as: ANN });
    expect(status).toBe(400);
    expect(called).toEqual(['create']);
    expect(await stored()).toEqual(['old old 1 101']);
  });

  it('a hook sets fields that the caller may not write, and their own rows alone', async () => {
    expect(await run(create('rank'))).toEqual({ id: expect.anything() });
    expect(await run(update('rank'))).toEqual({ id: '7' });
    expect(await run(update('rank'), BOB)).toBe('FORBIDDEN: Forbidden');
    expect(await stored()).toEqual(expect.arrayContaining(['old s 9 101', 'new s 9 101']));
  });

  it.each([
    ['createArticle(input: { title: "x" }) { id }', ANN, 'BAD_USER_INPUT'],
    ['createArticle(input: { title: "new", slug: "s" }) { id }', NOBODY, 'UNAUTHENTICATED'],
    ['createArticles(input: [{ title: "new" }, { title: "x" }])', ANN, 'BAD_USER_INPUT'],
    ['updateArticle(id: 7, input: { title: "x" }) { id }', ANN, 'BAD_USER_INPUT'],
    ['updateArticle(id: 7, input: { title: "mine" }) { id }', BOB, 'FORBIDDEN'],
    ['updateArticle(id: 7, input: { title: "mine" }) { id }', NOBODY, 'UNAUTHENTICATED'],
    ['deleteArticle(id: 7) { id }', BOB, 'FORBIDDEN'],
    ['deleteArticle(id: 7) { id }', NOBODY, 'UNAUTHENTICATED'],
    [
      'upsertArticle(id: 7, create: { title: "new" }, update: { title: "x" }) { id }',
      ANN,
      'BAD_USER_INPUT',
    ],
    ['upsertArticle(id: 7, create: { title: "new" }, update: {}) { id }', BOB, 'FORBIDDEN'],
    [String.raw`byData(data: "{\"title\":\"x\"}")`, ANN, 'BAD_USER_INPUT'],
  ])('no hook is called for %s of %o', async (mutation, as, code) => {
    expect(await run(mutation, as)).toMatch(new RegExp(`^${code}: `));
    expect(called).toEqual([]);
    expect(await stored()).toEqual(['old old 1 101']);
  });
});
