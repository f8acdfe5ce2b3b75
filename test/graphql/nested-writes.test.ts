import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  type User @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [USER]) { id: ID! email: String! name: String! posts: [Post!]! profile: Profile }
  type Profile { id: ID! bio: String! @constraint(minLength: 2) user: User! }
  type Post {
    id: ID! title: String! author: User cover: Cover @relation(column: "cover_id") comments: [Comment!]! tags: [Tag!]!
  }
  type Cover { id: ID! url: String! post: Post }
  type Comment
    @auth(allow: [ROLE], roles: ["Admin"])
    @auth(allow: [USER], where: { hidden: false }, on: [READ])
    @auth(allow: [USER], where: { locked: false }, on: [UPDATE DELETE])
    @auth(allow: [USER], on: [CREATE]) {
    id: ID! text: String! @constraint(maxLength: 5) hidden: Boolean! @default(value: false) locked: Boolean! @default(value: false) post: Post
  }
  type Tag @auth(allow: [USER], where: { secret: false }) @auth(allow: [ROLE], roles: ["Admin"]) { id: ID! name: String! @unique secret: Boolean! @default(value: false) posts: [Post!]! }
  input Key { id: ID! }
  input TagKey { id: ID name: String }
  input NewComment { text: String! }
  input CommentPatch { text: String }
  input CommentUpdate { where: Key! data: CommentPatch! }
  input Comments { create: [NewComment!] connect: [Key!] disconnect: [Key!] set: [Key!] update: [CommentUpdate!] delete: [Key!] }
  input NewTag { name: String! }
  input TagPatch { name: String }
  input TagUpdate { where: TagKey! data: TagPatch! }
  input TagOrNew { where: TagKey! create: TagPatch! }
  input Tags { create: [NewTag!] connect: [TagKey!] connectOrCreate: [TagOrNew!] disconnect: [TagKey!] set: [TagKey!] update: [TagUpdate!] delete: [TagKey!] }
  input NewCover { url: String! }
  input CoverPatch { url: String post: CoverPost }
  input CoverPost { update: PostTitle }
  input PostTitle { title: String }
  input Covers { create: NewCover connect: Key update: CoverPatch disconnect: Boolean delete: Boolean }
  input NewProfile { bio: String! }
  input ProfilePatch { bio: String }
  input Profiles { create: NewProfile connect: Key update: ProfilePatch disconnect: Boolean delete: Boolean }
  input AuthorPatch { name: String profile: Profiles }
  input Authors { connect: Key update: AuthorPatch disconnect: Boolean delete: Boolean }
  input PostPatch { title: String author: Authors cover: Covers comments: Comments tags: Tags }
  type Query { posts: [Post!]! comments: [Comment!]! tags: [Tag!]! covers: [Cover!]! profiles: [Profile!]! users: [User!]! }
  type Mutation {
    createPost(title: String!, comments: Comments, tags: Tags, cover: Covers, author: Authors): Post!
    updatePost(id: ID!, input: PostPatch!): Post
    updateUser(id: ID!, input: AuthorPatch!): User
  }
