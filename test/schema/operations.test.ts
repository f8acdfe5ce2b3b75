import { describe, expect, it } from 'vitest';
import { operationOf, projectOf, read } from './reading.ts';

const TYPES = `
  scalar DateTime
  enum Status { DRAFT LIVE }
  type User { id: ID! name: String! email: String! @unique posts: [Post!]! }
  type Post { id: ID! title: String! status: Status! author: User tags: [Tag!]! createdAt: DateTime! }
  type Tag { id: ID! name: String! posts: [Post!]! }
  type PageInfo { hasNextPage: Boolean! }
  type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int }
  type PostEdge { node: Post! cursor: String! }
  input Text { eq: String contains: String in: [String!] isNull: Boolean }
`;
const query = (field: string, more = '') =>
  operationOf(projectOf(`type Query { ${field} } ${TYPES} ${more}`), field.match(/\w+/)?.[0] ?? '');
const mutation = (field: string, more = '') =>
  operationOf(
    projectOf(`type Query { x: Int } type Mutation { ${field} } ${TYPES} ${more}`),
    field.match(/\w+/)?.[0] ?? '',
  );
const reason = (sdl: string) =>
  read(`${sdl} ${TYPES}`).diagnostics.find(({ code }) => code === 'NOT_INFERRED')?.why;

describe('queries', () => {
  it('gets a row by id', () => {
    expect(query('user(id: ID!): User')).toMatchObject({
      action: { kind: 'get', entity: 'User', by: [{ arg: 'id', column: 'id' }], unique: true },
      decidedBy: 'get by id',
    });
    expect(query('user(userId: ID!): User').action).toMatchObject({
      by: [{ arg: 'userId', column: 'id' }],
    });
  });

  it('looks up a single result by fields, and says when they are not unique', () => {
    expect(query('userByEmail(email: String!): User').action).toMatchObject({
      kind: 'get',
      by: [{ arg: 'email', column: 'email' }],
      unique: true,
    });
    expect(query('whoever(name: String!, email: String): User').action).toMatchObject({
      unique: true,
    });
    expect(query('postOf(authorId: ID!, title: String!): Post').action).toMatchObject({
      by: [
        { arg: 'authorId', column: 'author_id' },
        { arg: 'title', column: 'title' },
      ],
      unique: false,
    });
  });

  it('lists by id, with equality filters and every way to page', () => {
    expect(query('users: [User!]!')).toMatchObject({
      action: {
        kind: 'list',
        entity: 'User',
        list: {
          filters: [],
          order: [{ column: 'id', descending: false }],
          paging: { default: 100, max: 100 },
        },
      },
      decidedBy: 'list',
    });
    expect(
      query(
        'posts(status: Status, authorId: ID, author: ID, limit: Int, offset: Int, first: Int, after: String, last: Int, before: String): [Post!]!',
      ).action,
    ).toMatchObject({
      list: {
        filters: [
          { arg: 'status', column: 'status' },
          { arg: 'authorId', column: 'author_id' },
          { arg: 'author', column: 'author_id' },
        ],
        paging: {
          limit: 'limit',
          offset: 'offset',
          first: 'first',
          after: 'after',
          last: 'last',
          before: 'before',
        },
      },
    });
  });

  it.each(['users', 'allUsers', 'getUsers', 'listUsers', 'userList', 'usersByName'])(
    'takes %s for a plain list',
    (name) => {
      expect(query(`${name}: [User!]!`).action.kind).toBe('list');
    },
  );

  it.each(['myUsers', 'topUsers', 'people', 'searchUsers'])(
    'leaves %s to the user, who knows what it promises',
    (name) => {
      expect(query(`${name}: [User!]!`).action.kind).toBe('custom');
      expect(query(`${name}: [User!]! @resolve(as: LIST)`).action.kind).toBe('list');
    },
  );

  it('caps lists by the manifest', () => {
    const project = projectOf(
      `type Query { users: [User!]! } ${TYPES}`,
      'name: x\napi: { limits: { list: 30 } }',
    );
    expect(operationOf(project, 'users').action).toMatchObject({
      list: { paging: { default: 30, max: 30 } },
    });
  });

  it('reads connections', () => {
    expect(query('posts(first: Int, after: String): PostConnection!')).toMatchObject({
      action: {
        kind: 'list',
        entity: 'Post',
        list: {
          connection: { type: 'PostConnection', edge: 'PostEdge', totalCount: 'totalCount' },
          paging: { first: 'first', after: 'after' },
        },
      },
      decidedBy: 'connection',
    });
  });

  it('lists interfaces and unions, and finds nodes', () => {
    const more = 'interface Node { id: ID! } union Hit = User | Post';
    expect(query('search(first: Int): [Hit!]!', more)).toMatchObject({
      action: { kind: 'listAbstract', type: 'Hit' },
      decidedBy: 'list of Hit',
    });
    expect(query('node(id: ID!): Node', more)).toMatchObject({
      action: { kind: 'node', arg: 'id' },
      decidedBy: 'node',
    });
  });

  it('leaves everything else to the user, and says why where it came close', () => {
    expect(query('hello(name: String): String')).toMatchObject({
      action: { kind: 'custom' },
      decidedBy: 'stub',
    });
    expect(reason('type Query { me: User }')).toBe('no argument says which User');
    expect(reason('type Query { users(search: String): [User!]! }')).toBe(
      'the argument search is no field of User and does not page',
    );
    expect(reason('type Query { posts(title: Int): [Post!]! }')).toBe(
      'the argument title is Int, and Post.title is String!',
    );
    expect(reason('type Query { posts(limit: String): [Post!]! }')).toBe(
      'the argument limit pages, but is String',
    );
  });
});

