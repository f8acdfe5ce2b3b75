import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime scalar Decimal
  enum Direction { ASC DESC } enum Nulls { FIRST LAST }
  input Sort { direction: Direction! nulls: Nulls }
  input IntFilter { eq: Int gte: Int in: [Int] }
  enum PostField { AUTHOR TITLE price views }
  enum PostSort { COMMENTS_COUNT_DESC TITLE_ASC DISCUSSED_ASC }
  enum PostBy { VIEWS commentsCount }
  input PostPair { field: PostBy! direction: Direction nulls: Nulls }
  input UserOrder { name: Direction id: Direction boss: UserOrder posts: CountOrder salary: Direction secret: SecretOrder }
  input SecretOrder { word: Direction }
  input CountOrder { count: Direction }
  input PostOrder { title: Direction views: Sort price: Direction author: UserOrder comments: CountOrder commentsCount: Direction discussed: Direction }
  input PostFilter { commentsCount: IntFilter discussed: Boolean title: String }
  type Secret @auth(allow: [ROLE], roles: ["Admin"], on: [READ]) { id: ID! word: String! }
  type User @auth(allow: [PUBLIC], on: [READ]) {
    id: ID! name: String email: String! boss: User posts: [Post!]! secret: Secret
    salary: Int @auth(allow: [ROLE], roles: ["Admin"], on: [READ])
  }
  type Comment @auth(allow: [PUBLIC], on: [READ], where: { hidden: false }) @auth(allow: [ROLE], roles: ["Admin"], on: [READ]) {
    id: ID! hidden: Boolean! post: Post!
  }
  type Post {
    id: ID! title: String! views: Int price: Decimal author: User comments: [Comment!]!
    commentsCount: Int! @count(relation: "comments")
    discussed: Boolean! @exists(relation: "comments")
  }
  type PostEdge { node: Post! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type Query {
    posts(where: PostFilter, orderBy: [PostOrder!], distinct: [PostField!], limit: Int, offset: Int): [Post!]!
    sorted(orderBy: [PostSort!]): [Post!]! @resolve(as: LIST)
    paired(orderBy: PostPair): [Post!]! @resolve(as: LIST)
    pages(where: PostFilter, orderBy: [PostOrder!], distinct: [PostField!], first: Int, after: String, last: Int, before: String): PostConnection! @resolve(as: LIST)
    users(orderBy: [UserOrder!]): [User!]!
  }
`;

const MANIFEST =
  'name: ordered\napi: { access: public }\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n';
const admin = user(9, 'Admin');

/** title, views, price, author; comments as hidden or not. */
const POSTS: readonly (readonly [
  string,
  number | null,
  string | null,
  number | null,
  boolean[],
])[] = [
  ['a', 3, '1.50', 1, [false, true]],
  ['b', null, '1.5', 2, []],
  ['c', 1, '10', 1, [true, true, true]],
  ['d', null, null, null, [false]],
  ['e', 3, '9', 3, [false, false, false]],
];

describe.each(databases)('ordered lists on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST });
    const { db } = server.store;
    for (const [name, boss_id, salary] of [
      ['Zoe', null, 5],
      ['Bob', 1, 7],
      [null, 2, 6],
    ])
      await db
        .insertInto('users')
        .values({ name, email: `${name}@x.test`, boss_id, salary })
        .execute();
    for (const [index, [title, views, price, author_id, comments]] of POSTS.entries()) {
      await db.insertInto('posts').values({ title, views, price, author_id }).execute();
      for (const hidden of comments)
        await db
          .insertInto('comments')
          .values({ hidden: database === 'sqlite' ? Number(hidden) : hidden, post_id: index + 1 })
          .execute();
    }
  });
  afterAll(() => server?.close());

  const titles = async (query: string, as = admin) => {
    server.statements();
    const { data, errors } = await server.query(query, {}, as);
    if (errors) return errors.map(({ extensions }) => extensions.code).join();
    expect(server.statements()).toHaveLength(1);
    const [list] = Object.values<any>(data);
    return (list.edges?.map(({ node }: any) => node) ?? list)
      .map(({ title, name }: any) => title ?? name ?? '-')
      .join('');
  };
  const posts = (args: string, as = admin) => titles(`{ posts(${args}) { title } }`, as);

  it('sort by a field of a related row, over several steps, and rows without one as null', async () => {
    expect(await posts('orderBy: { author: { name: ASC } }')).toBe('bacde');
    expect(await posts('orderBy: { author: { name: DESC } }')).toBe('deacb');
    expect(await posts('orderBy: { author: { boss: { name: ASC } } }')).toBe('ebacd');
    expect(await posts('orderBy: [{ author: { boss: { name: DESC }, name: ASC } }]')).toBe('acdbe');
  });

  it('sort by the number of related rows that the caller may read', async () => {
    expect(await posts('orderBy: { comments: { count: DESC } }')).toBe('ceadb');
    expect(await posts('orderBy: { comments: { count: DESC } }', user(1))).toBe('eadbc');
    expect(await posts('orderBy: [{ author: { posts: { count: DESC } } }]')).toBe('dacbe');
    expect(await posts('orderBy: { commentsCount: DESC }', user(1))).toBe('eadbc');
    expect(await posts('orderBy: [{ discussed: DESC }, { title: DESC }]', user(1))).toBe('edacb');
  });

  it('sort as enums and pairs name fields with @count and @exists', async () => {
    expect(await titles('{ sorted(orderBy: [COMMENTS_COUNT_DESC, TITLE_ASC]) { title } }')).toBe(
      'ceadb',
    );
    expect(await titles('{ sorted(orderBy: [DISCUSSED_ASC, TITLE_ASC]) { title } }', user(1))).toBe(
      'bcade',
    );
    expect(
      await titles('{ paired(orderBy: { field: commentsCount, direction: ASC }) { title } }'),
    ).toBe('bdace');
  });

  it('put nulls where the order says', async () => {
    expect(await posts('orderBy: { views: { direction: ASC } }')).toBe('caebd');
    expect(await posts('orderBy: { views: { direction: ASC, nulls: FIRST } }')).toBe('bdcae');
    expect(await posts('orderBy: { views: { direction: DESC } }')).toBe('bdaec');
    expect(await posts('orderBy: { views: { direction: DESC, nulls: LAST } }')).toBe('aecbd');
    expect(
      await titles('{ paired(orderBy: { field: VIEWS, direction: DESC, nulls: LAST }) { title } }'),
    ).toBe('aecbd');
  });

  it('keep the order in which the caller wrote nested members, in literals and in variables', async () => {
    const orders = [
      { author: { boss: { name: 'ASC' }, name: 'DESC' }, title: 'DESC' },
      { title: 'DESC', author: { name: 'ASC' } },
    ];
    const by = async (orderBy: object) =>
      (
        await server.query('query ($o: [PostOrder!]) { posts(orderBy: $o) { title } }', {
          o: [orderBy],
        })
      ).data.posts
        .map(({ title }: any) => title)
        .join('');
    expect(await by(orders[0]!)).toBe('ebdca');
    expect(await by(orders[1]!)).toBe('edcba');
  });

  it('refuse an order by what the caller may not read', async () => {
    expect(await posts('orderBy: { author: { salary: ASC } }')).toBe('acebd');
    expect(await posts('orderBy: { author: { salary: ASC } }', user(1))).toBe('FORBIDDEN');
    expect(await posts('orderBy: { author: { secret: { word: ASC } } }', user(1))).toBe(
      'FORBIDDEN',
    );
  });

  it('leave the first row of each combination, and count those', async () => {
    expect(await posts('distinct: [AUTHOR]')).toBe('abde');
    expect(await posts('distinct: [AUTHOR], orderBy: { title: DESC }')).toBe('edcb');
    expect(await posts('distinct: [AUTHOR], orderBy: { comments: { count: DESC } }')).toBe('cedb');
    expect(await posts('distinct: [price], orderBy: { price: ASC }')).toBe('aecd');
    expect(await posts('distinct: [views, AUTHOR], limit: 2, offset: 1')).toBe('bc');
    expect(await posts('distinct: []')).toBe('abcde');
    const { data } = await server.query(
      '{ pages(distinct: [AUTHOR], where: { discussed: true }) { totalCount edges { node { title } } } }',
      {},
      admin,
    );
    expect(data.pages.totalCount).toBe(3);
    expect(data.pages.edges).toHaveLength(3);
  });

  it('filter by fields with @count and @exists, of the rows that the caller may read', async () => {
    expect(await posts('where: { commentsCount: { gte: 2 } }')).toBe('ace');
    expect(await posts('where: { commentsCount: { gte: 2 } }', user(1))).toBe('e');
    expect(await posts('where: { commentsCount: { in: [0, 1] } }', user(1))).toBe('abcd');
    expect(await posts('where: { discussed: false }', user(1))).toBe('bc');
  });

  const ORDERS = [
    '{ author: { name: ASC } }',
    '{ author: { name: DESC } }',
    '{ comments: { count: DESC } }',
    '{ author: { boss: { name: ASC } } }',
    '{ discussed: ASC }, { views: { direction: DESC, nulls: LAST } }',
    '{ views: { direction: ASC, nulls: FIRST } }',
    '{ price: DESC }, { author: { posts: { count: ASC } } }',
  ];

  it('page over all of it in both directions, each row once', { timeout: 30_000 }, async () => {
    for (const order of ORDERS)
      for (const distinct of ['', 'distinct: [AUTHOR],', 'distinct: [views],']) {
        const asked = `${distinct} orderBy: [${order}]`;
        const all = await titles(`{ pages(${asked}) { edges { node { title } } } }`);
        for (const [size, side, end, more] of [
          ['first', 'after', 'endCursor', 'hasNextPage'],
          ['last', 'before', 'startCursor', 'hasPreviousPage'],
        ] as const) {
          let met = '';
          let cursor = '';
          for (let page = 0; page < 6; page += 1) {
            const { data, errors } = await server.query(
              `{ pages(${asked}, ${size}: 2 ${cursor && `${side}: "${cursor}"`}) { edges { node { title } } pageInfo { ${end} ${more} } totalCount } }`,
              {},
              admin,
            );
            expect(errors).toBeUndefined();
            const shown = data.pages.edges.map(({ node }: any) => node.title).join('');
            met = size === 'first' ? met + shown : shown + met;
            expect(data.pages.totalCount).toBe(all.length);
            cursor = data.pages.pageInfo[end];
            if (!data.pages.pageInfo[more]) break;
          }
          expect([asked, size, met]).toEqual([asked, size, all]);
        }
      }
  });
});
