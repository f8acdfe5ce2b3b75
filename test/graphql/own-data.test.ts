import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime
  type User { id: ID! name: String! @unique email: String articles: [Article!]! }
  type Tag { id: ID! name: String! @unique articles: [Article!]! }
  type Article @auth(on: [READ], allow: [PUBLIC]) @auth(on: [CREATE, UPDATE, DELETE], allow: [OWNER], owner: "author") {
    id: ID!
    slug: String! @unique
    title: String! @constraint(minLength: 2)
    views: Int @default(value: 0)
    note: String @auth(allow: [OWNER], owner: "author")
    author: User!
    tags: [Tag!]!
    createdAt: DateTime!
  }
  type Secret @auth(allow: [OWNER], owner: "author") { id: ID! key: String! @unique text: String author: User! }
  type Query { articles: [Article!]! article(id: ID!): Article }
`;
const MANIFEST = 'name: own\napi: { access: public }\nauth: {}\n';
const user = (id: number): Principal => ({
  kind: 'user',
  id,
  role: null,
  permissions: [],
  sessionId: 's',
  extend: {},
});

describe.each(databases)('ctx.data on %s', (database) => {
  let server: TestServer;
  let system: any;
  let ann: any;
  let bob: any;

  beforeEach(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
    system = systemContext({ store: server.store, log: { child: () => ({}) } as never });
    for (const name of ['ann', 'bob']) await system.data.user.create({ data: { name } });
    [ann, bob] = [1, 2].map((id) => {
      const context = system.sudo();
      context.principal = user(id);
      return context;
    });
  });
  afterEach(() => server.close());

  const make = (ctx: any, slug: string, more = {}) =>
    ctx.data.article.create({ data: { slug, title: `About ${slug}`, ...more } });

  it('creates, finds, updates and deletes rows in the form that resolvers get', async () => {
    const made = await make(ann, 'a', { note: 'mine', tags: { create: [{ name: 'x' }] } });
    expect(made).toMatchObject({
      id: '1',
      slug: 'a',
      title: 'About a',
      authorId: '1',
      views: 0,
    });
    expect(await ann.data.article.findUnique({ where: { slug: 'a' } })).toEqual(made);
    expect(await ann.data.article.findUnique({ where: { id: '1' } })).toEqual(made);
    expect(await ann.data.article.findUnique({ where: { slug: 'b' } })).toBe(null);
    const changed = await ann.data.article.update({ where: { slug: 'a' }, data: { title: 'Yes' } });
    expect(changed).toEqual({ ...made, title: 'Yes' });
    expect(await ann.data.article.update({ where: { id: 9 }, data: { title: 'Yes' } })).toBe(null);
    expect(await ann.data.article.delete({ where: { slug: 'a' } })).toEqual(changed);
    expect(await ann.data.article.delete({ where: { slug: 'a' } })).toBe(null);
    expect(await ann.data.article.findMany()).toEqual([]);
  });

  it('shows each of two users what GraphQL shows them, and all to sudo (acceptance 7)', async () => {
    await make(ann, 'a', { note: 'mine' });
    const seen = async (ctx: any) => {
      const { articles } = await ctx.graphql('{ articles { note } }').catch(() => ({
        articles: [{ note: undefined }],
      }));
      const [row] = await ctx.data.article.findMany();
      expect(row.note).toEqual(articles[0].note);
      return row.note;
    };
    expect(await seen(ann)).toBe('mine');
    expect(await seen(bob)).toBe(undefined);
    expect((await bob.sudo().data.article.findMany())[0].note).toBe('mine');
    const title = { where: { slug: 'a' }, data: { title: 'Stolen' } };
    await expect(bob.data.article.update(title)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(bob.data.article.delete({ where: { slug: 'a' } })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(make(bob, 'b', { authorId: 1 })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect((await bob.sudo().data.article.update(title)).title).toBe('Stolen');
  });

  it('knows no row that is gone or hidden, by whichever key it is looked for', async () => {
    const { id } = await ann.data.secret.create({ data: { key: 'a', authorId: 1 } });
    const data = { text: 'x' };
    const found = async (ctx: any, where: object) => [
      await ctx.data.secret.findUnique({ where }),
      await ctx.data.secret.update({ where, data }),
      await ctx.data.secret.delete({ where }),
      await ctx.data.secret.updateMany({ where, data }),
      await ctx.data.secret.deleteMany({ where }),
    ];
    const nothing = [null, null, null, 0, 0];
    for (const where of [{ id }, { id: String(id) }, { key: 'a' }])
      expect(await found(bob, where)).toEqual(nothing);
    const row = { id, key: 'a', text: null, authorId: '1' };
    expect(await ann.data.secret.findMany()).toEqual([row]);
    expect(await ann.data.secret.delete({ where: { id } })).toEqual(row);
    for (const ctx of [ann, bob, system])
      for (const where of [{ id }, { key: 'a' }]) expect(await found(ctx, where)).toEqual(nothing);
  });

  it('refuses what a mutation refuses, with its codes', async () => {
    await make(ann, 'a');
    await expect(make(ann, 'a')).rejects.toMatchObject({
      code: 'CONFLICT',
      extensions: { fields: ['slug'] },
    });
    await expect(make(ann, 'b', { title: 'x' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(make(ann, 'b', { views: 'many', titel: 1 })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      extensions: {
        field: 'views',
        errors: [
          { field: 'views', message: 'is not a valid Int' },
          { field: 'titel', message: 'is not known. Did you mean "title"?' },
        ],
      },
    });
    await expect(system.data.article.create({ data: { slug: 'b' } })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'title is required',
    });
    await expect(make(system, 'b', { authorId: 77 })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    await expect(ann.data.article.findUnique({ where: { title: 'x' } })).rejects.toThrow(
      'where must be a unique key of Article: id, or slug',
    );
    await expect(ann.data.article.findMany({ where: { title: { starts: 'x' } } })).rejects.toThrow(
      'where.title.starts is not known',
    );
    await expect(
      ann.data.article.create({ data: { slug: 'z', title: 'zz' }, include: {} }),
    ).rejects.toThrow('include is not known');
  });

  it('filters, orders, pages and counts', async () => {
    for (const slug of ['a', 'b', 'c', 'd'])
      await make(slug === 'd' ? bob : ann, slug, { views: slug.charCodeAt(0) - 97 });
    const slugs = async (args?: any) =>
      (await ann.data.article.findMany(args)).map(({ slug }: any) => slug);
    expect(await slugs()).toEqual(['a', 'b', 'c', 'd']);
    expect(await slugs({ where: { slug: 'b' } })).toEqual(['b']);
    expect(await slugs({ where: { views: { gte: 2 } }, orderBy: { views: 'desc' } })).toEqual([
      'd',
      'c',
    ]);
    expect(await slugs({ where: { author: { name: 'bob' } } })).toEqual(['d']);
    expect(await slugs({ where: { authorId: 2 } })).toEqual(['d']);
    expect(await slugs({ where: { or: [{ slug: 'a' }, { title: { contains: 't c' } }] } })).toEqual(
      ['a', 'c'],
    );
    expect(await slugs({ limit: 2, offset: 1 })).toEqual(['b', 'c']);
    expect(await slugs({ limit: 0 })).toEqual([]);
    expect(await ann.data.article.count({ where: { views: { lt: 2 } } })).toBe(2);
    const [first, second] = (await ann.data.article.findMany({ orderBy: { id: 'asc' } })) as any[];
    const beyond = { where: { id: { gt: first.id, lte: String(second.id) } } };
    expect(await slugs(beyond)).toEqual([second.slug]);
    expect(await ann.data.article.count({ where: { authorId: { gte: 1, lt: 2 } } })).toBe(
      await ann.data.article.count({ where: { authorId: 1 } }),
    );
    expect(await ann.data.article.count()).toBe(4);
  });

  it('sets relations as inputs set them', async () => {
    const x = await system.data.tag.create({ data: { name: 'x' } });
    const made = await system.data.article.create({
      data: {
        slug: 'a',
        title: 'aa',
        author: { create: { name: 'cas' } },
        tags: { connect: [{ id: x.id }], create: { name: 'y' } },
      },
    });
    const tags = async () =>
      (await system.graphql('{ articles { tags { name } author { name } } }')).articles;
    expect(await tags()).toEqual([
      { tags: [{ name: 'x' }, { name: 'y' }], author: { name: 'cas' } },
    ]);
    await system.data.article.update({
      where: { id: made.id },
      data: { tags: { disconnect: [x.id] }, author: { connect: { id: 1 } } },
    });
    expect(await tags()).toEqual([{ tags: [{ name: 'y' }], author: { name: 'ann' } }]);
  });

  it('reads more rows than the API lets a caller ask for', async () => {
    const rows = Array.from({ length: 1500 }, (_, index) => ({ name: `tag ${index}` }));
    await server.store.db.insertInto('tags').values(rows).execute();
    expect((await ann.data.tag.findMany()).length).toBe(1500);
  });

  it('updates or makes a row: one, however many do so at once', async () => {
    const upsert = (views: number) =>
      ann.data.article.upsert({
        where: { slug: 'a' },
        create: { slug: 'a', title: 'made', views },
        update: { title: 'changed' },
      });
    const rows = await Promise.all(Array.from({ length: 20 }, (_, index) => upsert(index)));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(await ann.data.article.findMany()).toMatchObject([{ title: 'changed', authorId: '1' }]);
    await expect(
      bob.data.article.upsert({ where: { slug: 'a' }, create: {}, update: { title: 'bob' } }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('writes many rows at once: all, or none', async () => {
    const article = (slug: string) => ({ slug, title: `About ${slug}` });
    const { createMany, updateMany, deleteMany } = bound(ann.data.article);
    const made = await createMany({ data: ['c', 'a', 'b'].map(article) });
    expect(made.map(({ slug }: any) => slug)).toEqual(['c', 'a', 'b']);
    await expect(createMany({ data: ['d', 'a'].map(article) })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const rest = await createMany({ data: ['d', 'a'].map(article), skipDuplicates: true });
    expect(rest.map(({ slug }: any) => slug)).toEqual(['d']);
    await make(bob, 'bob');
    const ofAll = { where: { slug: { ne: 'c' } }, data: { views: 7 } };
    expect(await updateMany(ofAll)).toBe(3);
    expect(await ann.data.article.count({ where: { views: 7 } })).toBe(3);
    expect(await deleteMany({ where: { views: 7 } })).toBe(3);
    await expect(deleteMany({ where: {} })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await ann.sudo().data.article.deleteMany({ where: { id: { ne: 0 } } })).toBe(2);
  });
});

const bound = (data: any) => ({
  createMany: (args: any) => data.createMany(args),
  updateMany: (args: any) => data.updateMany(args),
  deleteMany: (args: any) => data.deleteMany(args),
});
