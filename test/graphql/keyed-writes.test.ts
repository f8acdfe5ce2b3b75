import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type User { id: ID! email: String! @unique name: String! profile: Profile articles: [Article!]! @relation(inverse: "author") }
  type Profile { id: ID! bio: String! user: User! @unique }
  type Article @index(fields: ["author", "number"], unique: true) {
    id: ID! slug: String! @unique title: String! number: Int author: User tags: [Tag!]!
  }
  type Tag { id: ID! name: String! @unique color: String articles: [Article!]! }
  input ArticleKey { id: ID slug: String authorId: ID number: Int }
  input ArticlePatch { title: String number: Int tags: TagLinks author: AuthorLink }
  input NewArticle { slug: String! title: String! number: Int authorId: ID tags: TagLinks author: AuthorLink }
  input AuthorLink { connect: EmailKey disconnect: Boolean create: NewUser connectOrCreate: UserOrNew }
  input EmailKey { email: String! }
  input NewUser { email: String! name: String! articles: ArticleLinks }
  input ArticleLinks { connect: [SlugKey!] connectOrCreate: [ArticleOrNew!] disconnect: [SlugKey!] }
  input SlugKey { slug: String! }
  input ArticleOrNew { where: SlugKey! create: ArticleBody! }
  input ArticleBody { title: String! }
  input UserOrNew { where: EmailKey! create: NewUser! }
  input TagKey { name: String! }
  input TagLinks { connect: [TagKey!] disconnect: [TagKey!] connectOrCreate: [TagOrNew!] }
  input TagOrNew { where: TagKey! create: NewTag! }
  input NewTag { name: String color: String @constraint(maxLength: 8) }
  input TagPatch { color: String }
  input TagFilter { name: TextFilter color: TextFilter and: [TagFilter!] or: [TagFilter!] not: TagFilter }
  input TextFilter { eq: String in: [String!] contains: String }
  type Many { count: Int! tags: [Tag!]! }
  type Query { users: [User!]! articles: [Article!]! article(slug: String!): Article tags: [Tag!]! }
  type Mutation {
    createUser(input: NewUser!): User!
    createArticle(input: NewArticle!): Article!
    updateArticle(slug: String!, input: ArticlePatch!): Article
    patchArticle(where: ArticleKey!, input: ArticlePatch!): Article!
    deleteArticle(slug: String!): Boolean!
    removeArticle(where: ArticleKey!): Article
    upsertTag(where: TagKey!, create: NewTag!, update: TagPatch!): Tag!
    tagUpsert(input: NewTag!): Tag!
    createTags(input: [NewTag!]!, skipDuplicates: Boolean): [Tag!]!
    updateTags(where: TagFilter!, input: TagPatch!): Many!
    deleteTags(where: TagFilter!): Int!
    removeTags(ids: [ID!]!): [Tag!]!
  }
