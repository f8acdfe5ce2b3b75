import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime scalar BigInt scalar Decimal
  enum Status { DRAFT LIVE }
  enum Direction { ASC DESC }
  type User @auth(allow: [PUBLIC], on: [READ]) {
    id: ID! name: String! email: String! posts: [Post!]!
    postsAggregate(where: PostFilter): PostAggregate!
    postsGroups(by: [PostGroupBy!]!): [PostGroup!]!
    secretsAggregate: SecretAggregate!
  }
  type Post @auth(allow: [PUBLIC]) {
    id: ID! title: String! status: Status views: Int big: BigInt price: Decimal score: Float
    author: User createdAt: DateTime! secret: Secret
    salary: Int @auth(allow: [OWNER], owner: "author", on: [READ])
    hidden: Int @auth(allow: [ROLE], roles: ["Admin"], on: [READ])
  }
  type Secret @auth(allow: [OWNER], owner: "owner") { id: ID! owner: User value: Int! }
  type Query {
    users: [User!]!
    own: User @resolve(as: CUSTOM)
    postsAggregate(where: PostFilter): PostAggregate!
    secretsAggregate: SecretAggregate!
    strict: StrictPost @resolve(as: CUSTOM)
    postsGroups(where: PostFilter, by: [PostGroupBy!]!, having: PostGroupFilter, orderBy: [PostGroupOrder!], limit: Int, offset: Int): [PostGroup!]!
    postsConnection(first: Int, where: PostFilter): PostConnection!
  }
  type StrictPost { title: String }
  type PostConnection { edges: [PostEdge!]! totalCount: Int! aggregate: PostAggregate! }
  type PostEdge { node: Post! cursor: String! }
  input PostFilter { views: IntFilter title: StringFilter }
  input IntFilter { eq: Int ne: Int gt: Int gte: Int lt: Int in: [Int] notIn: [Int!] isNull: Boolean or: [IntFilter!] }
  input BigIntFilter { eq: BigInt gt: BigInt in: [BigInt!] }
  input DecimalFilter { eq: Decimal gt: Decimal }
  input FloatFilter { gt: Float eq: Float }
  input StringFilter { eq: String }
  input DateTimeFilter { gte: DateTime }
  type PostAggregate { count: Int! countDistinct: PostCounts! sum: PostSums! avg: PostAverages! min: PostValues! max: PostValues! }
  type SecretAggregate { count: Int! sum: SecretSums! }
  type SecretSums { value: Int! }
  type PostGroup { key: PostKey! count: Int! sum: PostSums! max: PostValues! }
  type PostCounts { author: Int! status: Int! price: Int! secret: Int! }
  type PostSums { views: Int big: BigInt price: Decimal score: Float salary: Int hidden: Int }
  type PostAverages { views: Float big: Float price: Decimal score: Float }
  type PostValues { views: Int big: BigInt price: Decimal score: Float createdAt: DateTime title: String status: Status }
  type PostKey { status: Status author: User createdAt: DateTime price: Decimal salary: Int secret: Secret }
  enum PostGroupBy { STATUS AUTHOR CREATED_AT CREATED_AT_HOUR CREATED_AT_DAY CREATED_AT_WEEK CREATED_AT_MONTH CREATED_AT_YEAR price SALARY HIDDEN SECRET }
  input PostGroupFilter { count: IntFilter sum: PostSumsFilter avg: PostAveragesFilter min: PostTextsFilter max: PostValuesFilter or: [PostGroupFilter!] not: PostGroupFilter }
  input PostSumsFilter { views: IntFilter big: BigIntFilter price: DecimalFilter hidden: IntFilter }
  input PostAveragesFilter { views: FloatFilter price: DecimalFilter }
  input PostValuesFilter { createdAt: DateTimeFilter }
  input PostTextsFilter { title: TextFilter }
  enum CaseMode { SENSITIVE INSENSITIVE }
  input TextFilter { contains: String in: [String] mode: CaseMode or: [TextFilter!] isNull: Boolean }
  input PostGroupOrder { count: Direction sum: PostSumsOrder key: PostKeyOrder }
  input PostSumsOrder { big: Direction views: Direction price: Direction hidden: Direction }
  input PostKeyOrder { status: Direction createdAt: Direction }
