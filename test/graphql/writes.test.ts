import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime
  type User { id: ID! email: String! @unique name: String! posts: [Post!]! @relation(inverse: "author") edited: [Post!]! @relation(inverse: "editor") profile: Profile createdAt: DateTime! updatedAt: DateTime! }
  type Profile { id: ID! bio: String! user: User! }
  type Post { id: ID! title: String! status: Status! @default(value: DRAFT) author: User! editor: User tags: [Tag!]! place: Place removedAt: DateTime }
  type Tag { id: ID! label: String! posts: [Post!]! }
  type Place { city: String! zip: String }
  type File @entity(softDelete: true) { id: ID! name: String! }
  input PlaceInput { city: String! zip: String }
  enum Status { DRAFT LIVE }
  input CreateUserInput { email: String! name: String! @constraint(minLength: 2, maxLength: 20) posts: UserPosts }
  input UserPosts { create: [PostInput!] connect: [IdInput!] disconnect: [IdInput!] }
  input PostInput { title: String! @constraint(pattern: "^[A-Za-z ]+$") tags: PostTags place: PlaceInput }
  input PostTags { create: [TagInput!] connect: [IdInput!] disconnect: [IdInput!] }
  input TagInput { label: String! }
  input IdInput { id: ID! }
  input CreatePostInput { title: String! status: Status authorId: ID editorId: ID tagIds: [ID!] author: PostAuthor }
  input PostAuthor { connect: IdInput create: PersonInput }
  input PersonInput { email: String! name: String! }
  input UpdateUserInput { name: String posts: UserPosts editedIds: [ID!] }
  input UpdatePostInput { title: String status: Status editorId: ID tagIds: [ID!] tags: PostTags }
  type CreatePostPayload { post: Post clientMutationId: String }
  input CreatePostWithIdInput { title: String! authorId: ID! clientMutationId: String }
  type UpdatePostPayload { post: Post! }
  type DeletePostPayload { id: ID ok: Boolean! post: Post }
  type Query { users: [User!]! user(id: ID!): User posts: [Post!]! post(id: ID!): Post tags: [Tag!]! files: [File!]! file(id: ID!): File }
  type Mutation {
    createUser(input: CreateUserInput!): User! updateUser(id: ID!, input: UpdateUserInput!): User deleteUser(id: ID!): User
    createPost(input: CreatePostInput!): Post! updatePost(id: ID!, input: UpdatePostInput!): UpdatePostPayload! deletePost(id: ID!): DeletePostPayload!
    createTag(label: String!): ID! createFile(name: String!): File! deleteFile(id: ID!): Boolean! updateFile(id: ID!, name: String): File!
  }