`;

describe.each(databases)('writes by unique keys, upserts and many at once on %s', (database) => {
  let server: TestServer;
  beforeAll(
    async () =>
      void (server = await startServer(SDL, {
        database,
        manifest:
          'name: keyed\napi: { limits: { many: 250, aliases: 200, cost: 1000000, root_fields: 200 } }\n',
      })),
  );
  afterAll(() => server?.close());
  beforeEach(async () => {
    for (const table of ['article_tags', 'articles', 'tags', 'profiles', 'users'])
      await server.store.db.deleteFrom(table).execute();
  });

  const run = async (query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : data;
  };
  const tags = async () => (await run('{ tags { name color } }')).tags;

  it('update and delete a row by the unique key that the required arguments are', async () => {
    await run('mutation { createArticle(input: { slug: "a", title: "A" }) { id } }');
    expect(
      await run('mutation { updateArticle(slug: "a", input: { title: "B" }) { slug title } }'),
    ).toEqual({ updateArticle: { slug: 'a', title: 'B' } });
    expect(
      await run('mutation { updateArticle(slug: "x", input: { title: "B" }) { slug } }'),
    ).toEqual({ updateArticle: null });
    expect(await run('mutation { deleteArticle(slug: "a") }')).toEqual({ deleteArticle: true });
    expect(await run('mutation { deleteArticle(slug: "a") }')).toEqual({ deleteArticle: false });
  });

  it('update and delete a row by an input of keys, of which exactly one is given', async () => {
    await run('mutation { createUser(input: { email: "a@x.test", name: "Ada" }) { id } }');
    const [ada] = await server.store.db.selectFrom('users').select('id').execute();
    await run(
      'mutation ($id: ID) { createArticle(input: { slug: "a", title: "A", number: 7, authorId: $id }) { id } }',
      { id: ada?.['id'] },
    );
    expect(
      await run(
        'mutation ($id: ID) { patchArticle(where: { authorId: $id, number: 7 }, input: { title: "B" }) { title } }',
        { id: ada?.['id'] },
      ),
    ).toEqual({ patchArticle: { title: 'B' } });
    for (const where of ['{}', '{ id: 1, slug: "a" }', '{ number: 7 }', '{ slug: null }'])
      expect(
        await run(`mutation { patchArticle(where: ${where}, input: { title: "C" }) { title } }`),
      ).toEqual(['BAD_USER_INPUT: where must have exactly one of id, slug, authorId and number']);
    expect(
      await run('mutation { patchArticle(where: { slug: "x" }, input: {}) { title } }'),
    ).toEqual(['NOT_FOUND: Article not found']);
    expect(await run('mutation { removeArticle(where: { slug: "a" }) { title } }')).toEqual({
      removeArticle: { title: 'B' },
    });
  });

  it('connect, disconnect and create related rows by their unique key', async () => {
    await run('mutation { createTags(input: [{ name: "x" }, { name: "y" }]) { id } }');
    const article = `mutation ($input: NewArticle!) { createArticle(input: $input) { author { name } tags { name color } } }`;
    expect(
      await run(article, {
        input: {
          slug: 'a',
          title: 'A',
          author: {
            connectOrCreate: {
              where: { email: 'a@x.test' },
              create: { email: 'a@x.test', name: 'Ada' },
            },
          },
          tags: {
            connect: [{ name: 'x' }],
            connectOrCreate: [
              { where: { name: 'y' }, create: { color: 'red' } },
              { where: { name: 'z' }, create: { color: 'blue' } },
            ],
          },
        },
      }),
    ).toEqual({
      createArticle: {
        author: { name: 'Ada' },
        tags: [
          { name: 'x', color: null },
          { name: 'y', color: null },
          { name: 'z', color: 'blue' },
        ],
      },
    });
    const patch = `mutation ($input: ArticlePatch!) { updateArticle(slug: "a", input: $input) { author { name } tags { name } } }`;
    expect(
      await run(patch, {
        input: {
          author: { disconnect: true },
          tags: { connect: [{ name: 'x' }], disconnect: [{ name: 'y' }, { name: 'nowhere' }] },
        },
      }),
    ).toEqual({ updateArticle: { author: null, tags: [{ name: 'x' }, { name: 'z' }] } });
    expect(await run(patch, { input: { author: { connect: { email: 'a@x.test' } } } })).toEqual({
      updateArticle: { author: { name: 'Ada' }, tags: [{ name: 'x' }, { name: 'z' }] },
    });
    expect(await run(patch, { input: { tags: { connect: [{ name: 'nowhere' }] } } })).toEqual([
      'BAD_USER_INPUT: tags: there is no such Tag',
    ]);
  });

  it('connect rows whose key the other side has, and change nothing where they are connected', async () => {
    await run('mutation { createArticle(input: { slug: "a", title: "A" }) { id } }');
    expect(
      await run(
        'mutation { createUser(input: { email: "a@x.test", name: "Ada", articles: { connect: [{ slug: "a" }, { slug: "a" }], connectOrCreate: [{ where: { slug: "b" }, create: { title: "B" } }, { where: { slug: "a" }, create: { title: "X" } }] } }) { articles { slug title } } }',
      ),
    ).toEqual({
      createUser: {
        articles: [
          { slug: 'a', title: 'A' },
          { slug: 'b', title: 'B' },
        ],
      },
    });
  });

  it('update or create by a key beside the inputs, or inside the only one', async () => {
    const upsert = (color: string) =>
      run(
        'mutation ($c: String) { upsertTag(where: { name: "x" }, create: { color: $c }, update: { color: $c }) { name color } }',
        { c: color },
      );
    expect(await upsert('red')).toEqual({ upsertTag: { name: 'x', color: 'red' } });
    expect(await upsert('blue')).toEqual({ upsertTag: { name: 'x', color: 'blue' } });
    expect(await upsert('much too long')).toEqual([
      'BAD_USER_INPUT: create.color must have at most 8 characters',
    ]);
    expect(
      await run('mutation { tagUpsert(input: { name: "x", color: "green" }) { name color } }'),
    ).toEqual({ tagUpsert: { name: 'x', color: 'green' } });
    expect(await run('mutation { tagUpsert(input: { color: "green" }) { name color } }')).toEqual([
      'BAD_USER_INPUT: input must have name',
    ]);
    expect(await tags()).toEqual([{ name: 'x', color: 'green' }]);
  });

  it('§13.5: 50 parallel upserts and connectOrCreate of one key make one row and no error', async () => {
    const one = (n: number) =>
      n % 2 === 0
        ? run(
            'mutation ($c: String) { upsertTag(where: { name: "x" }, create: { color: $c }, update: { color: $c }) { name } }',
            { c: String(n) },
          )
        : run('mutation ($input: NewArticle!) { createArticle(input: $input) { tags { name } } }', {
            input: {
              slug: `s${n}`,
              title: 'T',
              tags: {
                connectOrCreate: [n % 3 ? 'x' : 'y', n % 3 ? 'y' : 'x'].map((name) => ({
                  where: { name },
                  create: {},
                })),
              },
            },
          });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => one(n)));
    expect(answers.filter(Array.isArray)).toEqual([]);
    expect((await tags()).map(({ name }: { name: string }) => name).sort()).toEqual(['x', 'y']);
  });

  it('create many rows in their order, all or none, or without those whose key is taken', async () => {
    const names = Array.from({ length: 213 }, (_, n) => ({ name: `t${n}`, color: String(n) }));
    const create =
      'mutation ($input: [NewTag!]!, $skip: Boolean) { createTags(input: $input, skipDuplicates: $skip) { name color } }';
    expect(await run(create, { input: names })).toEqual({ createTags: names });
    const more = [{ name: 'new' }, { name: 't7' }, { name: 'newer', color: 'red' }];
    expect(await run(create, { input: more })).toEqual(['CONFLICT: name already exists']);
    expect(await run(create, { input: more, skip: true })).toEqual({
      createTags: [
        { name: 'new', color: null },
        { name: 'newer', color: 'red' },
      ],
    });
    expect(await run(create, { input: [] })).toEqual({ createTags: [] });
    expect((await tags()).length).toBe(100);
    expect(
      await run(create, { input: [{ name: 'a' }, { name: 'b', color: 'much too long' }] }),
    ).toEqual(['BAD_USER_INPUT: input.1.color must have at most 8 characters']);
    const { errors } = await server.query(create, {
      input: Array.from({ length: 251 }, (_, n) => ({ name: `m${n}` })),
    });
    expect(errors).toMatchObject([
      {
        message: 'input must name at most 250 rows',
        extensions: { value: 251, limit: 250, field: 'input' },
      },
    ]);
  });

  it('update and delete the rows of a filter or of keys, and refuse a filter that says nothing', async () => {
    await run(
      'mutation { createTags(input: [{ name: "ax" }, { name: "bx" }, { name: "c" }]) { id } }',
    );
    expect(
      await run(
        'mutation { updateTags(where: { name: { contains: "x" } }, input: { color: "red" }) { count tags { name color } } }',
      ),
    ).toEqual({
      updateTags: {
        count: 2,
        tags: [
          { name: 'ax', color: 'red' },
          { name: 'bx', color: 'red' },
        ],
      },
    });
    for (const where of [
      '{}',
      '{ and: [] }',
      '{ name: {} }',
      '{ or: [{ name: { eq: "c" } }, {}] }',
      '{ not: {} }',
    ])
      expect(await run(`mutation { deleteTags(where: ${where}) }`), where).toEqual([
        'BAD_USER_INPUT: where must say which rows: it would name all of them',
      ]);
    expect(await run('mutation { deleteTags(where: { color: { eq: "red" } }) }')).toEqual({
      deleteTags: 2,
    });
    const [c] = await server.store.db.selectFrom('tags').select('id').execute();
    expect(
      await run('mutation ($ids: [ID!]!) { removeTags(ids: $ids) { name } }', {
        ids: [c?.['id'], '99999', 'abc'],
      }),
    ).toEqual({ removeTags: [{ name: 'c' }] });
    expect(await run('mutation { removeTags(ids: []) { name } }')).toEqual({ removeTags: [] });
  });

  it.each([
    ['where', 'updateTags(where: { name: { contains: "t" } }, input: { color: "red" }) { count }'],
    ['where', 'deleteTags(where: { name: { contains: "t" } })'],
    ['ids', 'removeTags(ids: $ids) { id }'],
  ])('more rows than api.limits.many are refused whole: %s of %s', async (field, mutation) => {
    const rows = Array.from({ length: 251 }, (_, n) => ({ name: `t${n}`, color: 'old' }));
    await server.store.db.insertInto('tags').values(rows).execute();
    const ids = (await server.store.db.selectFrom('tags').select('id').execute()).map(({ id }) =>
      String(id),
    );
    const named = mutation.includes('$ids');
    const write = (given: readonly string[]) =>
      server.query(
        `mutation${named ? ' ($ids: [ID!]!)' : ''} { done: ${mutation} }`,
        named ? { ids: given } : {},
      );
    const { errors } = await write(ids);
    expect(errors).toMatchObject([
      {
        message: `${field} must name at most 250 rows`,
        extensions: { code: 'BAD_USER_INPUT', value: 251, limit: 250, field },
      },
    ]);
    const colors = await server.store.db.selectFrom('tags').select('color').execute();
    expect(colors).toEqual(rows.map(() => ({ color: 'old' })));
    await server.store.db.deleteFrom('tags').where('id', '=', ids[0]).execute();
    const { data } = await write(ids.slice(1));
    const done = Array.isArray(data.done) ? data.done.length : (data.done.count ?? data.done);
    expect(done).toBe(250);
  });
});
