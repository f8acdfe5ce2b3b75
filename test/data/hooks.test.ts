import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../../runtime/core/errors.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, startServer, user, type TestServer } from '../graphql/harness.ts';

const SDL = `
  type User { id: ID! name: String! articles: [Article!]! @relation(inverse: "author") }
  type Article {
    id: ID! slug: String! @unique title: String! @constraint(minLength: 2) body: String author: User!
    comments: [Comment!]! tags: [Tag!]!
  }
  type Comment { id: ID! text: String! article: Article }
  type Tag { id: ID! name: String! @unique articles: [Article!]! }
  type Audit { id: ID! text: String! }
  type Slow { id: ID! text: String! }
  input NewArticle { slug: String title: String! body: String authorId: ID comments: Comments }
  input ArticlePatch { title: String body: String comments: Comments }
  input Comments { create: [NewComment!] connect: [Key!] }
  input NewComment { text: String! }
  input NewUser { name: String! articles: NewArticles }
  input NewArticles { create: [NewArticle!] }
  input Key { id: ID! }
  input ArticleFilter { title: TextFilter }
  input TextFilter { contains: String eq: String }
  type Query { users: [User!]! articles: [Article!]! article(id: ID!): Article comments: [Comment!]! comment(id: ID!): Comment audits: [Audit!]! }
  type Mutation {
    createUser(input: NewUser!): User!
    createArticle(input: NewArticle!): Article!
    updateArticle(id: ID!, input: ArticlePatch!): Article
    deleteArticle(id: ID!): Article
    upsertArticle(slug: String!, create: NewArticle!, update: ArticlePatch!): Article!
    createArticles(input: [NewArticle!]!, skipDuplicates: Boolean): [Article!]!
    updateArticles(where: ArticleFilter!, input: ArticlePatch!): Int!
    deleteArticles(where: ArticleFilter!): Int!
    createComment(text: String!): Comment!
    byData(title: String!): Int! @resolve(as: CUSTOM)
    late(title: String!): Int! @resolve(as: CUSTOM)
    createAudit(text: String!): Audit!
    createSlow(text: String!): Slow!
    updateSlow(id: ID!, text: String!): Slow
  }
`;

const slugOf = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-');