`;

describe.each(databases)('mutations on %s', (database) => {
  let server: TestServer;
  // One of the answers has three lists in each other.
  const manifest = 'name: writes\napi: { limits: { cost: 2000000 } }\n';
  beforeEach(async () => void (server = await startServer(SDL, { database, manifest })));
  afterEach(() => server?.close());

  const run = async (query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : data;
  };
  const count = async (table: string) =>
    (await server.store.db.selectFrom(table).select('id').execute()).length;

  it('create what an input nests, in one transaction', async () => {
    const input = {
      email: 'a@x.test',
      name: 'Ada',
      posts: {
        create: [
          {
            title: 'One',
            place: { city: 'Rome' },
            tags: { create: [{ label: 'x' }, { label: 'y' }] },
          },
          { title: 'Two' },
        ],
      },
    };
    expect(
      await run(
        'mutation ($input: CreateUserInput!) { createUser(input: $input) { id posts { title status place { city zip } tags { label posts { id } } } } }',
        { input },
      ),
    ).toEqual({
      createUser: {
        id: '1',
        posts: [
          {
            title: 'One',
            status: 'DRAFT',
            place: { city: 'Rome', zip: null },
            tags: [
              { label: 'x', posts: [{ id: '1' }] },
              { label: 'y', posts: [{ id: '1' }] },
            ],
          },
          { title: 'Two', status: 'DRAFT', place: null, tags: [] },
        ],
      },
    });
    const bad = {
      email: 'b@x.test',
      name: 'Bob',
      posts: { create: [{ title: 'Three' }], connect: [{ id: '99' }] },
    };
    expect(
      await run('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
        input: bad,
      }),
    ).toEqual(['BAD_USER_INPUT: posts: there is no such Post']);
    expect([await count('users'), await count('posts')]).toEqual([1, 2]);
  });

  it('check every input before anything is written', async () => {
    const nested = {
      email: 'a@x.test',
      name: 'Ada',
      posts: { create: [{ title: 'ok' }, { title: 'not 0K' }] },
    };
    server.statements();
    expect(
      await run('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
        input: nested,
      }),
    ).toEqual(['BAD_USER_INPUT: input.posts.create.title must match ^[A-Za-z ]+$']);
    expect(
      await run('mutation { createUser(input: { email: "a@x.test", name: "A" }) { id } }'),
    ).toEqual(['BAD_USER_INPUT: input.name must have at least 2 characters']);
    expect(server.statements()).toEqual([]);
  });

  it('tell a client what it did wrong: a value that is taken, a row that is not there', async () => {
    await run('mutation { createUser(input: { email: "a@x.test", name: "Ada" }) { id } }');
    expect(
      await run('mutation { createUser(input: { email: "a@x.test", name: "Eve" }) { id } }'),
    ).toEqual(['CONFLICT: email already exists']);
    expect(await run('mutation { createPost(input: { title: "x", authorId: 9 }) { id } }')).toEqual(
      ['BAD_USER_INPUT: authorId: there is no such User'],
    );
    expect(
      await run('mutation { createPost(input: { title: "x", authorId: "abc" }) { id } }'),
    ).toEqual(['BAD_USER_INPUT: authorId: there is no such User']);
    expect(await run('mutation { createPost(input: { title: "x" }) { id } }')).toEqual([
      expect.stringContaining('BAD_USER_INPUT: '),
    ]);
    expect(
      await run('mutation { updatePost(id: 9, input: { title: "x" }) { post { id } } }'),
    ).toEqual(['NOT_FOUND: Post not found']);
    expect(await run('mutation { updateFile(id: 9, name: "x") { id } }')).toEqual([
      'NOT_FOUND: File not found',
    ]);
  });

  it('set relations by key, by connecting and by creating', async () => {
    await run(
      'mutation { a: createUser(input: { email: "a@x.test", name: "Ada" }) { id } b: createTag(label: "x") c: createTag(label: "y") d: createTag(label: "z") }',
    );
    expect(
      await run(
        'mutation { createPost(input: { title: "One", author: { connect: { id: 1 } }, tagIds: [1, 2] }) { author { name } tags { label } } }',
      ),
    ).toEqual({ createPost: { author: { name: 'Ada' }, tags: [{ label: 'x' }, { label: 'y' }] } });
    expect(
      await run(
        'mutation { createPost(input: { title: "Two", author: { create: { email: "b@x.test", name: "Bob" } } }) { author { id name } } }',
      ),
    ).toEqual({ createPost: { author: { id: '2', name: 'Bob' } } });
    expect(
      await run(
        'mutation { updatePost(id: 1, input: { tagIds: [2, 3] }) { post { tags { id } } } }',
      ),
    ).toEqual({ updatePost: { post: { tags: [{ id: '2' }, { id: '3' }] } } });
    expect(
      await run(
        'mutation { updatePost(id: 1, input: { tags: { connect: [{ id: 1 }], disconnect: [{ id: 2 }, { id: 3 }], create: [{ label: "new" }] } }) { post { tags { label } } } }',
      ),
    ).toEqual({ updatePost: { post: { tags: [{ label: 'x' }, { label: 'new' }] } } });
    expect(
      await run(
        'mutation { updatePost(id: 1, input: { editorId: 2, tagIds: [] }) { post { editor { name } tags { id } } } }',
      ),
    ).toEqual({ updatePost: { post: { editor: { name: 'Bob' }, tags: [] } } });
    expect(
      await run(
        'mutation { updatePost(id: 1, input: { editorId: null }) { post { editor { name } title } } }',
      ),
    ).toEqual({ updatePost: { post: { editor: null, title: 'One' } } });
    expect(
      await run(
        'mutation { updateUser(id: 2, input: { posts: { connect: [{ id: 1 }] } }) { posts { id } } }',
      ),
    ).toEqual({ updateUser: { posts: [{ id: '1' }, { id: '2' }] } });
    const edited = async (ids: string) =>
      (
        await run(`mutation { updateUser(id: 2, input: { editedIds: ${ids} }) { edited { id } } }`)
      ).updateUser.edited.map(({ id }: any) => id);
    expect([
      await edited('[1, 2]'),
      await edited('[2]'),
      await edited('[1]'),
      await edited('[]'),
    ]).toEqual([['1', '2'], ['2'], ['1'], []]);
    await run('mutation { updatePost(id: 2, input: { editorId: 1 }) { post { id } } }');
    expect(await edited('[1]')).toEqual(['1']);
    expect(await run('{ post(id: 2) { editor { id } } }')).toEqual({
      post: { editor: { id: '1' } },
    });
    expect(
      await run(
        'mutation { updateUser(id: 2, input: { posts: { disconnect: [{ id: 1 }] } }) { id } }',
      ),
    ).toEqual([expect.stringContaining('is required')]);
  });

  it('answer as the schema declares: an entity, an id, a payload', async () => {
    await run(
      'mutation { createUser(input: { email: "a@x.test", name: "Ada" }) { id } createPost(input: { title: "One", authorId: 1 }) { id } }',
    );
    expect(await run('mutation { createTag(label: "x") }')).toEqual({ createTag: '1' });
    expect(
      await run(
        'mutation { p: deletePost(id: 1) { __typename gone: id ok post { title author { name } } } }',
      ),
    ).toEqual({
      p: {
        __typename: 'DeletePostPayload',
        gone: '1',
        ok: true,
        post: { title: 'One', author: { name: 'Ada' } },
      },
    });
    expect(await run('mutation { deletePost(id: 1) { id ok post { title } } }')).toEqual({
      deletePost: { id: null, ok: false, post: null },
    });
    expect(await run('mutation { deleteUser(id: 1) { name posts { id } } }')).toEqual({
      deleteUser: { name: 'Ada', posts: [] },
    });
    expect(await run('mutation { deleteUser(id: 1) { name } }')).toEqual({ deleteUser: null });
  });

  it('keep times, and the rows of an entity that is never quite deleted', async () => {
    const { createUser } = await run(
      'mutation { createUser(input: { email: "a@x.test", name: "Ada" }) { createdAt updatedAt } }',
    );
    expect(createUser.createdAt).toBe(createUser.updatedAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await run('mutation { updateUser(id: 1, input: { name: "Ada L" }) { id } }');
    const { user } = await run('{ user(id: 1) { createdAt updatedAt } }');
    expect(user.createdAt).toBe(createUser.createdAt);
    expect(user.updatedAt > user.createdAt).toBe(true);
    await run('mutation { createFile(name: "a") { id } }');
    expect(await run('mutation { deleteFile(id: 1) }')).toEqual({ deleteFile: true });
    expect(await run('mutation { deleteFile(id: 1) }')).toEqual({ deleteFile: false });
    expect(await run('{ files { id } file(id: 1) { id } }')).toEqual({ files: [], file: null });
    expect(await count('files')).toBe(1);
  });

  it('run one after the other, and stop where one fails that must not', async () => {
    const answer = await server.query(
      'mutation { a: createUser(input: { email: "a@x.test", name: "Ada" }) { id posts { id } } b: createUser(input: { email: "a@x.test", name: "Bob" }) { id } c: createTag(label: "never") }',
    );
    expect(answer).toMatchObject({
      data: null,
      errors: [{ path: ['b'], extensions: { code: 'CONFLICT' } }],
    });
    expect([await count('users'), await count('tags')]).toEqual([1, 0]);
  });

  it('lose nothing when many come at once', async () => {
    await run('mutation { createUser(input: { email: "a@x.test", name: "Ada" }) { id } }');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        run(
          `mutation { createPost(input: { title: "P${index}", authorId: 1, author: { connect: { id: 1 } } }) { id } }`,
        ),
      ),
    );
    expect(new Set(answers.map(({ createPost }) => createPost.id)).size).toBe(40);
    expect(await count('posts')).toBe(40);
  });
});