describe('filters', () => {
  const filters = (inputs: string) =>
    projectOf(`type Query { posts(where: PostFilter): [Post!]! } ${TYPES} ${inputs}`).filters;

  it('reads operators, equality, logic and relations, however deep', () => {
    const shapes =
      filters(`input PostFilter { id: ID title: Text status: Status authorId: ID and: [PostFilter!] or: [PostFilter!] not: PostFilter author: UserFilter tags: TagList }
      input UserFilter { name: Text posts: PostList } input PostList { some: PostFilter } input TagList { some: TagFilter every: TagFilter none: TagFilter } input TagFilter { name: String }`);
    expect(shapes.map(({ id, entity }) => [id, entity])).toEqual([
      ['PostFilter', 'Post'],
      ['UserFilter', 'User'],
      ['TagFilter', 'Tag'],
    ]);
    expect(shapes[0]?.filters).toEqual([
      { kind: 'equals', name: 'id', column: 'id' },
      {
        kind: 'operators',
        name: 'title',
        column: 'title',
        operators: ['eq', 'contains', 'in', 'isNull'],
      },
      { kind: 'equals', name: 'status', column: 'status' },
      { kind: 'equals', name: 'authorId', column: 'author_id' },
      { kind: 'and', name: 'and' },
      { kind: 'or', name: 'or' },
      { kind: 'not', name: 'not' },
      { kind: 'one', name: 'author', field: 'author', shape: 'UserFilter' },
      {
        kind: 'many',
        name: 'tags',
        field: 'tags',
        quantifiers: ['some', 'every', 'none'],
        shape: 'TagFilter',
      },
    ]);
    expect(shapes[1]?.filters[1]).toEqual({
      kind: 'many',
      name: 'posts',
      field: 'posts',
      quantifiers: ['some'],
      shape: 'PostFilter',
    });
  });

  it.each([
    [
      'input PostFilter { titel: Text }',
      'PostFilter.titel is no field of Post that can be compared',
    ],
    [
      'input PostFilter { title: Odd } input Odd { like: String }',
      'Odd.like is no comparison we know: eq ne in notIn lt lte gt gte contains startsWith endsWith isNull',
    ],
    ['input PostFilter { title: Int }', 'PostFilter.title is Int, and the field is String'],
    [
      'input PostFilter { tags: TagList } input TagList { many: TagFilter } input TagFilter { name: String }',
      'TagList has to have some, every or none, of one input type',
    ],
  ])('says why %s is not understood', (inputs, why) => {
    expect(reason(`type Query { posts(where: PostFilter): [Post!]! } ${inputs}`)).toBe(why);
  });

  it('takes an input for one type only', () => {
    expect(
      reason(
        'type Query { posts(where: Any): [Post!]! users(where: Any): [User!]! } input Any { id: ID }',
      ),
    ).toBe('Any filters Post elsewhere, and here it would filter User');
  });
});

