import { EDITOR_LINE, REST, yamlText } from './manifest-lines.ts';

/** Relations of every kind, filters, paging, and one field with a function of the user. */
export const blog = {
  about: 'authors, posts, comments and tags: relations of every kind',
  schema: `enum PostStatus {
  DRAFT
  PUBLISHED
}

"""Somebody who writes."""
type Author {
  id: ID!
  name: String!
  email: String! @unique
  posts(limit: Int, offset: Int): [Post!]!
}

type Post {
  id: ID!
  title: String!
  body: String!
  status: PostStatus! @default(value: "DRAFT")
  author: Author!
  comments: [Comment!]!
  tags: [Tag!]!
  """How many minutes it takes to read."""
  minutes: Int! @computed
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
  name: String! @unique
  posts: [Post!]!
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
  tags: [Tag!]!
}

type Mutation {
  createAuthor(name: String!, email: String!): Author!
  createPost(input: CreatePostInput!): Post!
  updatePost(id: ID!, input: UpdatePostInput!): Post
  deletePost(id: ID!): Boolean!
  createComment(postId: ID!, text: String!): Comment!
  createTag(name: String!): Tag!
}
`,
  manifest: (name: string) => `${EDITOR_LINE}name: ${yamlText(name)}
${REST}console: {}
`,
  files: {
    'src/resolvers/Post.ts': `import type * as types from '../generated/types.ts';

const WORDS_A_MINUTE = 200;

export const resolvers = {
  minutes: (post) => Math.max(1, Math.round(post.body.split(/\\s+/).length / WORDS_A_MINUTE)),
} satisfies types.PostOverrides;
`,
  },
  query: '{ posts { title minutes author { name } tags { name } } }',
} as const;
