import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startRest, type RestServer } from './harness.ts';
import { compareLists } from './random-lists.ts';

/** REST_SCHEMAS=200 REST_SEED=1000 npx vitest run test/rest/differential.test.ts for a long run. */
const SCHEMAS = Number(process.env['REST_SCHEMAS'] ?? 4);
const SEED = Number(process.env['REST_SEED'] ?? 1);
const QUESTIONS = 60;

describe.each(databases)('answers of REST and of GraphQL on %s', (database) => {
  const counts = { rows: 0, filtered: 0, embedded: 0 };

  it.each(Array.from({ length: SCHEMAS }, (_, index) => SEED + index))(
    'are the same for any schema, filter, order, page, selection and embedding, seed %i',
    async (seed) => {
      const { rows, filtered, embedded } = await compareLists(seed, database, QUESTIONS);
      counts.rows += rows;
      counts.filtered += filtered;
      counts.embedded += embedded;
      expect([rows, filtered, embedded].map((count) => count > 0)).toEqual([true, true, true]);
    },
  );

  afterAll(() => {
    if (process.env['REST_SCHEMAS'])
      console.log(
        database,
        SCHEMAS,
        'schemas from seed',
        SEED,
        SCHEMAS * QUESTIONS,
        'lists',
        counts,
      );
  });
});

const sdl = `
scalar DateTime
scalar Decimal
enum Status { DRAFT LIVE GONE }
enum Direction { ASC DESC }
type Author { id: ID! name: String! age: Int posts: [Post!]! }
type Post { id: ID! title: String! status: Status! views: Int! score: Float published: Boolean price: Decimal at: DateTime author: Author! editor: Author tags: [Tag!]! }
type Tag { id: ID! label: String! posts: [Post!]! }
input IdFilter { eq: ID ne: ID in: [ID!] notIn: [ID!] gt: ID lte: ID }
input TextFilter { eq: String ne: String in: [String!] notIn: [String!] lt: String gte: String contains: String startsWith: String endsWith: String }
input IntFilter { eq: Int ne: Int in: [Int!] notIn: [Int!] lt: Int lte: Int gt: Int gte: Int }
input FloatFilter { eq: Float ne: Float lt: Float gte: Float isNull: Boolean }
input BooleanFilter { eq: Boolean ne: Boolean isNull: Boolean }
input StatusFilter { eq: Status ne: Status in: [Status!] notIn: [Status!] }
input DecimalFilter { eq: Decimal gt: Decimal lte: Decimal isNull: Boolean }
input TimeFilter { lt: DateTime gte: DateTime isNull: Boolean }
input PostFilter { id: IdFilter title: TextFilter status: StatusFilter views: IntFilter score: FloatFilter published: BooleanFilter price: DecimalFilter at: TimeFilter authorId: IdFilter }
input PostOrder { id: Direction title: Direction status: Direction views: Direction score: Direction published: Direction price: Direction at: Direction }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
type PostEdge { node: Post! cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type Query { posts(where: PostFilter, orderBy: PostOrder, limit: Int, offset: Int): [Post!]! post(id: ID!): Post postsConnection(where: PostFilter, first: Int, after: String): PostConnection! authors: [Author!]! }
`.replace('editor: Author ', '');

/** The same numbers for the same seed (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;
const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;
const some = <T>(random: Random, values: readonly T[]): T[] => values.filter(() => random() < 0.4);

const WORDS = ['a', 'ab', 'Abc', 'bé', "o'neill", 'x,y', '100%', '_', 'z z', ''];
const STATUSES = ['DRAFT', 'LIVE', 'GONE'];
const TIMES = ['2026-01-01T00:00:00.000Z', '2026-06-01T12:30:00.500Z', '2027-01-01T00:00:00.000Z'];
const PRICES = ['0.10', '2', '10.5', '100'];

/** A value for each field, and the operators that both sides have. */
const FIELDS: Readonly<
  Record<string, { readonly operators: readonly string[]; value(random: Random): unknown }>
> = {
  id: {
    operators: ['eq', 'ne', 'in', 'notIn', 'gt', 'lte'],
    value: (random) => String(1 + Math.floor(random() * 45)),
  },
  title: {
    operators: ['eq', 'ne', 'in', 'notIn', 'lt', 'gte', 'contains', 'startsWith', 'endsWith'],
    value: (random) => pick(random, WORDS),
  },
  status: { operators: ['eq', 'ne', 'in', 'notIn'], value: (random) => pick(random, STATUSES) },
  views: {
    operators: ['eq', 'ne', 'in', 'notIn', 'lt', 'lte', 'gt', 'gte'],
    value: (random) => Math.floor(random() * 6),
  },
  score: {
    operators: ['eq', 'ne', 'lt', 'gte', 'isNull'],
    value: (random) => Math.floor(random() * 8) / 4,
  },
  published: { operators: ['eq', 'ne', 'isNull'], value: (random) => random() < 0.5 },
  price: { operators: ['eq', 'gt', 'lte', 'isNull'], value: (random) => pick(random, PRICES) },
  at: { operators: ['lt', 'gte', 'isNull'], value: (random) => pick(random, TIMES) },
  authorId: {
    operators: ['eq', 'ne', 'in', 'notIn'],
    value: (random) => String(1 + Math.floor(random() * 5)),
  },
};

interface Asked {
  readonly query: string;
  readonly where: Record<string, Record<string, unknown>>;
  readonly orderBy: Record<string, string> | undefined;
  readonly limit: number;
  readonly page: number;
  readonly selection: string;
}

