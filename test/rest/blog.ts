/** A schema with every kind of column and relation that REST tells apart. */
export const BLOG = `
scalar DateTime
scalar Date
scalar Decimal
scalar BigInt
enum Status { DRAFT LIVE GONE }
type Place { city: String! zip: String }
type Author { id: ID! name: String! email: String! @unique age: Int home: Place posts(limit: Int, offset: Int): [Post!]! }
type Post {
  id: ID!
  title: String!
  status: Status! @default(value: "DRAFT")
  views: Int! @default(value: 0)
  score: Float
  published: Boolean
  subtitle: String
  price: Decimal
  hits: BigInt
  day: Date
  words: [String!]
  author: Author!
  comments: [Comment!]!
  tags: [Tag!]!
  createdAt: DateTime!
  updatedAt: DateTime!
}
type Comment { id: ID! text: String! post: Post! }
type Tag { id: ID! label: String! @unique posts: [Post!]! }
input CreatePostInput {
  title: String! @constraint(minLength: 2) status: Status views: Int score: Float published: Boolean subtitle: String
  price: Decimal hits: BigInt day: Date words: [String!] authorId: ID! tagIds: [ID!]
}
input UpdatePostInput { title: String @constraint(minLength: 2) status: Status views: Int score: Float published: Boolean subtitle: String authorId: ID tagIds: [ID!] }
input PlaceInput { city: String! zip: String }
type Query {
  author(id: ID!): Author
  authors: [Author!]!
  post(id: ID!): Post
  posts(status: Status, limit: Int, offset: Int): [Post!]!
  tags: [Tag!]!
}
type Mutation {
  createAuthor(name: String!, email: String!, age: Int, home: PlaceInput): Author!
  deleteAuthor(id: ID!): Boolean!
  createPost(input: CreatePostInput!): Post!
  updatePost(id: ID!, input: UpdatePostInput!): Post
  deletePost(id: ID!): Boolean!
  createComment(text: String!, postId: ID!): Comment!
  createTag(label: String!): Tag!
}
type Subscription { postCreated: Post! postUpdated: Post! postDeleted: Post! }
`;