`;

const MANIFEST =
  'name: nested\napi: { access: public }\nauth: { roles: { list: [Admin, Member], default: Member, first: Admin } }\n';
const [ann, admin] = [user(1), user(9, 'Admin')];

describe.each(databases)('nested writes on %s', (database) => {
  let server: TestServer;
  let called: string[] = [];
  beforeAll(async () => {
    const note =
      (of: string) =>
      ({ operation, item, originalItem }: any) =>
        void called.push(`${operation} ${of} ${(item ?? originalItem).id}`);
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      entityHooks: {
        Comment: { afterOperation: note('comment') },
        Cover: { afterOperation: note('cover') },
      },
    });
    // The tests insert rows with keys of their own.
    if (database === 'postgres')
      for (const table of ['comments', 'tags', 'covers', 'profiles'])
        await server.store.query(
          `select setval(pg_get_serial_sequence('${table}', 'id'), 900)`,
          [],
        );
  });
  afterAll(() => server?.close());

  beforeEach(async () => {
    const { db } = server.store;
    for (const table of ['post_tags', 'comments', 'tags', 'profiles', 'posts', 'covers', 'users'])
      await db.deleteFrom(table).execute();
    const flag = (value: boolean) => (database === 'sqlite' ? Number(value) : value);
    await db.insertInto('users').values({ id: 1, email: 'a@x.test', name: 'Ann' }).execute();
    await db.insertInto('users').values({ id: 2, email: 'b@x.test', name: 'Bob' }).execute();
    await db.insertInto('profiles').values({ id: 1, bio: 'of Ann', user_id: 1 }).execute();
    for (const id of [1, 2])
      await db
        .insertInto('covers')
        .values({ id, url: `u${id}` })
        .execute();
    for (const [id, author_id, cover_id] of [
      [1, 1, 1],
      [2, null, null],
    ])
      await db
        .insertInto('posts')
        .values({ id, title: `p${id}`, author_id, cover_id })
        .execute();
    for (const [id, post_id, hidden, locked] of [
      [1, 1, false, false],
      [2, 1, false, false],
      [3, 1, true, false],
      [4, 2, false, false],
      [5, 1, false, true],
      [6, null, true, false],
    ] as const)
      await db
        .insertInto('comments')
        .values({ id, text: `c${id}`, post_id, hidden: flag(hidden), locked: flag(locked) })
        .execute();
    for (const [id, name, secret] of [
      [1, 'a', false],
      [2, 'b', false],
      [3, 'c', true],
    ] as const)
      await db
        .insertInto('tags')
        .values({ id, name, secret: flag(secret) })
        .execute();
    for (const [post_id, tag_id] of [
      [1, 1],
      [1, 3],
      [2, 2],
    ])
      await db.insertInto('post_tags').values({ post_id, tag_id }).execute();
    called = [];
  });

  const write = async (input: string, as = ann, id = 1) => {
    const { data, errors } = await server.query(
      `mutation { updatePost(id: ${id}, input: { ${input} }) { id } }`,
      {},
      as,
    );
    if (!errors) return data.updatePost === null ? 'none' : 'done';
    const { code, field } = errors[0].extensions;
    return [code, field].filter(Boolean).join(' ');
  };
  const all = async (query: string) => (await server.query(query, {}, admin)).data;
  const comments = async () =>
    (await all('{ comments { id text post { id } } }')).comments
      .map(({ id, text, post }: any) => `${id}${text === `c${id}` ? '' : text}:${post?.id ?? '-'}`)
      .sort()
      .join(' ');
  const tags = async (id = 1) =>
    (await all('{ posts { id tags { name } } }')).posts
      .find((post: any) => Number(post.id) === id)
      .tags.map(({ name }: any) => name)
      .join('');
  const BEFORE = '1:1 2:1 3:1 4:2 5:1 6:-';

  it('to many: disconnect, delete, set, connect, update and create, in this order', async () => {
    expect(
      await write(
        'comments: { create: [{ text: "new" }], update: [{ where: { id: 4 }, data: { text: "four" } }], connect: [{ id: 4 }], delete: [{ id: 1 }], disconnect: [{ id: 2 }] }',
      ),
    ).toBe('done');
    expect(await comments()).toMatch(/^2:- 3:1 4four:1 5:1 6:- \d+new:1$/);
    expect(called.slice(0, -1)).toEqual([
      'update comment 2',
      'delete comment 1',
      'update comment 4',
      'update comment 4',
    ]);
    expect(called.at(-1)).toMatch(/^create comment/);
  });

  it('to many: set leaves exactly the rows that it names, of those that the caller may read', async () => {
    expect(await write('comments: { set: [{ id: 1 }, { id: 4 }] }', admin)).toBe('done');
    expect(await comments()).toBe('1:1 2:- 3:- 4:1 5:- 6:-');
    expect(await write('tags: { set: [{ name: "b" }] }')).toBe('done');
    expect(await tags()).toBe('bc');
    expect(await write('tags: { set: [] }', admin)).toBe('done');
    expect(await tags()).toBe('');
  });

  it('reach rows of this parent only, which the caller may read; all is undone otherwise', async () => {
    const none = 'BAD_USER_INPUT comments';
    for (const id of [4, 3, 6, 99]) {
      expect(
        await write(
          `title: "x", comments: { delete: [{ id: 1 }], update: [{ where: { id: ${id} }, data: { text: "x" } }] }`,
        ),
      ).toBe(none);
      expect(
        await write(`comments: { create: [{ text: "x" }], delete: [{ id: 2 }, { id: ${id} }] }`),
      ).toBe(none);
    }
    for (const id of [3, 6])
      expect(await write(`comments: { connect: [{ id: ${id} }] }`)).toBe(none);
    expect(await write('comments: { set: [{ id: 6 }] }')).toBe(none);
    expect(await write('tags: { update: [{ where: { name: "c" }, data: { name: "d" } }] }')).toBe(
      'BAD_USER_INPUT tags',
    );
    expect(await write('tags: { delete: [{ id: 2 }] }')).toBe('BAD_USER_INPUT tags');
    expect(await comments()).toBe(BEFORE);
    expect(await tags()).toBe('ac');
    expect((await all('{ posts { title } }')).posts[0].title).toBe('p1');
  });

  it('are refused by the rules of the related type, with all that was written before', async () => {
    expect(await write('comments: { update: [{ where: { id: 5 }, data: { text: "x" } }] }')).toBe(
      'FORBIDDEN',
    );
    expect(await write('comments: { delete: [{ id: 1 }, { id: 5 }] }')).toBe('FORBIDDEN');
    expect(await write('comments: { set: [] }')).toBe('FORBIDDEN');
    expect(await comments()).toBe(BEFORE);
    expect(await write('comments: { disconnect: [{ id: 3 }, { id: 4 }] }')).toBe('done');
    expect(await comments()).toBe(BEFORE);
  });

  it('check the values of nested updates before anything is written', async () => {
    expect(
      await write('comments: { update: [{ where: { id: 1 }, data: { text: "too long" } }] }'),
    ).toBe('BAD_USER_INPUT input.comments.update.data.text');
    expect(await write('author: { update: { profile: { update: { bio: "x" } } } }')).toBe(
      'BAD_USER_INPUT input.author.update.profile.update.bio',
    );
  });

  it('through a join table: by any unique key', async () => {
    expect(
      await write(
        'tags: { create: [{ name: "n" }], update: [{ where: { name: "b" }, data: { name: "bb" } }], connectOrCreate: [{ where: { name: "z" }, create: {} }], connect: [{ name: "b" }], delete: [{ name: "a" }] }',
      ),
    ).toBe('done');
    expect((await tags()).split('').sort().join('')).toBe('bbcnz');
    expect((await all('{ tags { name } }')).tags.map(({ name }: any) => name).sort()).toEqual([
      'bb',
      'c',
      'n',
      'z',
    ]);
  });

  it('to one, whose key this row holds: update, disconnect, delete, and create in its place', async () => {
    expect(await write('cover: { update: { url: "new" } }')).toBe('done');
    expect(await write('cover: { connect: { id: 2 }, update: { url: "two" } }')).toBe('done');
    const covers = async () =>
      `${(await all('{ covers { id url } }')).covers.map(({ id, url }: any) => `${id}${url}`).join(' ')} ${(await all('{ posts { cover { id } } }')).posts[0].cover?.id ?? '-'}`;
    expect(await covers()).toBe('1new 2two 2');
    expect(await write('cover: { disconnect: true }')).toBe('done');
    expect(await write('cover: { update: { url: "x" } }')).toBe('BAD_USER_INPUT cover');
    expect(await write('cover: { delete: true }')).toBe('BAD_USER_INPUT cover');
    expect(await write('cover: { connect: { id: 1 } }')).toBe('done');
    expect(await write('cover: { delete: true, create: { url: "y" } }')).toBe('done');
    expect(await covers()).toMatch(/^2two (\d+)y \1$/);
    expect(called.map((call) => call.replace(/^create cover .*/, 'create cover'))).toEqual([
      'update cover 1',
      'update cover 2',
      'create cover',
      'delete cover 1',
    ]);
    expect(await write('cover: { connect: { id: 2 }, create: { url: "z" } }')).toBe(
      'BAD_USER_INPUT cover',
    );
  });

  it('to one, whose key the other row holds', async () => {
    const run = async (input: string) => {
      const { errors } = await server.query(
        `mutation { updateUser(id: 1, input: { ${input} }) { id } }`,
        {},
        ann,
      );
      return errors ? `${errors[0].extensions.code} ${errors[0].extensions.field}` : 'done';
    };
    const bios = async () =>
      (await all('{ users { profile { bio } } }')).users.map(({ profile }: any) => profile?.bio);
    expect(await run('profile: { update: { bio: "new" } }')).toBe('done');
    expect(await bios()).toEqual(['new', undefined]);
    expect(await run('profile: { delete: true, create: { bio: "next" } }')).toBe('done');
    expect(await bios()).toEqual(['next', undefined]);
    expect(await run('profile: { delete: true }')).toBe('done');
    expect(await run('profile: { delete: true }')).toBe('BAD_USER_INPUT profile');
    expect(await run('profile: { update: { bio: "none" } }')).toBe('BAD_USER_INPUT profile');
    expect(await bios()).toEqual([undefined, undefined]);
  });

  it('nest in each other, and write nothing below a row that is not there', async () => {
    expect(
      await write('author: { update: { name: "Anna", profile: { update: { bio: "deep" } } } }'),
    ).toBe('done');
    expect((await all('{ users { name profile { bio } } }')).users[0]).toEqual({
      name: 'Anna',
      profile: { bio: 'deep' },
    });
    const before = (await all('{ covers { id } }')).covers.length;
    expect(await write('cover: { create: { url: "orphan" } }', ann, 77)).toBe('none');
    expect((await all('{ covers { id } }')).covers).toHaveLength(before);
  });
});
