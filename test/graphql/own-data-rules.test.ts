import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../../runtime/core/errors.ts';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  type User { id: ID! name: String! email: String articles: [Article!]! }
  type Article @auth(on: [READ], allow: [PUBLIC]) @auth(on: [CREATE, UPDATE, DELETE], allow: [OWNER], owner: "author") {
    id: ID!
    slug: String! @unique
    title: String!
    rank: Int @auth(on: [CREATE, UPDATE], allow: [ROLE], roles: ["editor"])
    author: User!
  }
  input NewArticle { slug: String! title: String! rank: Int authorId: ID }
  input ArticlePatch { title: String rank: Int authorId: ID }
  input ArticleFilter { slug: TextFilter }
  input TextFilter { in: [String!] }
  type Query { articles: [Article!]! @auth(allow: [PUBLIC]) }
  type Mutation {
    updateArticle(slug: String!, input: ArticlePatch!): Article
    deleteArticle(slug: String!): Article
    upsertArticle(slug: String!, create: NewArticle!, update: ArticlePatch!): Article!
    createArticles(input: [NewArticle!]!): [Article!]!
    updateArticles(where: ArticleFilter!, input: ArticlePatch!): Int!
    deleteArticles(where: ArticleFilter!): Int!
    byData(action: String!, arguments: String!): String! @resolve(as: CUSTOM) @auth(allow: [PUBLIC])
    undone(outer: Boolean!): Int! @resolve(as: CUSTOM) @auth(allow: [PUBLIC])
  }
