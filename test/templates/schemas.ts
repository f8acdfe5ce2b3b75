/** Names that clash with everything, and texts that try to get out of where they are printed. */
export const HOSTILE = `
"""It ends here */ and \`here\` and \${here} and \\\\ here"""
type Error { id: ID! name: String! object: Object }
type Object { id: ID! errors: [Error!]! constructor: constructor }
type constructor { id: ID! prototype: String toString: String objects: [Object!]! }
type select { id: ID! from: String "*/ alert() /*" where: String }
type Promise { id: ID! then: String }
type Array { id: ID! length: Int }
type Record { id: ID! key: String }
type Context { id: ID! kind: kind }
type User { id: ID! name: String! }
type UserRow { id: ID! name: String! }
type UserResolvers { id: ID! name: String! }
enum kind { default class delete new }
type Query {
  error(id: ID!): Error
  errors: [Error!]!
  constructors: [constructor!]!
  select(id: ID!): select
  promise(id: ID!): Promise
  arrays: [Array!]!
  records: [Record!]!
  contexts(kind: kind): [Context!]!
  users: [User!]!
  userRows: [UserRow!]!
  userResolvers: [UserResolvers!]!
}
`;

export const KITCHEN_SINK = `
enum Role { ADMIN MEMBER }
scalar DateTime
scalar JSON
type Address { street: String! city: String }
type User {
  id: ID! name: String! email: String! @unique role: Role! @default(value: "MEMBER") nicknames: [String!]! address: Address settings: JSON
  posts(limit: Int, offset: Int, where: PostFilter, orderBy: PostOrder): [Post!]! team: Team createdAt: DateTime! updatedAt: DateTime!
}
type Team { id: ID! name: String! members: [User!]! }
type Post { id: ID! title: String! @constraint(maxLength: 80) body: String author: User! tags: [Tag!]! score: Float draft: Boolean! shout: String! @computed }
type Tag { id: ID! name: String! posts: [Post!]! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type PostEdge { node: Post! cursor: String! }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
input StringFilter { eq: String ne: String in: [String!] contains: String }
input PostFilter { title: StringFilter author: UserFilter and: [PostFilter!] or: [PostFilter!] not: PostFilter }
input UserFilter { name: StringFilter posts: PostsFilter }
input PostsFilter { some: PostFilter none: PostFilter }
enum PostOrder { TITLE_ASC TITLE_DESC }
input CreatePostInput { title: String! body: String authorId: ID! tagIds: [ID!] draft: Boolean! }
input UpdatePostInput { title: String body: String }
type CreatePostPayload { post: Post clientMutationId: String }
type Query {
  me: User
  viewer: Query!
  user(id: ID!): User
  userByEmail(email: String!): User
  users(role: Role, limit: Int, offset: Int): [User!]!
  posts(where: PostFilter, orderBy: PostOrder, limit: Int): [Post!]!
  postsConnection(first: Int, after: String): PostConnection!
  anything(at: DateTime): String
}
type Mutation {
  createUser(name: String!, email: String!): User!
  createPost(input: CreatePostInput!): CreatePostPayload!
  updatePost(id: ID!, input: UpdatePostInput!): Post
  deletePost(id: ID!): ID
}
type Subscription { postCreated: Post! postChanged(id: ID!): Post! }
`;

/** One shape each. */
export const SHAPES: Readonly<Record<string, string>> = {
  'the seed':
    'type User { id: ID! name: String! email: String! } type Query { user(id: ID!): User users: [User!]! }',
  'names that clash with everything': HOSTILE,
  'a schema definition with names of its own':
    'schema { query: Root mutation: Changes } type Root { users: [User!]! } type Changes { deleteUser(id: ID!): Boolean! } type User { id: ID! name: String! }',
  'an interface and a union of entities':
    'interface Named { id: ID! name: String! } type Dog implements Named { id: ID! name: String! } type Cat implements Named { id: ID! name: String! } union Pet = Dog | Cat type Owner { id: ID! pet: Pet named: Named } type Query { owners: [Owner!]! pets: [Pet!]! named: [Named!]! }',
  'the other end of a key of several types':
    'type Dog { id: ID! owners: [Owner!]! } type Cat { id: ID! owners: [Owner!]! } union Pet = Dog | Cat type Owner { id: ID! pet: Pet } type Query { owners: [Owner!]! dogs: [Dog!]! }',
  'lists that name their filters, payloads with errors':
    'type Post { id: ID! title: String! body: String } input PostFilter { title: StringFilter } input StringFilter { eq: String } type UserError { message: String! } type CreatePostPayload { post: Post userErrors: [UserError!]! } type Query { posts(where: PostFilter): [Post!]! @list(filter: ["title"], orderBy: ["title"], max: 10) } type Mutation { createPost(title: String!): CreatePostPayload! }',
  'results that are unions, members of payloads and edges of the user':
    'type Post { id: ID! title: String! avatar(size: Int): String @column } union CreatePostResult = Post | Taken | CreatePostSuccess type Taken @error(code: "CONFLICT", field: "title") @error(code: "BAD_USER_INPUT") { message: String! code: String! field: String fields: [String!]! hint: String } type CreatePostSuccess { post: Post! lastSyncId: Float! query: Query! } type Edge { node: Post! } type PostEdge { node: Post! cursor: String! addedAt: String } type PostConnection { edges: [PostEdge!]! posts: [Post!]! mood: String! pageInfo: PageInfo! } type PageInfo { hasNextPage: Boolean! endCursor: String } type Query { posts(first: Int): PostConnection! } type Mutation { createPost(title: String!): CreatePostResult! updatePost(id: ID!, title: String): CreatePostSuccess! }',
  'a row that points to its own kind':
    'type Person { id: ID! name: String! boss: Person reports: [Person!]! } type Query { people: [Person!]! }',
  extensions:
    'type User { id: ID! } extend type User { name: String! } type Query { users: [User!]! } extend type Query { user(id: ID!): User }',
  'only a query of its own': 'type Query { hello(name: String = "you"): String! }',
};
