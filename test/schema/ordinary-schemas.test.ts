import { readFileSync } from 'node:fs';
import { buildTables, parseManifest, parseSchema, buildProject } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { columnsOf, entityOf, fieldOf, operationOf, projectOf, QUERY, read } from './reading.ts';

const errors = (sdl: string, manifest: string | null = null) =>
  read(sdl, manifest).diagnostics.filter(({ severity }) => severity === 'error');

describe('ordinary schemas', () => {
  it('keep a list in a join table that has no name of a type', () => {
    const project = projectOf(
      `${QUERY}type Order { id: ID! items: [OrderItem!]! } type OrderItem { id: ID! quantity: Int! }`,
    );
    expect(buildTables(project).map(({ name }) => name)).toEqual([
      'orders',
      'order_items',
      'order_items_links',
    ]);
  });

  it('keep types whose names are those of the server in tables of their own', () => {
    const project = projectOf(
      `${QUERY}type AuthToken { id: ID! } type Hosting { id: ID! plans: [Plan!]! } type Plan { id: ID! } type ${'Long'.repeat(20)} { id: ID! }`,
    );
    const names = buildTables(project).map(({ name }) => name);
    expect(names).toEqual([
      'app_auth_tokens',
      'hostings',
      'plans',
      expect.stringMatching(/^long.{59}$/),
      'app_hosting_plans',
    ]);
  });

  it('may have lists with arguments of their own beside the relation', () => {
    const project = projectOf(
      `${QUERY}type User { id: ID! posts(first: Int): [Post!]! liked(by: String!): [Post!]! } type Post { id: ID! author: User! }`,
    );
    expect(fieldOf(project, 'User.posts').source).toMatchObject({
      kind: 'many',
      inverse: 'author',
    });
    expect(fieldOf(project, 'User.liked').source).toEqual({ kind: 'custom' });
    expect(buildTables(project).map(({ name }) => name)).toEqual(['users', 'posts']);
  });

  it.each(['ID', 'String', 'Int'])('show a key as %s beside its relation', (scalar) => {
    for (const fields of [`author: User authorId: ${scalar}`, `authorId: ${scalar} author: User`]) {
      const project = projectOf(`${QUERY}type User { id: ID! } type Post { id: ID! ${fields} }`);
      expect(columnsOf(project, 'Post')).toEqual(['id', 'author_id']);
      expect(entityOf(project, 'Post').columns[1]).toMatchObject({
        field: 'authorId',
        type: 'id',
        scalar,
        references: { entity: 'User' },
      });
    }
  });

  it('show no number for a UUID', () => {
    const sdl = `${QUERY}type User { id: ID! } type Post { id: ID! author: User authorId: Int }`;
    expect(errors(sdl, 'name: x\ndatabase: { ids: uuid }')).toMatchObject([
      { code: 'COLUMN_CLASH', fix: expect.stringMatching(/^authorId: ID {3}/) },
    ]);
  });

  it('may say userId: String without a relation, and mean a text', () => {
    const project = projectOf(
      `${QUERY}type User { id: ID! } type Post { id: ID! userId: String! }`,
    );
    expect(entityOf(project, 'Post').columns[1]).toMatchObject({ name: 'user_id', type: 'text' });
  });

  it('may set a relation by a String', () => {
    const project = projectOf(
      `${QUERY}type User { id: ID! } type Todo { id: ID! text: String! user: User! }
       input NewTodo { text: String! userId: String! } type Mutation { createTodo(input: NewTodo!): Todo! }`,
    );
    expect(operationOf(project, 'createTodo').action).toMatchObject({ kind: 'create' });
    expect(project.writes[0]?.writes[1]).toEqual({ kind: 'key', name: 'userId', field: 'user' });
  });

  it('leave an object that leads to a row to the user', () => {
    const sdl = `${QUERY}type Cart { id: ID! lines: [Line!]! } type Line { count: Int! product: Product! } type Product { id: ID! }`;
    expect(fieldOf(projectOf(sdl), 'Cart.lines').source).toEqual({ kind: 'custom' });
    expect(read(sdl).diagnostics).toMatchObject([
      { code: 'VALUE_HOLDS_ENTITY', severity: 'hint', coordinate: 'Cart.lines' },
    ]);
  });

  it.each(['Event', 'App', 'Template', 'Webhook', 'Deploy'])(
    'may have a type %s in REST while hosting is off',
    (name) => {
      const sdl = `${QUERY}type ${name} { id: ID! }`;
      expect(errors(sdl, 'name: x\napi: { rest: true }')).toEqual([]);
    },
  );

  it('serve rows of a connection under any name, beside members of the user', () => {
    const project = projectOf(`type Query { films(first: Int, after: String): FilmConnection }
      type FilmConnection { edges: [FilmEdge] films: [Film] nodes: [Film] took: Int }
      type FilmEdge { node: Film cursor: String! rank: Int! } type Film { id: ID! }`);
    expect(operationOf(project, 'films').action).toMatchObject({
      kind: 'list',
      list: { connection: { type: 'FilmConnection', nodes: 'nodes', lists: ['films'] } },
    });
  });
});

describe('of schemas as others write them', () => {
  it.each([
    ['gqlgen', 1, 1],
    ['swapi', 8, 8],
    ['issues', 9, 12],
    ['shop', 8, 11],
    ['gallery', 4, 8],
    ['forge', 4, 9],
  ])('%s has %i of %i queries answered', (name, answered, all) => {
    const text = readFileSync(new URL(`styles/${name}.graphql`, import.meta.url), 'utf8');
    const { parsed: schema } = parseSchema([{ file: 'schema.graphql', text }]);
    const { operations } = buildProject({
      schema: schema!,
      manifest: parseManifest(null).manifest,
    });
    const queries = operations.filter(({ root }) => root === 'query');
    const inferred = queries.filter(({ action }) => action.kind !== 'custom');
    expect([inferred.length, queries.length]).toEqual([answered, all]);
  });
});
