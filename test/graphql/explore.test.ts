import { it } from 'vitest';
import { startServer, databases, projectOf } from '/work/main/test/graphql/harness.ts';
import { writeFileSync } from 'node:fs';
const sdl = `
scalar DateTime
enum Status { DRAFT LIVE }
type User { id: ID! name: String! email: String! @unique age: Int admin: Boolean posts(limit: Int, offset: Int): [Post!]! createdAt: DateTime! shout: String! @computed }
type Post { id: ID! title: String! status: Status! author: User! tags: [Tag!]! comments: [Comment!]! words: [String!] score: Float }
type Tag { id: ID! label: String! posts: [Post!]! }
type Comment { id: ID! text: String! post: Post! author: User }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
type PostEdge { node: Post! cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
input StringFilter { eq: String ne: String in: [String!] contains: String }
input PostFilter { title: StringFilter author: UserFilter and: [PostFilter!] or: [PostFilter!] not: PostFilter }
input UserFilter { name: StringFilter posts: PostListFilter }
input PostListFilter { some: PostFilter every: PostFilter none: PostFilter }
input PostOrder { title: Direction id: Direction score: Direction }
enum Direction { ASC DESC }
input CreateUserInput { name: String! @constraint(minLength: 2) email: String! age: Int admin: Boolean }
input CreatePostInput { title: String! status: Status! authorId: ID! tagIds: [ID!] words: [String!] score: Float }
input UpdateUserInput { name: String email: String age: Int }
type Query { user(id: ID!): User userByEmail(email: String!): User users: [User!]! posts(where: PostFilter, orderBy: PostOrder, limit: Int, offset: Int, status: Status): [Post!]! post(id: ID!): Post
  feed(first: Int, after: String, last: Int, before: String, orderBy: PostOrder): PostConnection! @resolve(as: LIST) tags: [Tag!]! }
type Mutation { createUser(input: CreateUserInput!): User! createPost(input: CreatePostInput!): Post! updateUser(id: ID!, input: UpdateUserInput!): User deleteUser(id: ID!): Boolean! createTag(label: String!): Tag! createComment(text: String!, postId: ID!, authorId: ID): Comment! }
`;
for (const database of databases) it(database, async () => {
  writeFileSync('/tmp/model.json', JSON.stringify(projectOf(sdl), null, 1));
  const s = await startServer(sdl, { database, resolvers: { User: { shout: (u: any) => u.name.toUpperCase() + typeof u.id } } });
  const q = async (t: string, v?: any) => { const r = await s.query(t, v); console.log(database, t.slice(0,80), JSON.stringify(r)); const st = s.statements(); console.log('   ', st.length, st.map(x=>x.slice(0,1500)).join('\n    ')); };
  await q(`mutation { createUser(input: {name: "Ada", email: "a@x.test", age: 3}) { id name createdAt admin } }`);
  await q(`mutation { a: createUser(input: {name: "Bob", email: "b@x.test", admin: true}) { id name createdAt admin } b: createUser(input: {name: "Bob", email: "b@x.test"}) { id } }`);
  await q(`mutation { createUser(input: {name: "B", email: "b@x.test"}) { id } }`);
  await q(`mutation { createTag(label: "x") { id label posts { id } } }`);
  await q(`mutation { createTag(label: "y") { id label posts { id } } }`);
  for (let i = 1; i < 6; i++) await s.query(`mutation { createPost(input: {title: "t${i}", status: LIVE, authorId: ${1 + i % 2}, tagIds: [1,2], words: ["a","b"], score: ${i / 3}}) { id title author { name posts { id } } tags { label } words score } }`);
  s.statements();
  await q(`mutation { createPost(input: {title: "bad", status: LIVE, authorId: 99}) { id } }`);
  await q(`mutation { createComment(text: "hi", postId: 1) { id post { title author { email } } author { name } } }`);
  await q(`{ users { id name posts { id title comments { text author { id } } tags { label } } } }`);
  await q(`{ users { id shout posts { id author { shout } } } }`);
  await q(`{ user(id: "1") { n: name __typename posts(limit: 1) { id } p2: posts(limit: 1, offset: 1) { id } } x: userByEmail(email: "zz") { id } }`);
  await q(`query($w: PostFilter) { posts(where: $w, orderBy: {title: DESC}) { id title } }`, { w: { or: [{ title: { eq: 't1' } }, { author: { name: { eq: 'Ada' }, posts: { some: { title: { contains: '4' } } } } }], not: { title: { in: ['t2'] } } } });
  await q(`{ feed(first: 2, orderBy: {score: DESC}) { edges { cursor node { id score author { name } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`);
  const r = await s.query(`{ feed(first: 2, orderBy: {score: DESC}) { pageInfo { endCursor startCursor } } }`); s.statements();
  await q(`query($a: String) { feed(first: 2, after: $a, orderBy: {score: DESC}) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }`, { a: r.data.feed.pageInfo.endCursor });
  await q(`query { feed(last: 2) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`);
  await q(`mutation { updateUser(id: 1, input: {age: null, name: "Ada L"}) { id name age } }`);
  await q(`mutation { updateUser(id: 77, input: {age: null}) { id } }`);
  await q(`mutation { deleteUser(id: 77) }`);
  await q(`{ __schema { queryType { name } } users { id } }`);
  await q(`{ user { id } }`);
  await q(`{ posts(limit: -1) { id } users { name } }`);
  console.log(s.lines.join(''));
  await s.close();
});
