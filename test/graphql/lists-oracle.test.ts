import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';
import { DISTINCT, randomOrder, randomRows, Seen, sorted, type World } from './lists-oracle.ts';
import { applyNested, randomNested, Refused } from './nested-oracle.ts';
import { createRandom, type Random } from './random-schema.ts';

/** More of them: LISTS_SEEDS=200 LISTS_SEED=1 npx vitest run test/graphql/lists-oracle.test.ts */
const SEEDS = Number(process.env['LISTS_SEEDS'] ?? 2);
const SEED = Number(process.env['LISTS_SEED'] ?? 11);
const QUERIES = Number(process.env['LISTS_QUERIES'] ?? 20);
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

const SDL = `
  scalar Decimal
  enum Direction { ASC DESC } enum Nulls { FIRST LAST }
  input Sort { direction: Direction! nulls: Nulls } input Count { count: Direction }
  input AuthorOrder { name: Direction score: Sort boss: AuthorOrder publishedPosts: Count }
  input PostOrder { title: Direction views: Sort price: Direction author: AuthorOrder comments: Count tags: Count commentsCount: Direction hot: Direction }
  enum PostField { AUTHOR VIEWS price TITLE }
  input IntFilter { gte: Int lt: Int }
  input PostFilter { commentsCount: IntFilter hot: Boolean }
  type User { id: ID! email: String! }
  type Author @auth(allow: [USER], where: { hidden: false }, on: [READ]) @auth(allow: [ROLE], roles: ["Admin"]) {
    id: ID! name: String score: Int hidden: Boolean! boss: Author posts: [Post!]! publishedPosts: [Post!]! @list(where: { views: { gte: 1 } })
  }
  type Post {
    id: ID! title: String! views: Int price: Decimal author: Author comments: [Comment!]! tags: [Tag!]!
    commentsCount: Int! @count(relation: "comments")
    hot: Boolean! @exists(relation: "comments", where: { or: [{ text: "c2" }, { not: { or: [{ locked: true }, { text: { gt: "c3" } }] } }] })
  }
  type Comment
    @auth(allow: [ROLE], roles: ["Admin"])
    @auth(allow: [USER], where: { hidden: false }, on: [READ])
    @auth(allow: [USER], where: { locked: false }, on: [UPDATE DELETE])
    @auth(allow: [USER], on: [CREATE]) {
    id: ID! text: String! hidden: Boolean! @default(value: false) locked: Boolean! @default(value: false) post: Post
  }
  type Tag @auth(allow: [USER], where: { secret: false }) @auth(allow: [ROLE], roles: ["Admin"]) {
    id: ID! name: String! @unique secret: Boolean! @default(value: false) posts: [Post!]!
  }
  type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type PostEdge { node: Post! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  input Key { id: ID! } input TagKey { id: ID name: String }
  input NewComment { text: String! } input CommentUpdate { where: Key! data: NewComment! }
  input Comments { create: [NewComment!] connect: [Key!] disconnect: [Key!] set: [Key!] update: [CommentUpdate!] delete: [Key!] }
  input NewTag { name: String } input NamedTag { name: String! } input TagUpdate { where: TagKey! data: NamedTag! }
  input TagOrNew { where: TagName! create: NewTag! } input TagName { name: String! }
  input Tags { create: [NamedTag!] connect: [TagKey!] connectOrCreate: [TagOrNew!] disconnect: [TagKey!] set: [TagKey!] update: [TagUpdate!] delete: [TagKey!] }
  input PostPatch { comments: Comments tags: Tags }
  type Query {
    posts(where: PostFilter, orderBy: [PostOrder!], distinct: [PostField!], limit: Int, offset: Int): [Post!]!
    pages(where: PostFilter, orderBy: [PostOrder!], distinct: [PostField!], first: Int, after: String, last: Int, before: String): PostConnection! @resolve(as: LIST)
    comments: [Comment!]! tags: [Tag!]!
  }
  type Mutation { updatePost(id: ID!, input: PostPatch!): Post }
`;
const MANIFEST =
  'name: oracle\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n';
