import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildTables, readProject } from '@twofold/schema';
import { createTables } from '../../../runtime/database/tables/create-tables.ts';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import { newFolder, type Program, run } from '../../server/program.ts';

/** A small blog as many have it: filters through all its relations, orders, pages, REST. */
export const SDL = `
  type Author { id: ID! name: String! posts(where: PostFilter, orderBy: [PostOrder!], limit: Int, offset: Int): [Post!]! postsAggregate: PostAggregate! postsGroups(by: [PostGroupBy!]!): [PostGroup!]! }
  type Post {
    id: ID! title: String! body: String! views: Int! author: Author!
    comments(where: CommentFilter, limit: Int): [Comment!]! tags(limit: Int): [Tag!]!
  }
  type Comment { id: ID! text: String! post: Post! }
  type Tag { id: ID! label: String! posts(limit: Int): [Post!]! }
  input AuthorFilter { name: TextFilter posts: PostListFilter and: [AuthorFilter!] or: [AuthorFilter!] not: AuthorFilter }
  input PostFilter { title: TextFilter body: TextFilter views: NumberFilter author: AuthorFilter comments: CommentListFilter tags: TagListFilter and: [PostFilter!] or: [PostFilter!] not: PostFilter }
  input CommentFilter { text: TextFilter post: PostFilter and: [CommentFilter!] or: [CommentFilter!] not: CommentFilter }
  input TagFilter { label: TextFilter posts: PostListFilter }
  input PostListFilter { some: PostFilter every: PostFilter none: PostFilter }
  input CommentListFilter { some: CommentFilter every: CommentFilter none: CommentFilter }
  input TagListFilter { some: TagFilter every: TagFilter none: TagFilter }
  input TextFilter { eq: String ne: String in: [String!] notIn: [String!] contains: String startsWith: String endsWith: String }
  input NumberFilter { eq: Int ne: Int lt: Int gte: Int in: [Int!] }
  enum Direction { ASC DESC }
  input PostOrder { title: Direction body: Direction views: Direction }
  type PostConnection { edges: [PostEdge!]! nodes: [Post!]! pageInfo: PageInfo! totalCount: Int! }
  type PostEdge { node: Post! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type PostAggregate { count: Int! countDistinct: PostCounts! sum: PostSums! avg: PostSums! min: PostValues! max: PostValues! }
  type PostGroup { key: PostKey! count: Int! sum: PostSums! max: PostValues! }
  type PostCounts { body: Int! title: Int! author: Int! }
  type PostSums { views: Float }
  type PostValues { body: String }
  type PostKey { title: String body: String author: Author }
  enum PostGroupBy { TITLE BODY AUTHOR }
  input PostGroupFilter { count: NumberFilter max: PostValuesFilter or: [PostGroupFilter!] }
  input PostValuesFilter { body: OrderFilter }
  input OrderFilter { lt: String }
  input PostGroupOrder { sum: PostSumsOrder key: PostOrder }
  input PostSumsOrder { views: Direction }
  type Query {
    authors(where: AuthorFilter, limit: Int): [Author!]!
    posts(where: PostFilter, orderBy: [PostOrder!], limit: Int, offset: Int): [Post!]!
    postsConnection(where: PostFilter, orderBy: [PostOrder!], first: Int, after: String, last: Int, before: String): PostConnection!
    postsAggregate(where: PostFilter): PostAggregate!
    postsGroups(where: PostFilter, by: [PostGroupBy!]!, having: PostGroupFilter, orderBy: [PostGroupOrder!], limit: Int, offset: Int): [PostGroup!]!
    comments(where: CommentFilter, limit: Int): [Comment!]!
    tags(where: TagFilter, limit: Int): [Tag!]!
    post(id: ID!): Post
  }
  type Mutation { createComment(text: String!, post: ID!): Comment! updateAuthor(id: ID!, name: String!): Author }
`;

const manifestOf = (time: string) =>
  `name: hostile\napi: { rest: true, limits: { batch: 10, time: ${time} } }\n`;

const programOf = (time: string) => `
import { createServer } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
const { project } = readProject({ schema: [{ file: 'schema.graphql', text: ${JSON.stringify(SDL)} }], manifest: { file: 'manifest.yaml', text: ${JSON.stringify(manifestOf(time))} } });
await createServer({ project }).serve('127.0.0.1:0');
`;

/** Rows in all: of a hundred, one is an author, 40 are posts, 50 are comments and 9 are tags. */
export interface Size {
  readonly rows: number;
  /** `api.limits.time`, the default when absent. */
  readonly time?: string;
  /** Posts whose body is a text of so many characters: the others have two hundred. */
  readonly large: { readonly posts: number; readonly characters: number };
}

/** The server in a process of its own, over a database with rows. `url`: of a PostgreSQL database; absent: an SQLite file. */
export async function serve(size: Size, url?: string): Promise<Program> {
  const folder = newFolder();
  const database = url ?? `file:${join(folder, 'app.db')}`;
  try {
    await fill(database, size);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  // As in the emitted Dockerfile.
  const image = { MALLOC_ARENA_MAX: '2' };
  const env = { ...image, DATABASE_URL: database, LOG_LEVEL: 'info', RATE_LIMIT_ENABLED: 'false' };
  return run(programOf(size.time ?? '10s'), env, folder);
}

async function fill(database: string, { rows, large }: Size): Promise<void> {
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: SDL }],
    manifest: { file: 'manifest.yaml', text: manifestOf('10s') },
  });
  if (!project) throw new TypeError('the schema is wrong');
  const store = openStore(database, '/');
  await createTables(store, buildTables(project), project.ids);
  const count = {
    authors: rows / 100,
    posts: (rows / 100) * 40,
    comments: rows / 2,
    tags: (rows / 100) * 9,
  };
  const insert = async (table: string, total: number, row: (index: number) => object) => {
    const step = 1000;
    for (let from = 0; from < total; from += step)
      await store.transaction(async (trx) => {
        const some = Array.from({ length: Math.min(step, total - from) }, (_, index) =>
          row(from + index),
        );
        await trx.insertInto(table).values(some).execute();
      });
  };
  await insert('authors', count.authors, (index) => ({ name: `author ${index}` }));
  await insert('posts', count.posts, (index) => ({
    title: `post ${index} of ${(index * 7919) % count.posts}`,
    body: 'lorem ipsum '.repeat(Math.ceil((index < large.posts ? large.characters : 200) / 12)),
    views: (index * 7907) % 1000,
    author_id: 1 + (index % count.authors),
  }));
  await insert('comments', count.comments, (index) => ({
    text: `comment ${index}`,
    post_id: 1 + (index % count.posts),
  }));
  await insert('tags', count.tags, (index) => ({ label: `tag ${index}` }));
  const post = project.entities.find(({ name }) => name === 'Post');
  const tags = post?.fields.find(({ name }) => name === 'tags')?.source;
  if (tags?.kind === 'many' && tags.via.kind === 'table') {
    const { table, own, other } = tags.via;
    await insert(table, count.posts, (index) => ({
      [String(own)]: 1 + index,
      [String(other)]: 1 + (index % count.tags),
    }));
  }
  await store.close();
}
