import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTables, readProject } from '@twofold/schema';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, projectOf, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  input PostFilter { published: Boolean title: TextFilter or: [PostFilter!] not: PostFilter }
  input TextFilter { in: [String!] ne: String }
  input ListFilter { some: PostFilter none: PostFilter every: PostFilter }
  input UserFilter { publishedPosts: ListFilter posts: ListFilter }
  input UserOrder { name: Direction publishedPosts: Count }
  input Count { count: Direction } enum Direction { ASC DESC }
  type User @auth(allow: [PUBLIC], on: [READ]) {
    id: ID! name: String! email: String! @auth(allow: [PUBLIC])
    posts: [Post!]! @relation(inverse: "author")
    publishedPosts(where: PostFilter): [Post!]! @list(relation: "posts", where: { published: true }, orderBy: ["title DESC"])
    latestPosts: [Post!]! @list(relation: "posts", orderBy: ["id DESC"], max: 2)
    postsConnection(first: Int): PostConnection!
    edited: [Post!]! @relation(inverse: "editor")
    publishedCount: Int! @count(relation: "publishedPosts")
    tags: [Tag!]!
    tagsConnection: TagConnection!
    loudTags: [Tag!]! @list(where: { name: { startsWith: "L" } })
  }
  type Post @auth(allow: [PUBLIC], where: { hidden: false }) { id: ID! title: String! published: Boolean! hidden: Boolean! @default(value: false) author: User! editor: User }
  type Tag @auth(allow: [PUBLIC]) { id: ID! name: String! users: [User!]! }
  type PostConnection { nodes: [Post!]! totalCount: Int! }
  type TagConnection { nodes: [Tag!]! totalCount: Int! }
  type Query {
    users(where: UserFilter, orderBy: UserOrder): [User!]!
    posts(where: PostFilter): [Post!]! @list(where: { or: [{ published: true }, { title: "e" }] })
    mine(where: PostFilter): [Post!]! @resolve(as: LIST) @list(where: { author: { id: CALLER } })
    others: [Post!]! @resolve(as: LIST) @list(where: { not: { author: CALLER } })
    claimed: [Post!]! @resolve(as: LIST) @list(where: { title: { claim: "titles" } })
    published: PostConnection! @resolve(as: LIST) @list(where: { published: true })
  }
