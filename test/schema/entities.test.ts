import { describe, expect, it } from 'vitest';
import { buildTables } from '@twofold/schema';
import { columnsOf, entityOf, fieldOf, projectOf, QUERY } from './reading.ts';

describe('entities', () => {
  it('makes a table of an object type with id: ID!', () => {
    const project = projectOf(
      'type Query { users: [User!]! } type User { id: ID! name: String! email: String! }',
    );
    expect(entityOf(project, 'User')).toMatchObject({
      singular: 'user',
      plural: 'users',
      table: 'users',
    });
    expect(columnsOf(project, 'User')).toEqual(['id', 'name', 'email']);
    expect(entityOf(project, 'User').columns[0]).toMatchObject({
      type: 'id',
      required: true,
      default: { kind: 'autoincrement' },
    });
  });

  it('makes no table of roots, payloads, connections, edges, page infos and objects without a key', () => {
    const project = projectOf(`type Query { hello: String posts: PostConnection }
      type Mutation { createPost(title: String): CreatePostPayload deletePost(id: ID!): Gone }
      type Post { id: ID! title: String place: Place }
      type Place { city: String }
      type Gone { ok: Boolean }
      type CreatePostPayload { id: ID! post: Post }
      type PostConnection { edges: [PostEdge] pageInfo: PageInfo }
      type PostEdge { node: Post cursor: String }
      type PageInfo { hasNextPage: Boolean! }`);
    expect(project.entities.map(({ name }) => name)).toEqual(['Post']);
    expect(Object.fromEntries(project.objects.map(({ name, role }) => [name, role]))).toEqual({
      Query: 'root',
      Mutation: 'root',
      Place: 'value',
      Gone: 'payload',
      CreatePostPayload: 'payload',
      PostConnection: 'connection',
      PostEdge: 'edge',
      PageInfo: 'pageInfo',
    });
  });

  it('keeps a type that is only called like a connection or an edge', () => {
    const project = projectOf(
      `${QUERY} type FlightConnection { id: ID! from: String } type Edge { id: ID! } type Payload { id: ID! }`,
    );
    expect(project.entities.map(({ name }) => name)).toEqual([
      'FlightConnection',
      'Edge',
      'Payload',
    ]);
  });

  it('writes names in snake case and finds the plural', () => {
    const project = projectOf(
      `${QUERY} type HTMLPage { id: ID! lastEditedAt: String } type Category { id: ID! } type Person { id: ID! } type BlogPost { id: ID! }`,
    );
    expect(project.entities.map(({ table }) => table)).toEqual([
      'html_pages',
      'categories',
      'people',
      'blog_posts',
    ]);
    expect(columnsOf(project, 'HTMLPage')).toEqual(['id', 'last_edited_at']);
  });

  it('takes types with the names of JavaScript and SQL as they are', () => {
    const names = [
      'Error',
      'Object',
      'constructor',
      'select',
      'group',
      'order',
      'user',
      'toString',
      'prototype',
    ];
    const project = projectOf(
      `${QUERY} ${names.map((name) => `type ${name} { id: ID! constructor: String hasOwnProperty: Int }`).join(' ')}`,
    );
    expect(project.entities.map(({ name }) => name)).toEqual(names);
    expect(columnsOf(project, 'constructor')).toEqual(['id', 'constructor', 'has_own_property']);
  });

  it('keeps scalars in columns of their form', () => {
    const project =
      projectOf(`${QUERY} scalar DateTime scalar Date scalar JSON scalar BigInt scalar Decimal scalar UUID scalar Byte scalar EmailAddress
      type All { id: ID! a: String b: Int c: Float d: Boolean e: DateTime f: Date g: JSON h: BigInt i: Decimal j: UUID k: Byte l: EmailAddress m: ID }`);
    expect(
      entityOf(project, 'All')
        .columns.slice(1)
        .map(({ type }) => type),
    ).toEqual([
      'text',
      'integer',
      'real',
      'boolean',
      'timestamp',
      'date',
      'json',
      'bigint',
      'decimal',
      'uuid',
      'bytes',
      'text',
      'text',
    ]);
  });

  it('checks an enum by its values', () => {
    const project = projectOf(
      `${QUERY} enum Status { DRAFT LIVE } type Post { id: ID! status: Status! }`,
    );
    expect(entityOf(project, 'Post').columns[1]).toMatchObject({
      name: 'status',
      type: 'text',
      scalar: 'Status',
      values: ['DRAFT', 'LIVE'],
    });
    expect(project.enums).toEqual([{ name: 'Status', values: ['DRAFT', 'LIVE'] }]);
  });

  it('keeps lists of scalars and objects without a key as JSON', () => {
    const project = projectOf(
      `${QUERY} type User { id: ID! tags: [String!]! address: Address former: [Address!] } type Address { city: String }`,
    );
    expect(entityOf(project, 'User').columns.slice(1)).toMatchObject([
      { name: 'tags', type: 'json', scalar: 'String', list: true },
      { name: 'address', type: 'json', scalar: 'Address', list: false },
      { name: 'former', type: 'json', scalar: 'Address', list: true },
    ]);
    expect(fieldOf(project, 'User.address')).toMatchObject({
      source: { kind: 'column', column: 'address' },
      decidedBy: 'JSON column',
    });
  });

  it('fills createdAt and updatedAt in either spelling', () => {
    const project = projectOf(
      `${QUERY} scalar DateTime type A { id: ID! createdAt: DateTime! updatedAt: DateTime! } type B { id: ID! created_at: DateTime }`,
    );
    expect(entityOf(project, 'A').columns.map(({ stamp }) => stamp)).toEqual([
      undefined,
      'created',
      'updated',
    ]);
    expect(entityOf(project, 'B').columns[1]?.stamp).toBe('created');
  });

  it('makes UUIDs when the manifest says so', () => {
    const project = projectOf(`${QUERY} type A { id: ID! }`, 'name: x\ndatabase: { ids: uuid }');
    expect(project.ids).toBe('uuid');
    expect(entityOf(project, 'A').columns[0]?.default).toEqual({ kind: 'uuid' });
  });

  it('leaves a field with arguments to the user', () => {
    const project = projectOf(`${QUERY} type User { id: ID! avatar(size: Int): String }`);
    expect(fieldOf(project, 'User.avatar').source).toEqual({ kind: 'custom' });
    expect(columnsOf(project, 'User')).toEqual(['id']);
  });

  it('knows the members of interfaces and unions', () => {
    const project = projectOf(
      `${QUERY} interface Node { id: ID! } union Thing = A | B type A implements Node { id: ID! } type B { id: ID! }`,
    );
    expect(project.abstracts).toEqual([
      { name: 'Node', kind: 'interface', members: ['A'] },
      { name: 'Thing', kind: 'union', members: ['A', 'B'] },
    ]);
    expect(entityOf(project, 'A').interfaces).toEqual(['Node']);
  });

  it('carries descriptions and deprecations', () => {
    const project = projectOf(
      `${QUERY} "A person" type User { id: ID! "The full name" name: String @deprecated(reason: "use title") }`,
    );
    expect(entityOf(project, 'User').description).toBe('A person');
    expect(fieldOf(project, 'User.name')).toMatchObject({
      description: 'The full name',
      deprecated: 'use title',
    });
  });

  it('merges extensions, in one file or in several', () => {
    const project = projectOf(
      `${QUERY} type User { id: ID! } extend type User { name: String } extend type Query { users: [User!]! }`,
    );
    expect(columnsOf(project, 'User')).toEqual(['id', 'name']);
    expect(project.operations.map(({ name }) => name)).toEqual(['hello', 'users']);
  });

  it('is plain JSON', () => {
    const project = projectOf(
      'type Query { users(limit: Int): [User!]! } type User { id: ID! email: String! posts: [Post!]! } type Post { id: ID! author: User! }',
      'name: x\nauth:\nhosting:',
    );
    expect(JSON.parse(JSON.stringify(project))).toEqual(project);
  });

  it('makes a table for each entity and each join, with their indexes', () => {
    const tables = buildTables(
      projectOf(
        `${QUERY} type Post { id: ID! author: User! tags: [Tag!]! } type User { id: ID! posts: [Post!]! } type Tag { id: ID! posts: [Post!]! }`,
      ),
    );
    expect(tables.map(({ name }) => name)).toEqual(['posts', 'users', 'tags', 'post_tags']);
    expect(tables[0]?.columns[1]).toMatchObject({
      name: 'author_id',
      references: { table: 'users', column: 'id', onDelete: 'restrict' },
    });
    expect(tables[0]?.indexes).toEqual([
      { name: 'posts_author_id_index', columns: ['author_id'], unique: false },
    ]);
    expect(tables[3]).toMatchObject({
      primaryKey: ['post_id', 'tag_id'],
      indexes: [{ name: 'post_tags_tag_id_index' }],
    });
  });

  it('keeps names of indexes short enough for PostgreSQL', () => {
    const long = 'a'.repeat(40);
    const project = projectOf(
      `${QUERY} type ${long.toUpperCase()} @index(fields: ["${long}", "b"]) { id: ID! ${long}: Int b: Int }`,
    );
    const [index] = project.entities[0]?.indexes ?? [];
    expect(index?.name.length).toBeLessThanOrEqual(63);
  });
});