/** One question in the words of both. */
function ask(random: Random): Asked {
  const parameters = new URLSearchParams();
  const where: Record<string, Record<string, unknown>> = {};
  for (const name of some(random, Object.keys(FIELDS)).slice(0, 2))
    addFilter(random, name, parameters, where);
  const sort =
    random() < 0.6
      ? pick(
          random,
          Object.keys(FIELDS).filter((name) => name !== 'authorId'),
        )
      : undefined;
  const order = pick(random, ['asc', 'desc']);
  if (sort) parameters.set('sort', sort);
  if (sort) parameters.set('order', order);
  const [limit, page] = [1 + Math.floor(random() * 20), 1 + Math.floor(random() * 2)];
  parameters.set('limit', String(limit));
  parameters.set('page', String(page));
  const fields = [
    'id',
    ...some(random, ['title', 'status', 'views', 'score', 'published', 'price', 'at']),
  ];
  const include = some(random, ['author', 'tags', 'author.posts']);
  parameters.set(
    'fields',
    [
      ...fields,
      ...(include.includes('author.posts')
        ? ['author.name', 'author.posts.title']
        : include.includes('author')
          ? ['author.name']
          : []),
      ...(include.includes('tags') ? ['tags.label'] : []),
    ].join(','),
  );
  const inside = include.includes('author.posts')
    ? 'author { id name posts { id title } }'
    : include.includes('author')
      ? 'author { id name }'
      : '';
  return {
    query: String(parameters),
    where,
    limit,
    page,
    orderBy: sort ? { [sort]: order.toUpperCase() } : undefined,
    selection: `{ ${fields.join(' ')} ${inside} ${include.includes('tags') ? 'tags { id label }' : ''} }`,
  };
}

function addFilter(
  random: Random,
  name: string,
  parameters: URLSearchParams,
  where: Asked['where'],
): void {
  const { operators, value } = FIELDS[name] as (typeof FIELDS)[string];
  const operator = pick(random, operators);
  const many = operator === 'in' || operator === 'notIn';
  const operand =
    operator === 'isNull'
      ? random() < 0.5
      : many
        ? [value(random), value(random), value(random)]
        : value(random);
  (where[name] ??= {})[operator] = operand;
  const parameter = operator === 'eq' ? name : `${name}_${operator}`;
  for (const item of [operand].flat()) parameters.append(parameter, String(item));
}

describe.each(databases)('a list in REST and in GraphQL on %s', (database) => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRest(sdl, { database });
    const random = randomBy(7);
    const { db } = server.store;
    const rows = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
    const maybe = <T>(value: T): T | null => (random() < 0.3 ? null : value);
    const flag = (value: boolean) => (database === 'sqlite' ? Number(value) : value);
    await db
      .insertInto('authors')
      .values(rows(5, () => ({ name: pick(random, WORDS), age: maybe(30) })))
      .execute();
    await db
      .insertInto('tags')
      .values(rows(4, () => ({ label: pick(random, WORDS) })))
      .execute();
    await db
      .insertInto('posts')
      .values(
        rows(40, () => ({
          title: pick(random, WORDS),
          status: pick(random, STATUSES),
          views: Math.floor(random() * 6),
          score: maybe(Math.floor(random() * 8) / 4),
          published: maybe(flag(random() < 0.5)),
          price: maybe(pick(random, PRICES)),
          at: maybe(pick(random, TIMES)),
          author_id: 1 + Math.floor(random() * 5),
        })),
      )
      .execute();
    const table = server.project.entities
      .flatMap((entity) => entity.fields)
      .flatMap(({ source }) =>
        source.kind === 'many' && source.via.kind === 'table' ? [source.via] : [],
      )[0];
    const links = new Map(
      rows(60, () => [1 + Math.floor(random() * 40), 1 + Math.floor(random() * 4)] as const).map(
        (pair) => [pair.join(), pair],
      ),
    );
    if (table)
      await db
        .insertInto(table.table)
        .values(
          [...links.values()].map(([post, tag]) =>
            String(table.own).startsWith('post')
              ? { [String(table.own)]: post, [String(table.other)]: tag }
              : { [String(table.own)]: tag, [String(table.other)]: post },
          ),
        )
        .execute();
  });
  afterAll(() => server.close());

  it('is the same for any filter, order, page and selection', async () => {
    const random = randomBy(SEED);
    let rows = 0;
    for (let round = 0; round < 200; round++) {
      const asked = ask(random);
      const { where, orderBy, limit, page, selection, query } = asked;
      const expected = await server.query(
        `query($where: PostFilter, $orderBy: PostOrder, $limit: Int, $offset: Int) { posts(where: $where, orderBy: $orderBy, limit: $limit, offset: $offset) ${selection} postsConnection(where: $where) { totalCount } }`,
        { where, ...(orderBy && { orderBy }), limit, offset: (page - 1) * limit },
      );
      expect([query, expected.errors]).toEqual([query, undefined]);
      server.statements();
      const { body } = await server.get(`/api/posts?${query}`);
      expect(server.statements().length).toBe(1);
      const total = expected.data.postsConnection.totalCount;
      expect([query, body]).toEqual([
        query,
        {
          data: expected.data.posts,
          pagination: { total, page, page_size: limit, total_pages: Math.ceil(total / limit) },
        },
      ]);
      rows += body.data.length;
    }
    // The questions are such that most of them have answers.
    expect(rows).toBeGreaterThan(400);
  });

  it('is made of the objects that are got one by one', async () => {
    const { body } = await server.get('/api/posts?limit=100&include=author,tags');
    for (const post of body.data)
      expect((await server.get(`/api/posts/${post.id}?include=author,tags`)).body).toEqual(post);
  });
});
