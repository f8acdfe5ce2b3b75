// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

/** The SDL that the server serves. */
export const sdl = /* GraphQL */ `
enum PostStatus {
  DRAFT
  PUBLISHED
}

"""Somebody who writes."""
type Author {
  id: ID!
  name: String!
  email: String!
  posts(limit: Int, offset: Int): [Post!]!
}

type Post {
  id: ID!
  title: String!
  body: String!
  status: PostStatus!
  author: Author!
  comments(limit: Int, offset: Int): [Comment!]!
  tags(limit: Int, offset: Int): [Tag!]!
  """How many minutes it takes to read."""
  minutes: Int!
  createdAt: DateTime!
  updatedAt: DateTime!
}

type Comment {
  id: ID!
  text: String!
  post: Post!
  createdAt: DateTime!
}

type Tag {
  id: ID!
  name: String!
  posts(limit: Int, offset: Int): [Post!]!
}

scalar DateTime

input CreatePostInput {
  title: String!
  body: String!
  status: PostStatus
  authorId: ID!
  tagIds: [ID!]
}

input UpdatePostInput {
  title: String
  body: String
  status: PostStatus
  tagIds: [ID!]
}

type Query {
  author(id: ID!): Author
  authorByEmail(email: String!): Author
  authors(limit: Int, offset: Int): [Author!]!
  post(id: ID!): Post
  posts(status: PostStatus, limit: Int, offset: Int): [Post!]!
  tags(limit: Int, offset: Int): [Tag!]!
}

type Mutation {
  createAuthor(name: String!, email: String!): Author!
  createPost(input: CreatePostInput!): Post!
  updatePost(id: ID!, input: UpdatePostInput!): Post
  deletePost(id: ID!): Boolean!
  createComment(postId: ID!, text: String!): Comment!
  createTag(name: String!): Tag!
}
`;