const CALLERS = [user(1), user(9, 'Admin')] as const;
const TABLES = ['post_tags', 'comments', 'tags', 'posts', 'authors'];

async function fill({ store }: TestServer, world: World): Promise<void> {
  const flag = (value: boolean) => (store.dialect === 'sqlite' ? Number(value) : value);
  const insert = async (table: string, rows: readonly object[]) => {
    if (rows.length > 0)
      await store.db
        .insertInto(table)
        .values(rows as never)
        .execute();
    if (store.dialect === 'postgres' && table !== 'post_tags')
      await store.query(`select setval(pg_get_serial_sequence('${table}', 'id'), 900)`, []);
  };
  for (const table of TABLES) await store.db.deleteFrom(table).execute();
  for (const { boss, hidden, ...row } of world.authors)
    await insert('authors', [{ ...row, boss_id: boss, hidden: flag(hidden) }]);
  await insert(
    'posts',
    world.posts.map(({ author, ...row }) => ({ ...row, author_id: author })),
  );
  await insert(
    'comments',
    world.comments.map(({ post, hidden, locked, ...row }) => ({
      ...row,
      post_id: post,
      hidden: flag(hidden),
      locked: flag(locked),
    })),
  );
  await insert(
    'tags',
    world.tags.map(({ secret, ...row }) => ({ ...row, secret: flag(secret) })),
  );
  await insert(
    'post_tags',
    [...world.pairs].map((pair) => {
      const [post_id, tag_id] = pair.split(':').map(Number);
      return { post_id, tag_id };
    }),
  );
}

const copyOf = (world: World): World => ({
  ...world,
  comments: world.comments.map((each) => ({ ...each })),
  tags: world.tags.map((each) => ({ ...each })),
  pairs: new Set(world.pairs),
});

/** What there is, without the keys of new rows. */
const stateOf = ({ comments, tags, pairs }: World) => ({
  comments: comments.map(({ text, post }) => `${text}:${post ?? '-'}`).sort(),
  tags: tags
    .map(
      ({ id, name }) =>
        `${name} ${[...pairs]
          .filter((pair) => pair.endsWith(`:${id}`))
          .map((pair) => pair.split(':')[0])
          .sort()
          .join()}`,
    )
    .sort(),
});

