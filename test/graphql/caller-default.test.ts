import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  type User { id: ID! email: String! }
  type Article { id: ID! title: String! author: User! @default(expr: CALLER) editor: User @default(expr: CALLER) }
  input NewArticle { title: String! authorId: ID editorId: ID }
  type Query { articles: [Article!]! }
  type Mutation { createArticle(input: NewArticle!): Article! createArticles(input: [NewArticle!]!): [Article!]! }
`;
const MANIFEST = 'name: own\napi: { access: public }\nauth: {}\n';

// own-code.md §4: the commonest case of a hook without code
describe.each(databases)('@default(expr: CALLER) on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    await server.store.db.deleteFrom('articles').execute();
    await server.store.db.deleteFrom('users').execute();
    const users = [1, 2].map((id) => ({ id, email: `${id}@example.com` }));
    await server.store.db.insertInto('users').values(users).execute();
  });

  const stored = async () =>
    (await server.store.db.selectFrom('articles').selectAll().orderBy('title').execute()).map(
      ({ title, author_id, editor_id }) => `${title} ${author_id} ${editor_id}`,
    );

  it('sets the signed-in user where the input is silent, one row or many', async () => {
    const made = await server.query(
      'mutation { a: createArticle(input: { title: "a" }) { author { id } } b: createArticle(input: { title: "b", authorId: 1, editorId: null }) { id } createArticles(input: [{ title: "c" }, { title: "d", authorId: 1 }]) { id } }',
      {},
      user(2),
    );
    expect(made.errors).toBeUndefined();
    expect(made.data.a).toEqual({ author: { id: '2' } });
    expect(await stored()).toEqual(['a 2 2', 'b 1 null', 'c 2 2', 'd 1 2']);
  });

  it('refuses a create without the field of a caller who is not signed in', async () => {
    const { errors } = await server.query(
      'mutation { createArticle(input: { title: "a" }) { id } }',
    );
    expect(errors?.[0]).toMatchObject({
      message: 'authorId is required',
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await stored()).toEqual([]);
  });
});

describe('@default(expr: CALLER)', () => {
  it.each([
    [
      'a relation to another type',
      'other: Other @default(expr: CALLER)',
      'DIRECTIVE_WITHOUT_EFFECT',
    ],
    ['a list', 'others: [User!]! @default(expr: CALLER)', 'DIRECTIVE_WITHOUT_EFFECT'],
    ['a text', 'name: String @default(expr: CALLER)', 'DEFAULT_INVALID'],
  ])('is a finding on %s', (_, field, finding) => {
    const { diagnostics } = readProject({
      schema: [
        {
          file: 'schema.graphql',
          text: `type User { id: ID! email: String! } type Other { id: ID! } type A { id: ID! ${field} } type Query { as: [A!]! }`,
        },
      ],
      manifest: { file: 'manifest.yaml', text: 'name: own\nauth: {}\n' },
    });
    expect(diagnostics.map(({ code }) => code)).toContain(finding);
  });
});
