import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime scalar Date scalar Time scalar BigInt scalar Decimal scalar JSON scalar UUID scalar Byte scalar EmailAddress
  enum Mood { HAPPY SAD }
  type Author { id: ID! penName: String! blogPosts: [BlogPost!]! @relation(inverse: "author") likedPosts: [BlogPost!]! @relation(inverse: "likedBy", table: "post_likes") }
  type BlogPost {
    id: ID!
    headLine: String!
    pageCount: Int
    ratingValue: Float
    isPublic: Boolean!
    publishedAt: DateTime
    bornOn: Date
    opensAt: Time
    totalViews: BigInt
    priceValue: Decimal
    metaData: JSON
    publicKey: UUID
    rawBytes: Byte
    eMail: EmailAddress
    authorMood: Mood
    tagNames: [String!]!
    author: Author!
    likedBy: [Author!]! @relation(inverse: "likedPosts", table: "post_likes")
  }
  type Query { blogPosts: [BlogPost!]! totals: [BlogPost!]! }
`;

const FULL = {
  headLine: 'first',
  pageCount: 3,
  ratingValue: 1.5,
  isPublic: true,
  publishedAt: '2026-01-02T03:04:05.678Z',
  bornOn: '2026-01-02',
  opensAt: '10:00:00',
  totalViews: '9007199254740993',
  priceValue: '12.50',
  metaData: { snake_key: [1, { camelKey: null }] },
  publicKey: '0190a6b2-7c3d-7e4f-8a5b-6c7d8e9fa0b1',
  rawBytes: Buffer.from([0, 255]),
  eMail: 'ann@example.com',
  authorMood: 'HAPPY',
  tagNames: ['a', 'b'],
};

describe.each(databases)('ctx.db on %s speaks the names of the schema', (database) => {
  let server: TestServer;
  let ctx: any;
  let posts: any[];

  beforeAll(async () => {
    const resolvers = {
      Query: {
        totals: (_: unknown, __: unknown, own: any) =>
          own.db.selectFrom('blogPosts').selectAll().orderBy('id').execute(),
      },
    };
    server = await startServer(SDL, { database, resolvers });
    ctx = systemContext({ store: server.store, log: { child: () => ({}) } as never });
    const author = await ctx.data.author.create({ data: { penName: 'Ann' } });
    const more = { authorId: author.id, likedBy: { connect: [{ id: author.id }] } };
    await ctx.data.blogPost.create({
      data: { ...FULL, rawBytes: FULL.rawBytes.toString('base64'), ...more },
    });
    await ctx.data.blogPost.create({
      data: { headLine: 'second', isPublic: false, tagNames: [], authorId: author.id },
    });
    posts = await ctx.data.blogPost.findMany({ orderBy: { id: 'asc' } });
  });
  afterAll(() => server?.close());

  it('and returns rows equal to those of ctx.data, for every scalar (acceptance 9)', async () => {
    expect(posts[0]).toMatchObject({ ...FULL, authorId: '1' });
    const { db } = ctx;
    expect(await db.selectFrom('blogPosts').selectAll().orderBy('id').execute()).toEqual(posts);
    const names = Object.keys(posts[0]);
    const each = names.map(async (name) => {
      const row = await db
        .selectFrom('blogPosts')
        .select([name])
        .where('id', '=', 1)
        .executeTakeFirst();
      expect(row).toEqual({ [name]: posts[0][name] });
    });
    await Promise.all(each);
    const joined = await db
      .selectFrom('blogPosts as p')
      .innerJoin('authors', 'authors.id', 'p.authorId')
      .selectAll('p')
      .select(['authors.penName', 'p.publishedAt as at'])
      .where('p.isPublic', '=', true)
      .execute();
    expect(joined).toEqual([{ ...posts[0], penName: 'Ann', at: FULL.publishedAt }]);
    const raw = await sql`select * from blog_posts order by id`.execute(db);
    expect(raw.rows).toEqual(posts);
  });

  it('as parents of resolvers', async () => {
    const { data, errors } = await server.query(
      '{ totals { headLine totalViews publishedAt isPublic author { penName } } }',
    );
    expect(errors).toBeUndefined();
    const { headLine, totalViews, publishedAt, isPublic } = FULL;
    expect(data.totals[0]).toEqual({
      headLine,
      totalViews,
      publishedAt,
      isPublic,
      author: { penName: 'Ann' },
    });
  });

  it('in writes, conflicts and what they return', async () => {
    const { db } = ctx;
    const values = {
      headLine: 'third',
      isPublic: true,
      tagNames: '[]',
      authorId: '1',
      totalViews: '9007199254740995',
    };
    const made = await db
      .insertInto('blogPosts')
      .values(values)
      .returningAll()
      .executeTakeFirstOrThrow();
    expect(made).toEqual({ ...posts[1], id: made.id, ...values, tagNames: [], isPublic: true });
    const again = await db
      .insertInto('blogPosts')
      .values({ ...values, id: made.id, headLine: 'again' })
      .onConflict((conflict: any) =>
        conflict
          .column('id')
          .doUpdateSet((eb: any) => ({ headLine: eb.ref('excluded.headLine'), pageCount: 9 })),
      )
      .returning(['id', 'headLine', 'pageCount as pages'])
      .execute();
    expect(again).toEqual([{ id: made.id, headLine: 'again', pages: 9 }]);
    const changed = await db
      .updateTable('blogPosts')
      .set({ headLine: 'new', publishedAt: FULL.publishedAt })
      .where('blogPosts.headLine', '=', 'again')
      .returning(['publishedAt', 'blogPosts.totalViews'])
      .execute();
    expect(changed).toEqual([{ publishedAt: FULL.publishedAt, totalViews: values.totalViews }]);
    const [gone] = await db
      .deleteFrom('blogPosts')
      .where('headLine', '=', 'new')
      .returningAll()
      .execute();
    expect(gone.headLine).toBe('new');
    expect(await db.selectFrom('postLikes').selectAll().execute()).toEqual([
      { authorId: '1', blogPostId: '1' },
    ]);
  });

  it('in subqueries, common table expressions, unions, aliases, functions and orders', async () => {
    const { db } = ctx;
    const inner = db.selectFrom('blogPosts').selectAll().as('mine');
    expect(
      await db.selectFrom(inner).selectAll().orderBy('mine.publishedAt').orderBy('id').execute(),
    ).toHaveLength(2);
    expect(
      await db
        .selectFrom(inner)
        .select(['mine.headLine', 'totalViews'])
        .where('isPublic', '=', true)
        .execute(),
    ).toEqual([{ headLine: 'first', totalViews: FULL.totalViews }]);
    const recent = await db
      .with('recentPosts', (qb: any) =>
        qb.selectFrom('blogPosts').select(['id', 'publishedAt', 'authorId as writer']),
      )
      .selectFrom('recentPosts')
      .innerJoin('authors', 'authors.id', 'recentPosts.writer')
      .select(['publishedAt', 'penName'])
      .orderBy('recentPosts.id')
      .execute();
    expect(recent[0]).toEqual({ publishedAt: FULL.publishedAt, penName: 'Ann' });
    const union = await db
      .selectFrom('blogPosts')
      .select('headLine')
      .unionAll(db.selectFrom('authors').select('penName as headLine'))
      .orderBy('headLine')
      .execute();
    expect(union.map(({ headLine }: any) => headLine)).toEqual(['Ann', 'first', 'second']);
    const counted = await db
      .selectFrom('authors')
      .select((eb: any) => [
        'penName',
        eb
          .selectFrom('blogPosts')
          .whereRef('blogPosts.authorId', '=', 'authors.id')
          .select(eb.fn.max('publishedAt').as('last'))
          .as('publishedAt'),
        eb.fn.countAll().over().as('total_count'),
        sql`upper(${sql.ref('penName')})`.as('loud'),
      ])
      .groupBy(['authors.id', 'penName'])
      .having('penName', '=', 'Ann')
      .execute();
    expect(counted).toEqual([
      { penName: 'Ann', publishedAt: FULL.publishedAt, total_count: 1, loud: 'ANN' },
    ]);
    const exists = await db
      .selectFrom('authors')
      .select('penName')
      .where(({ exists: is, selectFrom }: any) =>
        is(
          selectFrom('blogPosts')
            .select('id')
            .whereRef('authorId', '=', 'authors.id')
            .where('headLine', '=', 'first'),
        ),
      )
      .execute();
    expect(exists).toEqual([{ penName: 'Ann' }]);
  });

  it('and still takes those of the database, at its transactions too', async () => {
    const row = await ctx.db
      .transaction()
      .execute((trx: any) =>
        trx
          .selectFrom('blog_posts')
          .select(['published_at', 'blog_posts.author_id as writer'])
          .where('head_line', '=', 'first')
          .executeTakeFirst(),
      );
    expect(row).toEqual({ published_at: FULL.publishedAt, writer: '1' });
    expect(
      await ctx.db.selectFrom('blog_posts').selectAll().orderBy('published_at').execute(),
    ).toHaveLength(2);
  });

  it('reads integers of any size', async () => {
    const { rows } =
      await sql`select 9223372036854775807 as large, 7 as small, sum(total_views) as total_views from blog_posts`.execute(
        ctx.db,
      );
    expect(rows).toEqual([{ large: '9223372036854775807', small: 7, totalViews: FULL.totalViews }]);
  });
});