describe('orders', () => {
  const order = (inputs: string) =>
    projectOf(`type Query { posts(orderBy: PostOrder): [Post!]! } ${TYPES} ${inputs}`).orders[0]
      ?.form;

  it('reads an enum with directions', () => {
    expect(order('enum PostOrder { TITLE_ASC CREATED_AT_DESC id_desc titleAsc status }')).toEqual({
      kind: 'enum',
      values: [
        { value: 'TITLE_ASC', column: 'title', descending: false },
        { value: 'CREATED_AT_DESC', column: 'created_at', descending: true },
        { value: 'id_desc', column: 'id', descending: true },
        { value: 'titleAsc', column: 'title', descending: false },
        { value: 'status', column: 'status', descending: false },
      ],
    });
  });

  it('reads an input with a direction for each field', () => {
    expect(order('enum Sort { ASC DESC } input PostOrder { title: Sort createdAt: Sort }')).toEqual(
      {
        kind: 'fields',
        fields: [
          { name: 'title', column: 'title' },
          { name: 'createdAt', column: 'created_at' },
        ],
      },
    );
  });

  it('reads a pair of field and direction', () => {
    expect(
      order(
        'enum Sort { ASC DESC } enum By { TITLE CREATED_AT } input PostOrder { field: By! direction: Sort }',
      ),
    ).toEqual({
      kind: 'pair',
      field: 'field',
      direction: 'direction',
      values: [
        { value: 'TITLE', column: 'title' },
        { value: 'CREATED_AT', column: 'created_at' },
      ],
    });
  });

  it('says which value names no field', () => {
    expect(
      reason('type Query { posts(orderBy: PostOrder): [Post!]! } enum PostOrder { TITEL_ASC }'),
    ).toBe('PostOrder.TITEL_ASC names no field of Post that can be sorted');
  });
});

