import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { operationOf, projectOf, read } from './reading.ts';

const ON = 'name: x\napi: { crud: true }';
const kinds = (sdl: string, manifest = ON) =>
  Object.fromEntries(
    projectOf(sdl, manifest).operations.map(({ name, action }) => [name, action.kind]),
  );

describe('api.crud', () => {
  it('adds what is missing, as SDL that is served and understood', () => {
    const project = projectOf(
      `type Query { posts: [Post!]! } scalar DateTime enum S { A B }
      type Post { id: ID! title: String! author: User! tags: [Tag!]! place: Place list: [Int!]! status: S! @default(value: A) createdAt: DateTime! }
      type User { id: ID! posts: [Post!]! name: String } type Tag { id: ID! posts: [Post!]! } type Place { city: String! near: [Place!] }`,
      ON,
    );
    expect(project.sdl.endsWith(project.crudSdl ?? '-')).toBe(true);
    expect(project.crudSdl).toContain(
      'input CreatePostInput {\n  title: String!\n  authorId: ID!\n  tagIds: [ID!]\n  place: PlaceInput\n  list: [Int!]!\n  status: S\n}',
    );
    expect(project.crudSdl).toContain('input UpdatePostInput {\n  title: String\n  authorId: ID\n');
    expect(project.crudSdl).toContain(
      'input PlaceInput {\n  city: String!\n  near: [PlaceInput!]\n}',
    );
    expect(() => buildSchema(project.sdl)).not.toThrow();
    expect(
      project.operations
        .filter(({ root }) => root === 'mutation')
        .map(({ name, action }) => [name, action.kind]),
    ).toEqual([
      ['createPost', 'create'],
      ['updatePost', 'update'],
      ['deletePost', 'remove'],
      ['createUser', 'create'],
      ['updateUser', 'update'],
      ['deleteUser', 'remove'],
      ['createTag', 'create'],
      ['updateTag', 'update'],
      ['deleteTag', 'remove'],
    ]);
  });

  it('leaves alone what the schema has already', () => {
    expect(
      kinds(
        'type Query { x: Int } type Mutation { addTag(name: String): Tag deleteTag(id: ID!): ID! @resolve(as: CUSTOM) } type Tag { id: ID! name: String }',
      ),
    ).toEqual({
      x: 'custom',
      addTag: 'create',
      deleteTag: 'custom',
      updateTag: 'update',
      tag: 'get',
      tags: 'list',
      tagsConnection: 'list',
      tagsAggregate: 'aggregated',
    });
  });

  it('adds to a mutation type of any name, and makes one where there is a schema definition', () => {
    expect(
      kinds(
        'schema { query: Q mutation: M } type Q { x: Int } type M { y: Int } type Tag { id: ID! name: String }',
      ),
    ).toMatchObject({ createTag: 'create' });
    expect(
      kinds('schema { query: Q } type Q { x: Int } type Tag { id: ID! name: String }'),
    ).toMatchObject({ createTag: 'create' });
  });

  it('asks no owner of whoever makes the row, and nothing that signing in keeps', () => {
    const { crudSdl = '' } = projectOf(
      'type Query { x: Int } scalar DateTime type User { id: ID! email: String! nick: String phone: String userName: String isLocked: Boolean emailVerifiedAt: DateTime } type Note @auth(allow: [OWNER]) { id: ID! author: User! }',
      `${ON}\nauth:`,
    );
    expect(crudSdl).toContain('input CreateNoteInput {\n  authorId: ID\n}');
    expect(crudSdl).toContain('input UpdateUserInput {\n  nick: String\n}');
    expect(crudSdl).not.toMatch(/createUser|email|phone|userName|isLocked/);
  });

  it('writes what the directive of a type says, else what the manifest lists', () => {
    const sdl =
      'type Query { x: Int } type Tag @crud(operations: [GET, DELETE]) { id: ID! } type Post @crud { id: ID! text: String } type Log @crud(operations: []) { id: ID! } type Other { id: ID! }';
    expect(Object.keys(kinds(sdl, 'name: x'))).toEqual(
      'x tag post posts postsConnection postsAggregate deleteTag createPost updatePost deletePost'.split(
        ' ',
      ),
    );
    expect(Object.keys(kinds(sdl, 'name: x\napi: { crud: [LIST] }'))).toEqual(
      'x tag posts others deleteTag'.split(' '),
    );
    expect(read(sdl, 'name: x\napi: { crud: [LIST, READ] }').diagnostics).toMatchObject([
      { code: 'MANIFEST_SHAPE', severity: 'error' },
    ]);
  });

  it('reports a name that means something else at both places, and writes nothing', () => {
    const { project, diagnostics } = read(
      'type Query { x: Int }\ntype Post { id: ID! title: String! }\ntype PostFilter { a: Int }',
      ON,
    );
    expect(project).toBeNull();
    expect(diagnostics.map(({ code, at }) => `${code} ${at.line}:${at.column}`)).toEqual([
      'CRUD_NAME_TAKEN 2:6',
      'CRUD_NAME_TAKEN 3:6',
    ]);
    expect(
      kinds('type Query { x: Int } type Post { id: ID! } enum PostOrder { ID_DESC }'),
    ).toMatchObject({ posts: 'list' });
  });

  it('writes another name where a type of the schema has the first, or needs it for itself', () => {
    const sdl =
      'type Query { x: Int }\ntype Post { id: ID! }\ntype PostList { id: ID! posts: [Post!]! }\ntype Other { id: ID! lists: [PostList!]! posts: [Post!]! }\ntype PostOrder { id: ID! news: News }\ntype News { id: ID! orders: [PostOrder!]! }\ntype NewsList { id: ID! }';
    const { crudSdl } = projectOf(sdl, ON);
    expect(crudSdl).toContain('posts: Post_ListFilter');
    expect(crudSdl).toContain('lists: PostListListFilter');
    expect(crudSdl).toContain('orderBy: [Post_Order!]');
    expect(crudSdl).toMatch(/ allNews\([^]*?: \[News!\]!/);
    expect(crudSdl).toContain('newsList(id: ID!): NewsList');
  });

  it('sorts by a direction of its own where yours is something else', () => {
    for (const yours of ['enum Direction { IN OUT }', 'type Direction { id: ID! step: String }']) {
      const sdl = `type Query { x: Int }\ntype Post { id: ID! title: String way: Direction }\n${yours}`;
      const { project, diagnostics } = read(sdl, ON);
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(project!.crudSdl).toContain('title: SortDirection');
      expect(project!.operations.find(({ name }) => name === 'posts')?.action.kind).toBe('list');
    }
  });

  it('leaves a root type that is no object to the finding about it', () => {
    const { diagnostics } = read(
      'type Query { x: Int }\ntype A { id: ID! }\nenum Mutation { A }',
      ON,
    );
    expect(diagnostics.map(({ code }) => code)).toContain('SDL_INVALID');
  });

  it('reports a member of an input of yours whose field is gone, at its place', () => {
    const sdl =
      'type Query { x: Int }\ntype Post { id: ID! title: String! }\ninput PostFilter {\n  title: StringFilter\n  views: IntFilter\n}';
    const { project, diagnostics } = read(sdl, ON);
    expect(project).not.toBeNull();
    const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
    expect(warnings.map(({ at }) => `${at.file}:${at.line}`)).toEqual(
      warnings.map(() => 'schema.graphql:5'),
    );
    expect(warnings.map(({ summary }) => summary)).toContain(
      'Query.posts, which api.crud writes, cannot be served',
    );
    expect(project!.crudSdl).not.toContain('views');
  });

  it('warns with auth of each type that every account may change, and says so without it', () => {
    const sdl =
      'type Query { x: Int } type User { id: ID! email: String! } type Post { id: ID! title: String! }';
    expect(read(sdl, `${ON}\nauth:`).diagnostics.map(({ code }) => code)).toContain(
      'AUTH_TYPE_OPEN',
    );
    expect(projectOf(sdl, ON).crudSdl).toContain('open to everyone');
    expect(projectOf(sdl, `${ON}\nauth:`).crudSdl).not.toContain('open to everyone');
  });

  it('adds nothing unless asked', () => {
    const project = projectOf('type Query { x: Int } type Tag { id: ID! }');
    expect(project.crudSdl).toBeUndefined();
    expect(() => operationOf(project, 'createTag')).toThrow();
  });

  it('does not hide the findings of the schema', () => {
    expect(
      read('type Query { x: Nope } type Tag { id: ID! }', ON).diagnostics.map(({ code }) => code),
    ).toEqual(['TYPE_UNKNOWN']);
  });
});