`;

const ROWS = [
  ['a', 'LIVE', 3, '9223372036854775807', '1.50', 1.5, 1, '2024-01-01T10:00:00.000Z', 100],
  ['b', 'LIVE', 4, '9223372036854775807', '10.25', 2, 2, '2024-01-07T23:59:59.999Z', 200],
  ['c', 'DRAFT', null, '-1', '0.1', null, 1, '1965-06-16T00:00:00.000Z', 300],
  ['d', null, 10, null, null, 0.5, null, '2040-02-29T12:00:00.000Z', null],
] as const;

const MANIFEST =
  'name: summed\napi: { access: public }\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n';

describe.each(databases)('aggregates on %s', (database) => {
  let server: TestServer;
  const admin = user(9, 'Admin');
  const ada = user(1);

  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      resolvers: { Query: { own: () => ({ id: 1 }) } },
    });
    const insert = (table: string, row: object) =>
      server.store.db
        .insertInto(table as never)
        .values(row as never)
        .execute();
    for (const name of ['Ada', 'Bob']) await insert('users', { name, email: `${name}@x.test` });
    for (const owner_id of [1, 2, 2]) await insert('secrets', { owner_id, value: owner_id * 10 });
    for (const [index, row] of ROWS.entries()) {
      const [title, status, views, big, price, score, author_id, created_at, salary] = row;
      const exact = big !== null && database === 'sqlite' ? BigInt(big) : big;
      const secret_id = index < 3 ? index + 1 : null;
      const post = { title, status, views, big: exact, price, score, author_id, created_at };
      await insert('posts', { ...post, salary, hidden: 1, secret_id });
    }
    server.statements();
  });
  afterAll(() => server?.close());

  const ask = async (query: string, as = admin) => {
    const { data, errors } = await server.query(query, {}, as);
    expect(errors).toBeUndefined();
    return data;
  };

  it('are exact, and all of one root field are in its one statement', async () => {
    const { postsAggregate } = await ask(`{ postsAggregate {
      count countDistinct { author status price }
      sum { views big price score } avg { views big price score }
      min { views big price score createdAt title status } max { views big price createdAt } } }`);
    // On SQLite a sum beyond 64 bits is refused first, see `overflowing.ts`; afterwards it is not.
    expect(server.statements().length).toBe(database === 'sqlite' ? 2 : 1);
    await ask('{ postsAggregate { count sum { views price } avg { price } max { title } } }');
    expect(server.statements().length).toBe(1);
    expect(postsAggregate).toEqual({
      count: 4,
      countDistinct: { author: 2, status: 2, price: 3 },
      sum: { views: 17, big: '18446744073709551613', price: '11.85', score: 4 },
      avg: { views: 17 / 3, big: Number(18446744073709551613n) / 3, price: '3.95', score: 4 / 3 },
      min: {
        views: 3,
        big: '-1',
        price: '0.1',
        score: 0.5,
        createdAt: '1965-06-16T00:00:00.000Z',
        title: 'a',
        status: 'DRAFT',
      },
      max: {
        views: 10,
        big: '9223372036854775807',
        price: '10.25',
        createdAt: '2040-02-29T12:00:00.000Z',
      },
    });
  });

  it('of no rows have the count 0 and no other value', async () => {
    const { postsAggregate } = await ask(`{ postsAggregate(where: { views: { gt: 99 } }) {
      count countDistinct { author } sum { views big price score } avg { views price } min { title } } }`);
    expect(postsAggregate).toEqual({
      count: 0,
      countDistinct: { author: 0 },
      sum: { views: null, big: null, price: null, score: null },
      avg: { views: null, price: null },
      min: { title: null },
    });
    expect(
      await ask('{ postsGroups(by: [STATUS], where: { views: { gt: 99 } }) { count } }'),
    ).toEqual({
      postsGroups: [],
    });
  });

  it('stand on a parent and in a connection, over all that the filter lets through', async () => {
    const data = await ask(`{
      users { name postsAggregate(where: { views: { gt: 1 } }) { count sum { views } } postsGroups(by: [STATUS]) { key { status } count } }
      postsConnection(first: 1, where: { views: { gt: 3 } }) { aggregate { count max { title } } edges { node { title } } }
      own { postsAggregate { count } postsGroups(by: [STATUS]) { count } } }`);
    expect(data.users).toEqual([
      {
        name: 'Ada',
        postsAggregate: { count: 1, sum: { views: 3 } },
        postsGroups: [
          { key: { status: 'DRAFT' }, count: 1 },
          { key: { status: 'LIVE' }, count: 1 },
        ],
      },
      {
        name: 'Bob',
        postsAggregate: { count: 1, sum: { views: 4 } },
        postsGroups: [{ key: { status: 'LIVE' }, count: 1 }],
      },
    ]);
    expect(data.postsConnection).toEqual({
      aggregate: { count: 2, max: { title: 'd' } },
      edges: [{ node: { title: 'b' } }],
    });
    expect(data.own).toEqual({
      postsAggregate: { count: 2 },
      postsGroups: [{ count: 1 }, { count: 1 }],
    });
  });

  it('an order may repeat itself, and a having is as small as a filter', async () => {
    const find = `query ($having: PostGroupFilter, $orderBy: [PostGroupOrder!]) {
      postsGroups(by: [STATUS], having: $having, orderBy: $orderBy) { count } }`;
    const orderBy = Array.from({ length: 3000 }, () => ({ count: 'DESC' }));
    const { data } = await server.query(find, { orderBy });
    expect(data.postsGroups.map(({ count }: { count: number }) => count)).toEqual([2, 1, 1]);
    const or = Array.from({ length: 1000 }, () => ({ sum: { views: { gt: 5 } } }));
    const { errors } = await server.query(find, { having: { or } });
    expect(errors?.[0].extensions.code).toBe('TOO_COSTLY');
  });

  it('group by values, objects and times, in the order of the key, null as a key of its own', async () => {
    const data = await ask(`{
      status: postsGroups(by: [STATUS]) { key { status createdAt } count sum { views big } max { title } }
      author: postsGroups(by: [AUTHOR]) { key { author { name } } count }
      week: postsGroups(by: [CREATED_AT_WEEK, STATUS]) { key { createdAt status } count }
      price: postsGroups(by: [price]) { key { price } } }`);
    expect(data.status).toEqual([
      {
        key: { status: 'DRAFT', createdAt: null },
        count: 1,
        sum: { views: null, big: '-1' },
        max: { title: 'c' },
      },
      {
        key: { status: 'LIVE', createdAt: null },
        count: 2,
        sum: { views: 7, big: '18446744073709551614' },
        max: { title: 'b' },
      },
      {
        key: { status: null, createdAt: null },
        count: 1,
        sum: { views: 10, big: null },
        max: { title: 'd' },
      },
    ]);
    expect(data.author).toEqual([
      { key: { author: { name: 'Ada' } }, count: 2 },
      { key: { author: { name: 'Bob' } }, count: 1 },
      { key: { author: null }, count: 1 },
    ]);
    expect(data.week).toEqual([
      { key: { createdAt: '1965-06-14T00:00:00.000Z', status: 'DRAFT' }, count: 1 },
      { key: { createdAt: '2024-01-01T00:00:00.000Z', status: 'LIVE' }, count: 2 },
      { key: { createdAt: '2040-02-27T00:00:00.000Z', status: null }, count: 1 },
    ]);
    expect(data.price.map(({ key }: any) => key.price)).toEqual(['0.1', '1.5', '10.25', null]);
  });

  it.each([
    ['HOUR', ['1965-06-16T00', '2024-01-01T10', '2024-01-07T23', '2040-02-29T12']],
    ['DAY', ['1965-06-16T00', '2024-01-01T00', '2024-01-07T00', '2040-02-29T00']],
    ['WEEK', ['1965-06-14T00', '2024-01-01T00', '2040-02-27T00']],
    ['MONTH', ['1965-06-01T00', '2024-01-01T00', '2040-02-01T00']],
    ['YEAR', ['1965-01-01T00', '2024-01-01T00', '2040-01-01T00']],
  ])('begin the key of a time at its %s in UTC', async (unit, beginnings) => {
    const { postsGroups } = await ask(
      `{ postsGroups(by: [CREATED_AT_${unit}]) { key { createdAt } } }`,
    );
    expect(postsGroups.map(({ key }: any) => key.createdAt)).toEqual(
      beginnings.map((hour) => `${hour}:00:00.000Z`),
    );
  });

  it('are filtered by having, ordered and paged', async () => {
    const keys = async (args: string) =>
      (
        await ask(`{ postsGroups(by: [AUTHOR], ${args}) { key { author { id } } } }`)
      ).postsGroups.map(({ key }: any) => key.author && key.author.id);
    expect(await keys('having: { count: { gt: 1 } }')).toEqual(['1']);
    expect(await keys('having: { sum: { big: { gt: "9223372036854775806" } } }')).toEqual(['2']);
    expect(await keys('having: { sum: { big: { in: ["9223372036854775806"] } } }')).toEqual(['1']);
    expect(await keys('having: { sum: { price: { eq: "1.6" } } }')).toEqual(['1']);
    expect(await keys('having: { avg: { views: { gt: 3.5 } } }')).toEqual(['2', null]);
    expect(await keys('having: { sum: { views: { ne: 3 } } }')).toEqual(['2', null]);
    expect(await keys('having: { max: { createdAt: { gte: "2024-01-02T00:00:00Z" } } }')).toEqual([
      '2',
      null,
    ]);
    expect(
      await keys('having: { or: [{ count: { eq: 2 } }, { sum: { views: { eq: 4 } } }] }'),
    ).toEqual(['1', '2']);
    expect(await keys('having: { not: { count: { in: [2, null] } } }')).toEqual(['2', null]);
    expect(
      await keys(
        'having: { min: { title: { mode: INSENSITIVE, or: [{ contains: "A" }, { in: ["D"] }] } } }',
      ),
    ).toEqual(['1', null]);
    expect(await keys('having: { count: { or: [{ eq: 2 }, { isNull: true }] } }')).toEqual(['1']);
    expect(await keys('orderBy: [{ sum: { big: DESC } }]')).toEqual([null, '2', '1']);
    expect(await keys('orderBy: [{ count: ASC }, { sum: { price: DESC } }]')).toEqual([
      null,
      '2',
      '1',
    ]);
    expect(await keys('orderBy: { count: DESC }, limit: 1, offset: 1')).toEqual(['2']);
    expect(
      (await server.query('{ postsGroups(by: [STATUS], limit: 101) { count } }')).errors,
    ).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', field: 'limit', limit: 100 } }]);
  });

  it('take no value and no row that the caller may not read', async () => {
    const query = `{ postsAggregate { sum { salary views } countDistinct { secret } } secretsAggregate { count sum { value } }
      postsGroups(by: [SALARY]) { key { salary } count } bySecret: postsGroups(by: [SECRET]) { key { secret { value } } count } }`;
    expect(await ask(query, ada)).toEqual({
      postsAggregate: { sum: { salary: 400, views: 17 }, countDistinct: { secret: 1 } },
      secretsAggregate: { count: 1, sum: { value: 10 } },
      postsGroups: [
        { key: { salary: 100 }, count: 1 },
        { key: { salary: 300 }, count: 1 },
        { key: { salary: null }, count: 2 },
      ],
      bySecret: [
        { key: { secret: { value: 10 } }, count: 1 },
        { key: { secret: null }, count: 3 },
      ],
    });
  });

  it('refuse a field that the caller may read in no row at its path', async () => {
    expect(
      await server.query('{ postsAggregate { count sum { hidden views } } }', {}, ada),
    ).toMatchObject({
      data: { postsAggregate: { count: 4, sum: { hidden: null, views: 17 } } },
      errors: [{ path: ['postsAggregate', 'sum', 'hidden'], extensions: { code: 'FORBIDDEN' } }],
    });
    for (const args of [
      'by: [HIDDEN]',
      'by: [STATUS], having: { sum: { hidden: { gt: 0 } } }',
      'by: [STATUS], orderBy: [{ sum: { hidden: ASC } }]',
    ])
      expect(
        (await server.query(`{ postsGroups(${args}) { count } }`, {}, ada)).errors,
      ).toMatchObject([{ path: ['postsGroups'], extensions: { code: 'FORBIDDEN' } }]);
    expect((await ask('{ postsAggregate { sum { hidden } } }')).postsAggregate.sum.hidden).toBe(4);
  });

  it('say where a number is too large for its type, instead of another number', async () => {
    const change = (views: number) =>
      server.store.db
        .updateTable('posts' as never)
        .set({ views } as never)
        .where('title' as never, '=', 'a' as never)
        .execute();
    await change(2147483647);
    expect(
      await server.query(
        '{ postsAggregate { count sum { views } avg { views } } postsGroups(by: [AUTHOR]) { sum { views } } }',
      ),
    ).toEqual({
      data: {
        postsAggregate: { count: 4, sum: { views: null }, avg: { views: (2147483647 + 14) / 3 } },
        postsGroups: [
          { sum: { views: 2147483647 } },
          { sum: { views: 4 } },
          { sum: { views: 10 } },
        ],
      },
      errors: [
        expect.objectContaining({
          path: ['postsAggregate', 'sum', 'views'],
          extensions: { code: 'OUT_OF_RANGE' },
        }),
      ],
    });
    await change(3);
  });

  it('say that a required number is missing', async () => {
    expect(
      await server.query('{ secretsAggregate { count sum { value } } }', {}, user(7)),
    ).toMatchObject({
      data: null,
      errors: [{ path: ['secretsAggregate', 'sum', 'value'] }],
    });
  });

  it.each([
    ['by: []', 'by must name a field'],
    ['by: [CREATED_AT_DAY, CREATED_AT_WEEK]', 'by may name createdAt once, with one unit of time'],
    [
      'by: [STATUS], orderBy: [{ key: { createdAt: ASC } }]',
      'the groups are not by createdAt, so its key has no order',
    ],
    [
      'by: [STATUS], having: { count: { gt: null } }',
      'having.count.gt must not be null: write eq: null or ne: null',
    ],
  ])('refuse %s', async (args, message) => {
    expect((await server.query(`{ postsGroups(${args}) { count } }`)).errors).toMatchObject([
      { message, extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });
});