describe('mutations', () => {
  it('creates by an input and by arguments', () => {
    expect(
      mutation(
        'createUser(input: NewUser!): User!',
        'input NewUser { name: String! email: String! }',
      ),
    ).toMatchObject({
      action: {
        kind: 'create',
        entity: 'User',
        write: 'NewUser:User',
        input: 'input',
        returns: { kind: 'entity' },
      },
      decidedBy: 'create',
    });
    expect(mutation('createUser(name: String!, email: String!): ID!').action).toEqual({
      kind: 'create',
      entity: 'User',
      write: 'Mutation.createUser:User',
      returns: { kind: 'id' },
    });
  });

  it.each(['createTag', 'addTag', 'insertTag', 'tagCreate', 'create_Tag'])('knows %s', (name) => {
    expect(mutation(`${name}(name: String!): Tag`).action.kind).toBe('create');
  });

  it('patches by id beside or inside the input', () => {
    const input = 'input TagPatch { name: String } input TagPatchWithId { id: ID! name: String }';
    expect(mutation('updateTag(id: ID!, input: TagPatch!): Tag', input).action).toMatchObject({
      kind: 'update',
      id: ['id'],
      write: 'TagPatch:Tag',
      input: 'input',
    });
    expect(mutation('updateTag(input: TagPatchWithId!): Tag', input).action).toMatchObject({
      kind: 'update',
      id: ['input', 'id'],
      write: 'TagPatchWithId#patch:Tag',
    });
    expect(mutation('editTag(tagId: ID!, name: String): Tag').action).toMatchObject({
      kind: 'update',
      id: ['tagId'],
    });
  });

  it('tells an input that patches from the same input that creates', () => {
    const project = projectOf(
      'type Query { x: Int } type Mutation { createTag(input: TagInput!): Tag updateTag(input: TagInput!): Tag } type Tag { id: ID! name: String! } input TagInput { id: ID name: String! }',
      'name: x\ndatabase: { ids: uuid }',
    );
    expect(project.writes.map(({ id, writes }) => [id, writes.map(({ name }) => name)])).toEqual([
      ['TagInput:Tag', ['id', 'name']],
      ['TagInput#patch:Tag', ['name']],
    ]);
  });

  it('removes by id and answers as declared', () => {
    expect(mutation('deleteTag(id: ID!): Boolean!').action).toEqual({
      kind: 'remove',
      entity: 'Tag',
      id: ['id'],
      returns: { kind: 'boolean' },
    });
    expect(
      mutation(
        'removeTag(input: Gone!): RemoveTagPayload',
        'input Gone { id: ID! clientMutationId: String } type RemoveTagPayload { deletedId: ID success: Boolean! tag: Tag clientMutationId: String errors: [String!]! }',
      ).action,
    ).toEqual({
      kind: 'remove',
      entity: 'Tag',
      id: ['input', 'id'],
      returns: {
        kind: 'payload',
        type: 'RemoveTagPayload',
        entity: 'tag',
        id: 'deletedId',
        ok: 'success',
        clientMutationId: 'clientMutationId',
        empty: ['errors'],
      },
    });
  });

  it('sets relations by key, by keys and by nested inputs', () => {
    const project =
      projectOf(`type Query { x: Int } type Mutation { updatePost(id: ID!, input: PostInput!): Post createUser(input: UserInput!): User } ${TYPES}
      input PostInput { title: String authorId: ID tagIds: [ID!] tags: TagLinks author: AuthorLink clientMutationId: String }
      input TagLinks { connect: [Key!] disconnect: [Key!] create: [TagInput!] } input AuthorLink { connect: Key create: UserInput } input Key { id: ID! }
      input TagInput { name: String! } input UserInput { name: String! email: String! posts: PostLinks } input PostLinks { create: [NewPost!] } input NewPost { title: String! status: Status! }`);
    const shape = (id: string) => project.writes.find((write) => write.id === id)?.writes;
    expect(shape('PostInput:Post')).toEqual([
      { kind: 'column', name: 'title', column: 'title' },
      { kind: 'key', name: 'authorId', field: 'author' },
      { kind: 'keys', name: 'tagIds', field: 'tags' },
      {
        kind: 'nested',
        name: 'tags',
        field: 'tags',
        connect: 'connect',
        disconnect: 'disconnect',
        create: { name: 'create', shape: 'TagInput:Tag' },
      },
      {
        kind: 'nested',
        name: 'author',
        field: 'author',
        connect: 'connect',
        create: { name: 'create', shape: 'UserInput:User' },
      },
      { kind: 'ignored', name: 'clientMutationId' },
    ]);
    expect(shape('UserInput:User')?.[2]).toEqual({
      kind: 'nested',
      name: 'posts',
      field: 'posts',
      create: { name: 'create', shape: 'NewPost:Post' },
    });
    expect(project.operations.map(({ action }) => action.kind)).toEqual([
      'custom',
      'update',
      'create',
    ]);
  });

  it('takes the constraint of the input, else of the field', () => {
    const project =
      projectOf(`type Query { x: Int } type Mutation { createA(input: AInput!): A } type A { id: ID! b: String @constraint(maxLength: 9) c: String @constraint(maxLength: 9) }
      input AInput { b: String c: String @constraint(maxLength: 3) }`);
    expect(project.writes[0]?.writes).toMatchObject([
      { constraint: { maxLength: 9 } },
      { constraint: { maxLength: 3 } },
    ]);
  });

  it('leaves a create alone that would always fail', () => {
    const { diagnostics, project } = read(
      `type Query { x: Int } type Mutation { createPost(title: String!): Post } ${TYPES}`,
    );
    expect(diagnostics.find(({ code }) => code === 'CREATE_FIELD_UNSET')).toMatchObject({
      severity: 'warning',
      why: 'nothing sets status, which is required and has no default',
    });
    expect(project?.operations.at(-1)?.action.kind).toBe('custom');
  });

  it('gives a row to whoever makes it under a rule for owners', () => {
    const project = projectOf(
      'type Query { x: Int } type Mutation { createNote(text: String!): Note! } type User { id: ID! email: String! } type Note @auth(allow: [OWNER], owner: "author") { id: ID! text: String! author: User! }',
      'name: x\nauth:',
    );
    expect(operationOf(project, 'createNote').action.kind).toBe('create');
  });

  it.each([
    ['createTag(name: String!): [Tag]', 'it answers with a list'],
    ['createTag(name: String!): Post', 'Post is neither Tag, nor ID, Boolean or a payload'],
    ['createTag(nmae: String!): Tag', 'Mutation.createTag.nmae is no field of Tag'],
    ['createTag(name: Int!): Tag', 'Mutation.createTag.name is Int, and the field is String'],
    [
      'createTag(id: ID!, name: String!): Tag',
      'Mutation.createTag.id would set the key, which the database makes',
    ],
    ['updateTag(name: String): Tag', 'no argument id says which row'],
    [
      'deleteTag(id: ID!, hard: Boolean): Boolean',
      'the argument hard has no meaning for removing a row',
    ],
  ])('says why %s is not understood', (field, why) => {
    expect(reason(`type Query { x: Int } type Mutation { ${field} }`)).toBe(why);
  });

  it('serves what it knows of a payload, and leaves the rest to the user', () => {
    const sdl = `type Query { x: Int } type Tag { id: ID! name: String }
      type Mutation { createTag(name: String!): CreateTagPayload }
      type CreateTagPayload { tag: Tag took: Int! }`;
    expect(operationOf(projectOf(sdl), 'createTag').action).toMatchObject({
      kind: 'create',
      returns: { kind: 'payload', entity: 'tag' },
    });
    expect(read(sdl).diagnostics).toMatchObject([
      {
        code: 'NOT_INFERRED',
        coordinate: 'CreateTagPayload.took',
        fixes: [{ edits: [{ text: ' @computed' }] }],
      },
    ]);
  });

  it('leaves mutations of nothing we know to the user without a word', () => {
    expect(
      read(`type Query { x: Int } type Mutation { publish(id: ID!): Boolean }`).diagnostics,
    ).toEqual([]);
  });
});

describe('subscriptions', () => {
  it('are fed by changes', () => {
    const project = projectOf(
      `type Query { x: Int } type Subscription { userCreated: User! onUserUpdated: User userDeleted: User userChanged(id: ID!): User tick: Int } ${TYPES}`,
    );
    expect(project.operations.slice(1).map(({ action }) => action)).toEqual([
      { kind: 'subscribe', entity: 'User', on: ['created'] },
      { kind: 'subscribe', entity: 'User', on: ['updated'] },
      { kind: 'subscribe', entity: 'User', on: ['deleted'] },
      { kind: 'subscribe', entity: 'User', on: ['created', 'updated', 'deleted'], id: 'id' },
      { kind: 'custom' },
    ]);
  });

  it('say what their name leaves open', () => {
    expect(reason('type Query { x: Int } type Subscription { newUser: User }')).toContain(
      'userCreated',
    );
  });
});
