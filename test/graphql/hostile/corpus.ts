/** One request of someone who wants to stop the server. */
export interface Shot {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

const graphql = (name: string, query: string, variables?: object): Shot => ({
  name,
  method: 'POST',
  path: '/graphql',
  body: { query, ...(variables && { variables }) },
});

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Text that no row has, so that every row is looked at. */
const none = (index: number) => ({ contains: `nothing ${index}` });

/** A filter of posts that hops through so many lists. */
function hops(levels: number, word: string, last: object): object {
  if (levels === 0) return last;
  return { author: { posts: { [word]: hops(levels - 1, word, last) } } };
}

const WORDS = ['some', 'every', 'none'];

const hopping = times(36, (index) =>
  graphql(
    `${1 + (index % 3)} hops with ${WORDS[index % 2]}`,
    'query ($where: PostFilter) { posts(where: $where) { id } }',
    {
      where: hops(
        1 + (index % 3),
        WORDS[index % 2] as string,
        index % 2 ? { body: none(index) } : { views: { eq: -index } },
      ),
    },
  ),
);

const around = times(20, (index) =>
  graphql(
    'hops side by side',
    `query ($where: PostFilter) { posts(where: $where, limit: 100) { id comments { text } } }`,
    {
      where: {
        or: times(1 + (index % 10), (each) => ({
          comments: { [WORDS[each % 3] as string]: { text: none(index + each) } },
          tags: { none: { posts: { some: { title: none(each) } } } },
        })),
      },
    },
  ),
);

const nested = times(16, (index) => {
  const levels = 1 + (index % 4);
  const below = (level: number): string =>
    level === 0 ? 'body' : `author { posts { id ${below(level - 1)} } }`;
  return graphql(
    `${levels} lists in each other without a size`,
    `{ posts { title ${below(levels)} } again${index}: comments { post { comments { text } } } }`,
  );
});

const large = times(24, (index) => {
  const size = [1, 10, 40, 100][index % 4];
  const order = ['', ', orderBy: [{ body: DESC }]', ', orderBy: [{ title: ASC }]'][index % 3];
  return graphql(
    `bodies of ${size} posts`,
    index % 5 === 0
      ? `{ ${times(20, (each) => `a${each}: post(id: ${1 + index + each}) { body }`).join(' ')} }`
      : `{ posts(limit: ${size}${order}) { body author { name posts(limit: 3) { body } } } }`,
  );
});

const growing = times(16, (index) => {
  const fragments = times(
    4 + index,
    (each) => `fragment F${each + 1} on Post { author { id } ...F${each} ...F${each} }`,
  );
  return graphql(
    'fragments that grow',
    `{ posts(limit: 3) { ...F${4 + index} } } fragment F0 on Post { id title body views } ${fragments.join(' ')}`,
  );
});

const filters = times(18, (index) => {
  const wide = { or: times(100 + 30 * index, (each) => ({ body: none(each) })) };
  const deep = times(index, String).reduce<object>((inner) => ({ not: inner }), {
    body: none(index),
  });
  const many = { title: { notIn: times(2000 * (1 + index), (each) => `post ${each} of none`) } };
  return graphql(
    'a filter of many names, or levels, or values',
    'query ($where: PostFilter) { posts(where: $where) { id } }',
    { where: [wide, deep, many][index % 3] },
  );
});

const orders = times(18, (index) => {
  const arguments_ = [
    'orderBy: [{ body: ASC }, { title: DESC }], limit: 100, offset: 39000',
    `where: { body: { contains: "nothing ${index}" } }, orderBy: [{ views: ASC }]`,
    `where: { title: { endsWith: "${index}" } }, orderBy: [{ body: DESC }], offset: 1000000`,
  ];
  if (index % 4 === 3)
    return graphql(
      'a connection from its end, with its count',
      `{ postsConnection(last: 100, orderBy: [{ body: ASC }], where: { comments: { some: { text: { contains: "${index}" } } } }) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { title comments { text } } } } }`,
    );
  return graphql('an order without an index', `{ posts(${arguments_[index % 3]}) { id } }`);
});

/** Numbers over all rows: of every parent, of as many groups as there are rows, and of hops. */
const numbers = times(12, (index) =>
  graphql(
    'aggregates and groups',
    [
      `{ postsGroups(by: [TITLE, BODY], orderBy: [{ sum: { views: DESC } }, { key: { body: ASC } }], offset: ${index * 1000}) { key { title body } count sum { views } } }`,
      `query ($where: PostFilter) { postsAggregate(where: $where) { count countDistinct { body title author } sum { views } avg { views } min { body } max { body } } }`,
      `{ authors(limit: 100) { postsAggregate { countDistinct { body } max { body } } postsGroups(by: [BODY]) { key { body author { name postsAggregate { count } } } count } } }`,
      `query ($where: PostFilter) { postsGroups(by: [AUTHOR], where: $where, having: { or: [{ count: { gte: ${index} } }, { max: { body: { lt: "b" } } }] }) { key { author { name posts(limit: 2) { body } } } max { body } } }`,
    ][index % 4] as string,
    index % 2 ? { where: hops(1 + (index % 3), 'none', { body: none(index) }) } : undefined,
  ),
);

const writes = times(8, (index) =>
  graphql(
    'a mutation that reads much',
    `mutation ($where: PostFilter) { updateAuthor(id: ${1 + index}, name: "hostile") { posts(where: $where) { id body comments { text } } } }`,
    { where: hops(1 + (index % 2), 'every', { body: none(index) }) },
  ),
);

const batches = times(6, (index) => ({
  name: 'a batch',
  method: 'POST' as const,
  path: '/graphql',
  body: times(10, (each) => hopping[(index * 5 + each) % hopping.length]?.body),
}));

const PATHS = [
  '/api/posts?include=comments,tags,author.posts&limit=100',
  '/api/posts?include=author.posts.comments&limit=100',
  '/api/posts?body_contains=nothing&limit=100',
  '/api/posts?limit=100&page=400&sort=body',
  '/api/authors?include=posts&limit=100',
  '/api/comments?include=post.author&limit=100&page=500&sort=text&order=desc',
];
const rest = times(18, (index) => ({
  name: 'REST',
  method: 'GET' as const,
  path: `${PATHS[index % PATHS.length]}`,
}));

const others = times(8, (index) =>
  graphql(
    'a document of no sense',
    [
      `{ ${'posts { id } '.repeat(300)} }`,
      `{ ${times(600, (each) => `a${each}: nothing${each}`).join(' ')} }`,
      `query (${times(200, (each) => `$v${each}: PostFilter`).join(', ')}) { posts { id } }`,
      `{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }`,
    ][index % 4] as string,
  ),
);

/** Two hundred, of all the kinds that are known to us. */
export const CORPUS: readonly Shot[] = [
  ...hopping,
  ...around,
  ...nested,
  ...large,
  ...growing,
  ...filters,
  ...orders,
  ...numbers,
  ...writes,
  ...batches,
  ...rest,
  ...others,
];