describe.each(databases)('lifecycle hooks on %s', (database) => {
  let server: TestServer;
  let ran: string[] = [];
  let committed: string[] = [];
  const note =
    (name: string) =>
    ({ operation, item, originalItem }: any) =>
      void ran.push(`${name} ${operation} ${originalItem?.title ?? '-'} ${item?.title ?? '-'}`);

  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: hooked\napi: { rest: true }\n',
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
      entityHooks: {
        Article: {
          resolveInput: {
            create: ({ input, ctx }) => (
              ran.push(`resolve create ${input.title}`),
              { slug: slugOf(input.title), authorId: ctx.user?.id ?? 101 }
            ),
            update: ({ input, item }) => (
              ran.push(`resolve update ${item.title} ${item.authorId}`),
              input.title ? { slug: slugOf(input.title) } : {}
            ),
          },
          validate: {
            create: ({ input, addError }) => {
              if (input.title === input.body) {
                addError('body', 'must differ from the title');
                addError('title', 'must differ from the body');
              }
            },
          },
          beforeOperation: ({ operation, input, item }) => {
            ran.push(`before ${operation} ${item?.title ?? input.title}`);
            if (input.title === 'Secret') throw failure.forbidden('no secrets');
            if (input.title === 'Broken') throw new Error('a secret of the server');
          },
          afterOperation: async ({ operation, item, originalItem, ctx }) => {
            note('after')({ operation, item, originalItem });
            await ctx
              .sudo()
              .data.audit.create({ data: { text: `${operation} ${(item ?? originalItem).slug}` } });
            if (item?.title === 'Late') throw failure.conflict('too late');
          },
          afterCommit: ({ operation, item, originalItem }) => {
            committed.push(`${operation} ${(item ?? originalItem).title}`);
            if (item?.title === 'Commit throws') throw new Error('ignored');
          },
        },
        Comment: {
          resolveInput: { create: async ({ input }) => ({ text: `${input.text}!` }) },
          afterOperation: {
            update: ({ item }) => void ran.push(`comment ${item.text} of ${item.articleId}`),
          },
        },
        Slow: {
          beforeOperation: async ({ input, ctx }) => {
            if (input.text === 'reads') await ctx.data.audit.count();
          },
          afterOperation: async ({ item, ctx }) => {
            ran.push(`slow ${item.text}`);
            await ctx.data.audit.create({ data: { text: 'by slow' } });
          },
        },
        Audit: {
          afterOperation: async ({ item, ctx }) => {
            if (item.text === 'again') await ctx.data.audit.create({ data: { text: 'again' } });
          },
        },
      },
      resolvers: {
        Mutation: {
          byData: async (_parent: unknown, { title }: any, ctx: any) => {
            await ctx.data.article.create({ data: { title, body: 'data' } });
            const row = await ctx.data.article.update({
              where: { slug: slugOf(title) },
              data: { title: `${title} two` },
            });
            await ctx.data.article.delete({ where: { slug: row.slug } });
            return 1;
          },
          late: async (_parent: unknown, { title }: any, ctx: any) => {
            await ctx.data.article.create({ data: { title } });
            throw failure.conflict('the function failed');
          },
        },
      },
    });
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    const { db } = server.store;
    for (const table of ['comments', 'article_tags', 'articles', 'audits', 'users'])
      await db.deleteFrom(table).execute();
    await db.insertInto('users').values({ id: 101, name: 'Ada' }).execute();
    await db.insertInto('users').values({ id: 102, name: 'Bob' }).execute();
    [ran, committed] = [[], []];
  });

  const bob = user(102);
  const run = async (query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables, bob);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : data;
  };
  const articles = async () =>
    (await server.store.db.selectFrom('articles').selectAll().orderBy('title').execute()).map(
      ({ slug, author_id, title }) => `${title} ${slug} ${author_id}`,
    );
  const audits = async () =>
    (await server.store.db.selectFrom('audits').selectAll().orderBy('id').execute()).map(
      ({ text }) => text,
    );
  const create = (title: string, body?: string) =>
    run(
      'mutation ($input: NewArticle!) { createArticle(input: $input) { title slug author { name } } }',
      {
        input: { title, body },
      },
    );

  it('run in their order, complete the input, and see the stored rows', async () => {
    expect(await create('One Two')).toEqual({
      createArticle: { title: 'One Two', slug: 'one-two', author: { name: 'Bob' } },
    });
    const [row] = await server.store.db.selectFrom('articles').select('id').execute();
    expect(
      await run(
        `mutation { updateArticle(id: ${row?.['id']}, input: { title: "Three" }) { slug } }`,
      ),
    ).toEqual({ updateArticle: { slug: 'three' } });
    expect(await run(`mutation { deleteArticle(id: ${row?.['id']}) { title } }`)).toEqual({
      deleteArticle: { title: 'Three' },
    });
    expect(ran).toEqual([
      'resolve create One Two',
      'before create One Two',
      'after create - One Two',
      'resolve update One Two 102',
      'before update One Two',
      'after update One Two Three',
      'before delete Three',
      'after delete Three -',
    ]);
    expect(committed).toEqual(['create One Two', 'update Three', 'delete Three']);
    expect(await audits()).toEqual(['create one-two', 'update three', 'delete three']);
  });

  it('§13.2: set slug and author by REST, nested creates, ctx.data, upserts and many at once, once a row', async () => {
    const { status } = await server.call('POST', '/api/articles', {
      body: { title: 'By Rest' },
      as: bob,
    });
    expect(status).toBe(201);
    await run(
      'mutation { createUser(input: { name: "Eve", articles: { create: [{ title: "Nested" }] } }) { id } }',
    );
    expect(await run('mutation { byData(title: "Data") }')).toEqual({ byData: 1 });
    for (const title of ['Upsert', 'Upserted'])
      await run(
        'mutation ($t: String!) { upsertArticle(slug: "upsert", create: { title: $t }, update: { body: "x" }) { id } }',
        { t: title },
      );
    await run(
      'mutation { createArticles(input: [{ title: "Many A" }, { title: "Many B" }]) { id } }',
    );
    expect(
      await run(
        'mutation { createArticles(input: [{ title: "Many B" }, { title: "Many C" }], skipDuplicates: true) { title } }',
      ),
    ).toEqual({ createArticles: [{ title: 'Many C' }] });
    expect(
      await run(
        'mutation { updateArticles(where: { title: { contains: "Many" } }, input: { body: "y" }) }',
      ),
    ).toEqual({ updateArticles: 3 });
    expect(await run('mutation { deleteArticles(where: { title: { eq: "Many A" } }) }')).toEqual({
      deleteArticles: 1,
    });
    const eve = (await server.store.db.selectFrom('users').selectAll().execute()).find(
      ({ name }) => name === 'Eve',
    );
    // A row that is created under its author belongs to that one.
    expect(await articles()).toEqual([
      'By Rest by-rest 102',
      'Many B many-b 102',
      'Many C many-c 102',
      `Nested nested ${eve?.['id']}`,
      'Upsert upsert 102',
    ]);
    expect(committed).toEqual(
      [
        'create By Rest',
        'create Nested',
        'create Data',
        'update Data two',
        'delete Data two',
        'create Upsert',
        'update Upsert',
        'create Many A',
        'create Many B',
        'create Many C',
        'update Many B',
        'update Many C',
        'update Many A',
        'delete Many A',
      ].toSorted((a, b) => committed.indexOf(a) - committed.indexOf(b)),
    );
    expect(await audits()).toHaveLength(committed.length);
  });

  it('a late throw leaves nothing, on every path', async () => {
    expect(await create('Late')).toEqual(['CONFLICT: too late']);
    expect(
      (await server.call('POST', '/api/articles', { body: { title: 'Late' }, as: bob })).status,
    ).toBe(409);
    expect(
      await run(
        'mutation { createUser(input: { name: "Eve", articles: { create: [{ title: "Fine" }, { title: "Late" }] } }) { id } }',
      ),
    ).toEqual(['CONFLICT: too late']);
    expect(
      await run(
        'mutation { createArticles(input: [{ title: "Fine" }, { title: "Late" }]) { id } }',
      ),
    ).toEqual(['CONFLICT: too late']);
    expect(await run('mutation { late(title: "Fine") }')).toEqual([
      'CONFLICT: the function failed',
    ]);
    expect(await articles()).toEqual([]);
    expect(await audits()).toEqual([]);
    expect(committed).toEqual([]);
  });

  it('validate names all that is wrong, after limits and required fields of the result', async () => {
    const { errors } = await server.query(
      'mutation { createArticle(input: { title: "Same", body: "Same" }) { id } }',
      {},
      bob,
    );
    expect(errors).toMatchObject([
      {
        message: 'body must differ from the title',
        extensions: {
          code: 'BAD_USER_INPUT',
          errors: [
            { field: 'body', message: 'must differ from the title' },
            { field: 'title', message: 'must differ from the body' },
          ],
        },
      },
    ]);
    expect(ran).toEqual(['resolve create Same']);
  });

  it('failures reach the caller; other throws are masked, and the log names the file', async () => {
    expect(await create('Secret')).toEqual(['FORBIDDEN: no secrets']);
    expect(await create('Broken')).toEqual(['INTERNAL_SERVER_ERROR: Internal server error']);
    expect(server.lines.join('\n')).toMatch(
      /src\/hooks\/Article\.ts beforeOperation\.create failed/,
    );
    expect(await create('Commit throws')).toMatchObject({
      createArticle: { slug: 'commit-throws' },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.lines.join('\n')).toMatch(/src\/hooks\/Article\.ts afterCommit\.create failed/);
  });

  it('connecting a row that another table keeps the key of is an update of that row', async () => {
    const made = await run('mutation { createComment(text: "hi") { id text } }');
    expect(made).toMatchObject({ createComment: { text: 'hi!' } });
    const { id } = made.createComment;
    const done = await run(
      'mutation ($id: ID!) { createArticle(input: { title: "With", comments: { connect: [{ id: $id }], create: [{ text: "new" }] } }) { id comments { text } } }',
      { id },
    );
    expect(done.createArticle.comments).toEqual([{ text: 'hi!' }, { text: 'new!' }]);
    expect(ran).toContain(`comment hi! of ${done.createArticle.id}`);
  });

  // SQLite has one writer at a time, so that nothing fails so.
  if (database === 'postgres')
    it.each(['plain', 'reads'])(
      'run again with their write after a serialization failure (%s)',
      async (text) => {
        const { db } = server.store;
        await sql`create sequence tries`.execute(db);
        await sql`create function refuse() returns trigger language plpgsql as $$ begin
          if nextval('tries') <= 3 then raise exception 'no' using errcode = '40001'; end if;
          return new; end $$`.execute(db);
        await sql`create trigger refuse before insert on audits for each row execute function refuse()`.execute(
          db,
        );
        try {
          const mutation = 'mutation ($text: String!) { createSlow(text: $text) { text } }';
          expect(await run(mutation, { text })).toEqual({ createSlow: { text } });
          expect(ran).toEqual(Array(4).fill(`slow ${text}`));
          expect(await audits()).toEqual(['by slow']);
        } finally {
          await sql`drop trigger refuse on audits`.execute(db);
          await sql`drop function refuse`.execute(db);
          await sql`drop sequence tries`.execute(db);
        }
      },
    );

  it('a chain of hooks deeper than 20 is ended, and nothing stays', async () => {
    expect(await run('mutation { createAudit(text: "again") { id } }')).toEqual([
      'INTERNAL_SERVER_ERROR: Internal server error',
    ]);
    expect(server.lines.join('\n')).toMatch(/hooks call each other more than 20 deep: .*Audit/);
    expect(await audits()).toEqual([]);
  });
});