describe.each(databases)(
  'orders, distinct and nested writes beside an oracle, on %s',
  (database) => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer(SDL, { database, manifest: MANIFEST });
    });
    afterAll(() => server?.close());

    const asked = (random: Random) => {
      const order = randomOrder(random);
      const distinct = Object.keys(DISTINCT).filter(() => random.chance(0.2));
      const filter = random.pick([
        { where: {}, keeps: () => true },
        {
          where: { commentsCount: { gte: 1 } },
          keeps: (seen: Seen, id: number) => seen.comments(id).length >= 1,
        },
        { where: { hot: false }, keeps: (seen: Seen, id: number) => !seen.hot(id) },
      ]);
      const variables = {
        orderBy: order.map(({ written }) => written),
        distinct,
        where: filter.where,
      };
      const expected = (world: World, seen: Seen) =>
        sorted(
          world.posts.filter(({ id }) => filter.keeps(seen, id)),
          seen,
          { order, distinct },
        ).map(({ id }) => String(id));
      return { variables, expected };
    };

    const QUERY = `query ($orderBy: [PostOrder!], $distinct: [PostField!], $where: PostFilter, $limit: Int, $offset: Int) {
    posts(orderBy: $orderBy, distinct: $distinct, where: $where, limit: $limit, offset: $offset) { id } }`;
    const PAGE = (
      side: 'first' | 'last',
    ) => `query ($orderBy: [PostOrder!], $distinct: [PostField!], $where: PostFilter, $size: Int, $cursor: String) {
    pages(orderBy: $orderBy, distinct: $distinct, where: $where, ${side}: $size, ${side === 'first' ? 'after' : 'before'}: $cursor) {
      totalCount edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

    const read = async (
      query: string,
      variables: Record<string, unknown>,
      as: (typeof CALLERS)[number],
    ) => {
      server.statements();
      const { data, errors } = await server.query(query, variables, as);
      expect([variables, errors]).toEqual([variables, undefined]);
      expect(server.statements()).toHaveLength(1);
      return Object.values<any>(data)[0];
    };

    it.each(seeds)(
      'answer in its order, in both directions, seed %i',
      { timeout: 120_000 },
      async (seed) => {
        const random = createRandom(seed);
        const world = randomRows(random);
        await fill(server, world);
        for (let round = 0; round < QUERIES; round += 1) {
          const as = random.pick(CALLERS);
          const { variables, expected } = asked(random);
          const all = expected(world, new Seen(world, as === CALLERS[1]));
          const [limit, offset] = [random.below(5), random.below(4)];
          const list = await read(QUERY, { ...variables, limit, offset }, as);
          const note = [as.kind === 'user' && as.role?.name, variables, limit, offset];
          expect([note, list.map(({ id }: any) => id)]).toEqual([
            note,
            all.slice(offset, offset + limit),
          ]);
          for (const side of ['first', 'last'] as const) {
            const met: string[] = [];
            let cursor: string | null = null;
            for (let more = true, pages = 0; more && pages < 20; pages += 1) {
              const page: any = await read(PAGE(side), { ...variables, size: 3, cursor }, as);
              expect([note, page.totalCount]).toEqual([note, all.length]);
              const ids = page.edges.map(({ node }: any) => node.id);
              met.splice(side === 'first' ? met.length : 0, 0, ...ids);
              cursor = side === 'first' ? page.pageInfo.endCursor : page.pageInfo.startCursor;
              more = side === 'first' ? page.pageInfo.hasNextPage : page.pageInfo.hasPreviousPage;
            }
            expect([note, side, met]).toEqual([note, side, all]);
          }
        }
      },
    );

    it.each(seeds)(
      'write what it writes, or nothing, seed %i',
      { timeout: 120_000 },
      async (seed) => {
        const random = createRandom(seed + 1000);
        let world = randomRows(random);
        await fill(server, world);
        for (let round = 0; round < QUERIES; round += 1) {
          const [as, post] = [random.pick(CALLERS), 1 + random.below(world.posts.length)];
          const input = randomNested(random, world);
          const after = copyOf(world);
          let code = 'done';
          try {
            applyNested(after, post, input, as === CALLERS[1]);
            world = after;
          } catch (error) {
            if (!(error instanceof Refused)) throw error;
            code = error.message;
          }
          const { errors } = await server.query(
            'mutation ($id: ID!, $input: PostPatch!) { updatePost(id: $id, input: $input) { id } }',
            { id: String(post), input },
            as,
          );
          const note = [round, as.kind === 'user' && as.role?.name, post, JSON.stringify(input)];
          expect([note, errors?.[0].extensions.code ?? 'done']).toEqual([note, code]);
          world = await stored(world, note);
        }
      },
    );

    /** Reads the world back, with the keys of new rows. */
    async function stored(world: World, note: unknown): Promise<World> {
      const found = await server.store.query(
        'select id, text, hidden, locked, post_id from comments order by id',
        [],
      );
      const tags = await server.store.query('select id, name, secret from tags order by id', []);
      const pairs = await server.store.query('select post_id, tag_id from post_tags', []);
      const next: World = {
        ...world,
        comments: found.map((row: any) => ({
          id: Number(row.id),
          text: row.text,
          hidden: Boolean(row.hidden),
          locked: Boolean(row.locked),
          post: row.post_id === null ? null : Number(row.post_id),
        })),
        tags: tags.map((row: any) => ({
          id: Number(row.id),
          name: row.name,
          secret: Boolean(row.secret),
        })),
        pairs: new Set(pairs.map((row: any) => `${row.post_id}:${row.tag_id}`)),
      };
      expect([note, stateOf(next)]).toEqual([note, stateOf(world)]);
      return next;
    }
  },
);