`;
const MANIFEST = 'name: views\napi: { access: public, rest: true }\nauth: {}\n';

describe('several lists of one relation', () => {
  const tablesOf = (fields: string) =>
    buildTables(
      projectOf(
        `type Query { users: [User!]! } type User { id: ID! tags: [Tag!]! ${fields} } type Tag { id: ID! name: String! users: [User!]! } type TagConnection { nodes: [Tag!]! }`,
      ),
    );

  it('have no tables, columns or loaders of their own', () => {
    const more =
      'tagsConnection: TagConnection! few: [Tag!]! @list(relation: "tags", max: 2) loud: [Tag!]! @list(where: { name: "L" })';
    expect(tablesOf(more)).toEqual(tablesOf(''));
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: SDL }],
      manifest: { file: 'manifest.yaml', text: MANIFEST },
    });
    expect(project?.loaders.map(({ name }) => name)).toEqual([
      'user',
      'userByEmail',
      'tagsByUser',
      'post',
      'postsByAuthor',
      'postsByEditor',
      'tag',
      'usersByTag',
    ]);
  });

  it('are needed to say so where they could be a relation of their own', () => {
    const found = (fields: string, post = 'author: User!') =>
      readProject({
        schema: [
          {
            file: 'schema.graphql',
            text: `type Query { users: [User!]! } type User { id: ID! ${fields} } type Post { id: ID! done: Boolean! ${post} } type PostConnection { nodes: [Post!]! }`,
          },
        ],
        manifest: null,
      })
        .diagnostics.filter(({ severity }) => severity === 'error')
        .map(({ code }) => code);
    expect(found('posts: [Post!]! done: [Post!]! @list(where: { done: true })')).toEqual([]);
    expect(found('done: [Post!]! @list(where: { done: true })')).toEqual([]);
    expect(
      found('done: [Post!]! @list(where: { done: true }) postsConnection: PostConnection!'),
    ).toEqual([]);
    expect(found('posts: [Post!]! postsConnection: PostConnection!')).toEqual([]);
    expect(found('posts: [Post!]! latest: [Post!]!')).toEqual(['RELATION_AMBIGUOUS']);
    expect(found('posts: [Post!]! feed: PostConnection!')).toEqual(['RELATION_AMBIGUOUS']);
    const two = 'author: User! editor: User';
    const [own, view] = ['posts: [Post!]! @relation(inverse: "author")', 'done: [Post!]!'];
    expect(found(`${own} ${view} @list(where: { done: true })`, two)).toEqual(['LIST_RELATION']);
    expect(found(`${own} ${view} @list(where: { done: true }, relation: "posts")`, two)).toEqual(
      [],
    );
    expect(found(`${own} postsConnection: PostConnection!`, two)).toEqual([]);
    expect(
      found(
        'posts: [Post!]! late: [Post!]! @list(relation: "last") last: [Post!]! @list(relation: "posts")',
      ),
    ).toEqual(['LIST_RELATION']);
  });
});

describe.each(databases)('lists with a where on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
    });
    const { db } = server.store;
    const flag = (value: boolean) => (database === 'sqlite' ? Number(value) : value);
    for (const name of ['Ann', 'Bob'])
      await db
        .insertInto('users')
        .values({ name, email: `${name}@x.test` })
        .execute();
    for (const [title, published, hidden, author_id, editor_id] of [
      ['a', true, false, 1, 2],
      ['b', false, false, 1, null],
      ['c', true, false, 1, null],
      ['d', true, true, 1, 1],
      ['e', false, false, 2, 1],
    ] as const)
      await db
        .insertInto('posts')
        .values({ title, published: flag(published), hidden: flag(hidden), author_id, editor_id })
        .execute();
    for (const name of ['Looms', 'iron']) await db.insertInto('tags').values({ name }).execute();
    for (const tag_id of [1, 2])
      await db.insertInto('tag_users').values({ user_id: 1, tag_id }).execute();
  });
  afterAll(() => server?.close());

  const read = async (query: string, as?: ReturnType<typeof user>) => {
    server.statements();
    const { data, errors } = await server.query(query, {}, as);
    expect(errors).toBeUndefined();
    expect(server.statements()).toHaveLength(1);
    return Object.values<any>(data)[0];
  };
  const titles = async (query: string, as?: ReturnType<typeof user>) => {
    const list = await read(query, as);
    return (list.nodes ?? list).map(({ title, name }: any) => title ?? name).join('');
  };
  const extended = (titlesClaim: unknown) => ({ ...user(1), extend: { titles: titlesClaim } });

  it('show the rows of the relation that meet it, in one statement', async () => {
    const [ann, bob] = await read(
      '{ users { posts { title } publishedPosts { title } latestPosts { title } loudTags { name } publishedCount } }',
    );
    const [more] = await read(
      '{ users { postsConnection { totalCount nodes { title } } edited { title } tags { name } tagsConnection { totalCount } } }',
    );
    const of = (list: any[]) => list.map(({ title, name }) => title ?? name).join('');
    expect(of(ann.posts)).toBe('abc');
    expect(of(ann.publishedPosts)).toBe('ca');
    expect(of(ann.latestPosts)).toBe('cb');
    expect([more.postsConnection.totalCount, of(more.postsConnection.nodes)]).toEqual([3, 'abc']);
    expect(of(more.edited)).toBe('e');
    expect(ann.publishedCount).toBe(2);
    expect([of(more.tags), of(ann.loudTags), more.tagsConnection.totalCount]).toEqual([
      'Loomsiron',
      'Looms',
      2,
    ]);
    expect([of(bob.publishedPosts), bob.publishedCount, of(bob.loudTags)]).toEqual(['', 0, '']);
  });

  it('are never widened by the filter of the caller', async () => {
    expect(await titles('{ posts { title } }')).toBe('ace');
    expect(await titles('{ posts(where: { not: { title: { in: ["c"] } } }) { title } }')).toBe(
      'ae',
    );
    expect(await titles('{ posts(where: { published: false }) { title } }')).toBe('e');
    expect(
      await titles(
        '{ posts(where: { or: [{ published: false }, { published: true }] }) { title } }',
      ),
    ).toBe('ace');
    const [ann] = await read(
      '{ users { publishedPosts(where: { or: [{ published: false }, { title: { in: ["a"] } }] }) { title } } }',
    );
    expect(ann.publishedPosts).toEqual([{ title: 'a' }]);
    expect((await read('{ published { totalCount } }')).totalCount).toBe(2);
  });

  it('compare with the caller and with claims, and are empty for callers without them', async () => {
    expect(await titles('{ mine { title } }', user(1))).toBe('abc');
    expect(await titles('{ mine(where: { title: { ne: "a" } }) { title } }', user(2))).toBe('e');
    expect(await titles('{ mine { title } }')).toBe('');
    expect(await titles('{ others { title } }', user(1))).toBe('e');
    expect(await titles('{ others { title } }')).toBe('');
    expect(await titles('{ claimed { title } }', extended('c'))).toBe('c');
    expect(await titles('{ claimed { title } }', extended(['a', 'e']))).toBe('ae');
    expect(await titles('{ claimed { title } }', extended(undefined))).toBe('');
    expect(await titles('{ claimed { title } }')).toBe('');
  });

  it('hold in filters and orders through them', async () => {
    const names = (where: string) => titles(`{ users(where: ${where}) { name } }`);
    expect(await names('{ publishedPosts: { some: { title: { in: ["b"] } } } }')).toBe('');
    expect(await names('{ posts: { some: { title: { in: ["b"] } } } }')).toBe('Ann');
    expect(await names('{ publishedPosts: { none: {} } }')).toBe('Bob');
    expect(await names('{ publishedPosts: { every: { published: true } } }')).toBe('AnnBob');
    expect(await titles('{ users(orderBy: { publishedPosts: { count: ASC } }) { name } }')).toBe(
      'BobAnn',
    );
  });

  it('hold over REST', async () => {
    const { body } = await server.call('GET', '/api/posts');
    expect(body.data.map(({ title }: any) => title).join('')).toBe('ace');
  });
});