`;
const MANIFEST =
  'name: own\napi: { access: public }\nauth: { roles: { list: [editor, member], default: member } }\n';

const [ANN, BOB, EVE] = [user(101), user(102), user(102, 'editor')];

describe.each(databases)('rules of two users on %s', (database) => {
  let server: TestServer;
  const committed: string[] = [];
  const hooked: string[] = [];

  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      entityHooks: {
        User: {
          afterOperation: ({ item }) => void hooked.push(item.name),
          afterCommit: ({ item }) => void committed.push(item.name),
        },
      },
      resolvers: {
        Mutation: {
          byData: async (_parent: unknown, { action, arguments: given }: any, ctx: any) =>
            JSON.stringify(await ctx.data.article[action](JSON.parse(given))),
          undone: async (_parent: unknown, { outer }: any, ctx: any) => {
            const add = (name: string) => ctx.sudo().data.user.create({ data: { name } });
            await add('first');
            const inner = ctx.transaction(async () => {
              await add('undone');
              await ctx.transaction(() => add('deeper'));
              throw failure.conflict('inner');
            });
            await inner.catch(() => {});
            await ctx.transaction(() => add('last'));
            if (outer) throw failure.conflict('outer');
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
    const names = [
      { id: 101, name: 'ann' },
      { id: 102, name: 'bob' },
    ];
    await db.insertInto('users').values(names).execute();
    const row = { slug: 'a', title: 'A', rank: 1, author_id: 101 };
    await db.insertInto('articles').values(row).execute();
    committed.length = hooked.length = 0;
  });

  const codes = async (query: string, variables: object, as = BOB) => {
    const { data, errors } = await server.query(query, variables as Record<string, unknown>, as);
    return errors ? errors[0].extensions.code : Object.values(data)[0];
  };
  const byData = async (action: string, given: object, as = BOB) => {
    const query = 'mutation ($a: String!, $b: String!) { byData(action: $a, arguments: $b) }';
    const answer = await codes(query, { a: action, b: JSON.stringify(given) }, as);
    return answer.startsWith('{') || answer.startsWith('[') || /^\d/.test(answer)
      ? JSON.parse(answer)
      : answer;
  };
  const stored = async () =>
    (await server.store.db.selectFrom('articles').selectAll().orderBy('slug').execute()).map(
      ({ slug, title, rank, author_id }) => `${slug} ${title} ${rank} ${author_id}`,
    );

  it('§13.7: rows of another stay in update, delete, upsert and many', async () => {
    const where = { slug: 'a' };
    const fresh = { slug: 'a', title: 'B', authorId: 102 };
    const update = { title: 'B' };
    const refused = [
      codes('mutation { updateArticle(slug: "a", input: { title: "B" }) { id } }', {}),
      codes('mutation { deleteArticle(slug: "a") { id } }', {}),
      codes(
        'mutation { upsertArticle(slug: "a", create: { slug: "a", title: "B" }, update: { title: "B" }) { id } }',
        {},
      ),
      byData('update', { where, data: update }),
      byData('delete', { where }),
      byData('upsert', { where, create: fresh, update }),
    ];
    expect(await Promise.all(refused)).toEqual(refused.map(() => 'FORBIDDEN'));
    const many = [
      codes(
        'mutation { updateArticles(where: { slug: { in: ["a"] } }, input: { title: "B" }) }',
        {},
      ),
      codes('mutation { deleteArticles(where: { slug: { in: ["a"] } }) }', {}),
      byData('updateMany', { where: { slug: { in: ['a'] } }, data: update }),
      byData('deleteMany', { where: { slug: { in: ['a'] } } }),
    ];
    expect(await Promise.all(many)).toEqual([0, 0, 0, 0]);
    expect(await stored()).toEqual(['a A 1 101']);
    expect(await byData('update', { where, data: update }, ANN)).toMatchObject({ title: 'B' });
    expect(await byData('updateMany', { where, data: { title: 'C' } }, ANN)).toBe(1);
  });

  it('§13.7: no row is made for another or given to another', async () => {
    const other = { slug: 'b', title: 'B', authorId: 101 };
    const patch = { title: 'B', authorId: 102 };
    const refused = [
      codes(
        'mutation { createArticles(input: [{ slug: "b", title: "B" }, { slug: "c", title: "C", authorId: 101 }]) { id } }',
        {},
      ),
      codes(
        'mutation { upsertArticle(slug: "b", create: { slug: "b", title: "B", authorId: 101 }, update: {}) { id } }',
        {},
      ),
      byData('create', { data: other }),
      byData('createMany', { data: [{ ...other, authorId: 102 }, other] }),
      byData('upsert', { where: { slug: 'b' }, create: other, update: {} }),
      codes('mutation { updateArticle(slug: "a", input: { authorId: 102 }) { id } }', {}, ANN),
      codes(
        'mutation { updateArticles(where: { slug: { in: ["a"] } }, input: { authorId: 102 }) }',
        {},
        ANN,
      ),
      byData('update', { where: { slug: 'a' }, data: patch }, ANN),
      byData('updateMany', { where: { slug: 'a' }, data: patch }, ANN),
      byData('upsert', { where: { slug: 'a' }, create: other, update: patch }, ANN),
    ];
    expect(await Promise.all(refused)).toEqual(refused.map(() => 'FORBIDDEN'));
    expect(await stored()).toEqual(['a A 1 101']);
  });

  it('§13.7: fields that a role alone may write stay in create, update, upsert and many', async () => {
    const fresh = { slug: 'b', title: 'B', rank: 9, authorId: 102 };
    const refused = [
      codes('mutation { createArticles(input: [{ slug: "b", title: "B", rank: 9 }]) { id } }', {}),
      codes('mutation { updateArticle(slug: "a", input: { rank: 9 }) { id } }', {}, ANN),
      codes(
        'mutation { updateArticles(where: { slug: { in: ["a"] } }, input: { rank: 9 }) }',
        {},
        ANN,
      ),
      byData('create', { data: fresh }),
      byData('createMany', { data: [fresh] }),
      byData('upsert', { where: { slug: 'b' }, create: fresh, update: {} }),
      byData('upsert', { where: { slug: 'a' }, create: fresh, update: { rank: 9 } }, ANN),
      byData('update', { where: { slug: 'a' }, data: { rank: 9 } }, ANN),
      byData('updateMany', { where: { slug: 'a' }, data: { rank: 9 } }, ANN),
    ];
    expect(await Promise.all(refused)).toEqual(refused.map(() => 'FORBIDDEN'));
    expect(await stored()).toEqual(['a A 1 101']);
    expect(await byData('createMany', { data: [fresh] }, EVE)).toMatchObject([{ rank: 9 }]);
  });

  it('§13.6: afterCommit runs once for what is committed, and not for an undone savepoint', async () => {
    expect(await codes('mutation { undone(outer: false) }', {})).toBe(1);
    expect(hooked).toEqual(['first', 'undone', 'deeper', 'last']);
    expect(committed).toEqual(['first', 'last']);
    expect(await codes('mutation { undone(outer: true) }', {})).toBe('CONFLICT');
    expect(committed).toEqual(['first', 'last']);
  });
});
