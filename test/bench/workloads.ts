/** What every server of the benchmark is asked, and over which schema. */
export const SDL = `
type User {
  id: ID!
  name: String!
  email: String!
  initials: String! @computed
  posts: [Post!]!
}

type Post {
  id: ID!
  title: String!
  body: String!
  author: User!
}

type Author {
  name: String!
  md5: String!
  company: String!
  books: [Book!]!
}

type Book {
  title: String!
  genre: String!
  published: String!
}

input CreatePostInput {
  title: String!
  body: String!
  authorId: ID!
}

type Query {
  user(id: ID!): User
  users(limit: Int): [User!]!
  posts(limit: Int): [Post!]!
  authors: [Author!]!
}

type Mutation {
  createPost(input: CreatePostInput!): Post!
}
`;

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly query: string;
  /** Variables of request number `index`. */
  variables(index: number): Record<string, unknown>;
  /** The database decides parts of the answer that no other server would repeat. */
  readonly volatile?: boolean;
}

const none = () => ({});

export const USERS = 1000;

/** The first 100 users have 1,046 posts. */
export const workloads: readonly Workload[] = [
  {
    name: 'posts',
    title: '100 posts with their author',
    query: '{ posts(limit: 100) { id title author { id name } } }',
    variables: none,
  },
  {
    name: 'users',
    title: '100 users with their 1,046 posts',
    query: '{ users(limit: 100) { id name posts { id title } } }',
    variables: none,
  },
  {
    name: 'byId',
    title: 'a user by id',
    query: 'query One($id: ID!) { user(id: $id) { id name email } }',
    variables: (index) => ({ id: String(1 + ((index * 7919) % USERS)) }),
  },
  {
    name: 'static',
    title: '20 authors with 3 books each, from resolvers',
    query: '{ authors { name md5 company books { title genre published } } }',
    variables: none,
  },
  {
    name: 'mixed',
    title: '100 posts, authors with a resolver',
    query: '{ posts(limit: 100) { id title author { id name initials } } }',
    variables: none,
  },
  {
    name: 'create',
    title: 'a mutation',
    query:
      'mutation New($input: CreatePostInput!) { createPost(input: $input) { title body author { id name } } }',
    variables: (index) => ({
      input: {
        title: `title ${index}`,
        body: 'a body of some forty characters, as it goes',
        authorId: String(200 + (index % 700)),
      },
    }),
  },
];

/** Rows that are the same on every run. */
export interface Rows {
  readonly users: readonly { readonly id: number; readonly name: string; readonly email: string }[];
  readonly posts: readonly {
    readonly id: number;
    readonly title: string;
    readonly body: string;
    readonly authorId: number;
  }[];
}

const POSTS_OF_FIRST_HUNDRED = 1046;

export function makeRows(): Rows {
  const users = Array.from({ length: USERS }, (_, index) => ({
    id: index + 1,
    name: `Name ${index + 1} of Family ${(index * 31) % 97}`,
    email: `user${index + 1}@example.org`,
  }));
  const authors = [
    ...spread(POSTS_OF_FIRST_HUNDRED, 1, 100),
    ...spread(9 * POSTS_OF_FIRST_HUNDRED, 101, 900),
  ];
  const posts = shuffled(authors).map((authorId, index) => ({
    id: index + 1,
    title: `The title of post ${index + 1}`,
    body: `The body of post ${index + 1}. `.repeat(4),
    authorId,
  }));
  return { users, posts };
}

/** `total` keys of `count` users, some with more and some with less. */
function spread(total: number, first: number, count: number): number[] {
  return Array.from({ length: total }, (_, index) => first + (((index * index) % 7919) % count));
}

/** Mulberry32, so that the order is the same everywhere. */
function shuffled<T>(items: readonly T[]): T[] {
  let state = 42;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** What the resolvers of the static workload hold. */
export const AUTHORS = Array.from({ length: 20 }, (_, index) => ({
  name: `Author ${index + 1}`,
  company: `Company ${index % 7}`,
  books: Array.from({ length: 3 }, (_, book) => ({
    title: `Book ${book + 1} of author ${index + 1}`,
    genre: ['novel', 'essay', 'poems'][book] as string,
    published: `20${10 + book}-0${1 + (index % 9)}-11T00:00:00.000Z`,
  })),
}));

export const initialsOf = (name: string): string => name.replaceAll(/[^A-Z]/g, '');
