// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

/** The SDL that the server serves. */
export const sdl = /* GraphQL */ `
"""
Somebody who signs in. Name, biography and picture are for everybody. The address is for its owner alone:
\`auth\` in the manifest sees to that without a rule here.
"""
type User {
  id: ID!
  email: String!
  username: String!
  bio: String
  image: String
  follows(limit: Int, offset: Int): [User!]!
  followers(limit: Int, offset: Int): [User!]!
  articles(limit: Int, offset: Int): [Article!]!
  favorites(limit: Int, offset: Int): [Article!]!
  following: Boolean!
}

type Article
   {
  id: ID!
  slug: String!
  title: String!
  description: String!
  body: String!
  author: User!
  tags(limit: Int, offset: Int): [Tag!]!
  comments(limit: Int, offset: Int): [Comment!]!
  favoritedBy(limit: Int, offset: Int): [User!]!
  favorited: Boolean!
  favoritesCount: Int!
  createdAt: DateTime!
  updatedAt: DateTime!
}

type Comment
   {
  id: ID!
  body: String!
  article: Article!
  author: User!
  createdAt: DateTime!
  updatedAt: DateTime!
}

type Tag {
  id: ID!
  name: String!
  articles(limit: Int, offset: Int): [Article!]!
}

scalar DateTime

type Query {
  user(username: String!): User
  article(slug: String!): Article
  articles(filter: ArticleFilter, orderBy: ArticleOrder, limit: Int, offset: Int): [Article!]!
  articlesAggregate(filter: ArticleFilter): ArticleAggregate!
  comment(id: ID!): Comment
  comments(articleId: ID!, orderBy: CommentOrder, limit: Int, offset: Int): [Comment!]!
  tags(limit: Int, offset: Int): [Tag!]!
}

type ArticleAggregate { count: Int! }

type Mutation {
  createArticle(input: ArticleInput!): Article!
  updateArticle(slug: String!, input: ArticlePatch!): Article
  deleteArticle(slug: String!): Boolean!
}

input ArticleInput { title: String! description: String! body: String! tags: TagsInput }
input ArticlePatch { title: String description: String body: String tags: TagsInput }
input TagsInput { set: [TagKey!] connectOrCreate: [TagOrNew!] }
input TagKey { name: String! }
input TagOrNew { where: TagKey! create: NewTag! }
input NewTag { name: String }

input ArticleFilter { author: UserFilter tags: TagsFilter favoritedBy: UsersFilter }
input UserFilter { id: ID username: TextFilter followers: UsersFilter }
input UsersFilter { some: UserFilter }
input TagsFilter { some: TagFilter }
input TagFilter { name: TextFilter }
input TextFilter { eq: String }
input ArticleOrder { createdAt: Direction }
input CommentOrder { createdAt: Direction }
enum Direction { ASC DESC }

# The bodies and the queries of the routes in src/user-routes.ts and src/article-routes.ts.

input LoginBody { user: Login! }
input Login { email: String! password: String! }
input RegisterBody { user: Registration! }
input Registration { username: String! email: String! password: String! }
input UserBody { user: UserChange! }
input UserChange { email: String username: String password: String bio: String image: String }
input ArticleBody { article: NewArticle! }
input NewArticle {
  title: String!
  description: String!
  body: String!
  tagList: [String!]
}
input ArticleChangeBody { article: ArticleChange! }
input ArticleChange { title: String description: String body: String tagList: [String!] }
input CommentBody { comment: NewComment! }
input NewComment { body: String! }
input ArticleQuery { tag: String author: String favorited: String limit: Int = 20 offset: Int = 0 }
input Page { limit: Int = 20 offset: Int = 0 }
`;
