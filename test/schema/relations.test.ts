import { describe, expect, it } from 'vitest';
import { buildTables } from '@twofold/schema';
import { columnsOf, entityOf, fieldOf, findingsOf, projectOf, QUERY } from './reading.ts';

const source = (sdl: string, field: string) => fieldOf(projectOf(QUERY + sdl), field).source;

describe('relations', () => {
  it('keeps a single object by its key', () => {
    const sdl = 'type User { id: ID! } type Post { id: ID! author: User! editor: User }';
    const project = projectOf(QUERY + sdl);
    expect(columnsOf(project, 'Post')).toEqual(['id', 'author_id', 'editor_id']);
    expect(fieldOf(project, 'Post.author').source).toEqual({
      kind: 'one',
      entity: 'User',
      key: 'own',
      column: 'author_id',
    });
    expect(entityOf(project, 'Post').columns.slice(1)).toMatchObject([
      { required: true, references: { entity: 'User', onDelete: 'restrict' } },
      { required: false, references: { entity: 'User', onDelete: 'set null' } },
    ]);
  });

  it('finds the other end of a list', () => {
    const sdl =
      'type User { id: ID! posts(limit: Int, offset: Int): [Post!]! } type Post { id: ID! author: User! }';
    expect(source(sdl, 'User.posts')).toMatchObject({
      kind: 'many',
      entity: 'Post',
      via: { kind: 'column', column: 'author_id' },
      inverse: 'author',
      list: { paging: { limit: 'limit', offset: 'offset', default: 100, max: 100 } },
    });
    expect(source(sdl, 'Post.author')).toMatchObject({ inverse: 'posts' });
  });

  it('makes a join table of lists on both sides, whichever type stands first', () => {
    const types = ['type Post { id: ID! tags: [Tag!]! }', 'type Tag { id: ID! posts: [Post!]! }'];
    for (const sdl of [types.join(' '), types.toReversed().join(' ')]) {
      expect(source(sdl, 'Post.tags')).toMatchObject({
        via: { kind: 'table', table: 'post_tags', own: 'post_id', other: 'tag_id' },
        inverse: 'posts',
      });
      expect(source(sdl, 'Tag.posts')).toMatchObject({
        via: { kind: 'table', table: 'post_tags', own: 'tag_id', other: 'post_id' },
        inverse: 'tags',
      });
    }
  });

  it('keeps a list that nothing answers in a join table, and says so', () => {
    const sdl = 'type Order { id: ID! items: [Item!]! } type Item { id: ID! }';
    expect(source(sdl, 'Order.items')).toMatchObject({
      via: { kind: 'table', table: 'order_items', own: 'order_id', other: 'item_id' },
    });
    expect(findingsOf(QUERY + sdl)).toEqual(['2:22 RELATION_ONE_SIDED']);
  });

  it('keeps a list over the column that it names, which no field shows', () => {
    const sdl =
      'type Order { id: ID! items: [Item!]! @relation(column: "order_id") } type Item { id: ID! }';
    expect(source(sdl, 'Order.items')).toMatchObject({
      via: { kind: 'column', column: 'order_id' },
    });
    expect(columnsOf(projectOf(QUERY + sdl), 'Item')).toEqual(['id', 'order_id']);
    expect(findingsOf(QUERY + sdl)).toEqual([]);
  });

  it('reads userId: ID! as a key when there is a type User', () => {
    const sdl =
      'type User { id: ID! posts: [Post!]! } type Post { id: ID! userId: ID! externalId: ID }';
    const project = projectOf(QUERY + sdl);
    expect(entityOf(project, 'Post').columns.slice(1)).toMatchObject([
      { name: 'user_id', type: 'id', references: { entity: 'User' } },
      { name: 'external_id', type: 'text' },
    ]);
    expect(fieldOf(project, 'User.posts').source).toMatchObject({
      via: { kind: 'column', column: 'user_id' },
    });
  });

  it('shows the key of a relation twice when the schema does', () => {
    const project = projectOf(
      `${QUERY} type User { id: ID! } type Post { id: ID! author: User authorId: ID! }`,
    );
    expect(columnsOf(project, 'Post')).toEqual(['id', 'author_id']);
    expect(entityOf(project, 'Post').columns[1]).toMatchObject({
      field: 'authorId',
      type: 'id',
      required: true,
      references: { entity: 'User' },
    });
    expect(fieldOf(project, 'Post.authorId').source).toEqual({
      kind: 'column',
      column: 'author_id',
    });
  });

  it('pairs single objects that are named after each other, with the key on the required side', () => {
    const sdl = 'type User { id: ID! profile: Profile } type Profile { id: ID! user: User! }';
    const project = projectOf(QUERY + sdl);
    expect(fieldOf(project, 'User.profile').source).toEqual({
      kind: 'one',
      entity: 'Profile',
      key: 'inverse',
      column: 'user_id',
      inverse: 'user',
    });
    expect(entityOf(project, 'Profile').columns[1]).toMatchObject({
      name: 'user_id',
      unique: true,
    });
    expect(columnsOf(project, 'User')).toEqual(['id']);
  });

  it('lets a column say which side holds the key, and two columns that there are two relations', () => {
    const one =
      'type User { id: ID! profile: Profile @relation(column: "profile_id") } type Profile { id: ID! user: User }';
    expect(source(one, 'Profile.user')).toMatchObject({ key: 'inverse', column: 'profile_id' });
    const two =
      'type User { id: ID! profile: Profile @relation(column: "profile_id") } type Profile { id: ID! user: User @relation(column: "user_id") }';
    expect(source(two, 'Profile.user')).toEqual({
      kind: 'one',
      entity: 'User',
      key: 'own',
      column: 'user_id',
    });
  });

  it('takes parents and children of one type for one relation', () => {
    const sdl = 'type Page { id: ID! parent: Page children: [Page!]! }';
    expect(source(sdl, 'Page.children')).toMatchObject({
      via: { kind: 'column', column: 'parent_id' },
      inverse: 'parent',
    });
  });

  it('keeps friends in a join table with two different columns', () => {
    expect(source('type User { id: ID! friends: [User!]! }', 'User.friends')).toMatchObject({
      via: { kind: 'table', table: 'user_friends', own: 'user_id', other: 'friend_id' },
    });
  });

  it('turns followers and following into one join table when told that they are one relation', () => {
    const sdl =
      'type User { id: ID! followers: [User!]! @relation(inverse: "following") following: [User!]! }';
    expect(source(sdl, 'User.followers')).toMatchObject({
      via: { table: 'user_followers', own: 'user_id', other: 'follower_id' },
    });
    expect(source(sdl, 'User.following')).toMatchObject({
      via: { table: 'user_followers', own: 'follower_id', other: 'user_id' },
    });
    expect(buildTables(projectOf(QUERY + sdl)).map(({ name }) => name)).toEqual([
      'users',
      'user_followers',
    ]);
  });

  it('keeps a field of an interface or a union as type and key, and finds its other ends', () => {
    const sdl =
      'union Subject = Post | Photo type Post { id: ID! comments: [Comment!]! } type Photo { id: ID! comments: [Comment!]! } type Comment { id: ID! subject: Subject! }';
    const project = projectOf(QUERY + sdl);
    expect(columnsOf(project, 'Comment')).toEqual(['id', 'subject_type', 'subject_id']);
    expect(entityOf(project, 'Comment').columns[1]).toMatchObject({
      type: 'text',
      values: ['Post', 'Photo'],
      required: true,
    });
    expect(fieldOf(project, 'Comment.subject').source).toEqual({
      kind: 'one',
      entity: 'Subject',
      key: 'own',
      column: 'subject_id',
      typeColumn: 'subject_type',
    });
    expect(fieldOf(project, 'Photo.comments').source).toMatchObject({
      via: { kind: 'column', column: 'subject_id', typeColumn: 'subject_type' },
      inverse: 'subject',
    });
    expect(entityOf(project, 'Comment').indexes).toMatchObject([
      { columns: ['subject_type', 'subject_id'] },
    ]);
  });

  it('pages a nested connection', () => {
    const sdl = `type User { id: ID! posts(first: Int, after: String): PostConnection! } type Post { id: ID! author: User! }
      type PostConnection { edges: [PostEdge!]! nodes: [Post!]! pageInfo: PageInfo! totalCount: Int! } type PostEdge { node: Post! cursor: String! } type PageInfo { hasNextPage: Boolean! }`;
    expect(source(sdl, 'User.posts')).toMatchObject({
      kind: 'many',
      entity: 'Post',
      list: {
        connection: {
          type: 'PostConnection',
          edge: 'PostEdge',
          nodes: 'nodes',
          totalCount: 'totalCount',
        },
        paging: { first: 'first', after: 'after' },
      },
    });
  });

  it('obeys what @relation says of columns, tables and removal', () => {
    const sdl = `type User { id: ID! posts: [Post!]! liked: [Post!]! @relation(inverse: "likers", table: "likes") }
      type Post { id: ID! author: User! @relation(inverse: "posts", column: "writer", onDelete: CASCADE) likers: [User!]! }`;
    const project = projectOf(QUERY + sdl);
    expect(entityOf(project, 'Post').columns[1]).toMatchObject({
      name: 'writer',
      references: { onDelete: 'cascade' },
    });
    expect(fieldOf(project, 'User.posts').source).toMatchObject({ via: { column: 'writer' } });
    expect(fieldOf(project, 'Post.likers').source).toMatchObject({
      via: { table: 'likes', own: 'post_id', other: 'user_id' },
    });
    expect(fieldOf(project, 'Post.author').decidedBy).toBe('@relation');
  });

  it('has a loader for every way to the rows', () => {
    const project = projectOf(
      `${QUERY} type User { id: ID! email: String! @unique posts: [Post!]! } type Post { id: ID! author: User! tags: [Tag!]! } type Tag { id: ID! posts: [Post!]! }`,
    );
    expect(project.loaders).toEqual([
      { name: 'user', entity: 'User', by: 'id', many: false },
      { name: 'userByEmail', entity: 'User', by: 'email', many: false },
      { name: 'post', entity: 'Post', by: 'id', many: false },
      { name: 'postsByAuthor', entity: 'Post', by: 'author_id', many: true },
      {
        name: 'tagsByPost',
        entity: 'Tag',
        by: 'post_id',
        many: true,
        via: { table: 'post_tags', own: 'post_id', other: 'tag_id' },
      },
      { name: 'tag', entity: 'Tag', by: 'id', many: false },
      {
        name: 'postsByTag',
        entity: 'Post',
        by: 'tag_id',
        many: true,
        via: { table: 'post_tags', own: 'tag_id', other: 'post_id' },
      },
    ]);
  });
});
