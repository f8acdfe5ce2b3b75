/** The two files that an example begins with. */
export interface Example {
  readonly name: string;
  readonly schema: string;
  readonly manifest: string;
}

/** Examples of the list, the first of which is shown at first. */
export const examples: readonly Example[] = [
  {
    name: 'Blog',
    schema: `type Author {
  id: ID!
  name: String!
  posts(limit: Int, offset: Int): [Post!]!
}

type Post {
  id: ID!
  title: String!
  author: Author!
  tags: [Tag!]!
  publishedAt: DateTime
}

type Tag {
  id: ID!
  name: String! @unique
  posts: [Post!]!
}

scalar DateTime

type Query {
  posts(limit: Int, offset: Int): [Post!]!
  post(id: ID!): Post
}

type Mutation {
  createPost(title: String!, authorId: ID!): Post!
}
`,
    manifest: 'name: blog\n',
  },
  {
    name: 'Notes with sign-in',
    schema: `type User {
  id: ID!
  name: String!
  email: String!
}

type Note @auth(allow: [OWNER], owner: "author") {
  id: ID!
  text: String!
  author: User!
}

type Query {
  notes: [Note!]!
}

type Mutation {
  createNote(text: String!): Note!
  deleteNote(id: ID!): Boolean!
}
`,
    manifest: `name: notes
auth:
  roles: { list: [Admin, Member], first: Admin }
`,
  },
  {
    name: 'An API for every type',
    schema: `type Customer {
  id: ID!
  name: String!
  email: String! @unique
  orders: [Order!]!
  orderCount: Int! @count(relation: "orders")
}

type Order {
  id: ID!
  customer: Customer!
  total: Int!
  status: OrderStatus!
}

enum OrderStatus { NEW PAID SENT }
`,
    manifest: `name: shop
api: { crud: true, rest: true }
`,
  },
];
