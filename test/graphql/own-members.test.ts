import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, projectOf, startServer, type TestServer, user } from './harness.ts';

const SDL = `
  type User { id: ID! email: String! @unique }
  type Film @auth(allow: [PUBLIC]) {
    id: ID! title: String! year: Int poster(size: Int): String @column actorsConnection: ActorConnection!
  }
  type Actor @auth(allow: [PUBLIC]) { id: ID! name: String! film: Film }
  type Secret @auth(allow: [PUBLIC], on: [CREATE]) @auth(allow: [ROLE], roles: ["none"], on: [READ]) { id: ID! text: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type FilmEdge { node: Film! cursor: String! rank: Int stars: Int }
  type FilmConnection { edges: [FilmEdge!]! films: [Film!]! nodes: [Film!]! pageInfo: PageInfo! totalCount: Int! mood: String lastSyncId: Float }
  type ActorConnection { edges: [ActorEdge!]! actors: [Actor!]! pageInfo: PageInfo! totalCount: Int! mood: String }
  type ActorEdge { node: Actor! role: String }
  type FilmPayload { film: Film filmId: ID success: Boolean! clientMutationId: String query: Query! lastSyncId: Int label: String }
  type FilmsPayload { films: [Film!]! count: Int! success: Boolean! lastSyncId: Int label: String }
  type SecretPayload { secret: Secret label: String }
  type Query { films(first: Int, after: String): FilmConnection! film(id: ID!): Film }
  type Mutation {
    createFilm(title: String!, poster: String, clientMutationId: String): FilmPayload!
    updateFilm(id: ID!, title: String): FilmPayload!
    deleteFilm(id: ID!): FilmPayload!
    createFilms(input: [NewFilm!]!): FilmsPayload!
    createSecret(text: String!): SecretPayload!
    createActor(name: String!, filmId: ID): Actor!
  }
  input NewFilm { title: String! year: Int }
`;
const MANIFEST =
  'name: test\nauth: { roles: { list: [user, none] } }\napi: { access: public, rest: true }\n';

const resolvers = {
  FilmEdge: { rank: ({ node, cursor }: any) => node.title.length + (cursor ? 100 : 0) },
  FilmConnection: {
    mood: (given: any) =>
      JSON.stringify([
        given.edges[0].node.title,
        given.films.length,
        given.nodes.length,
        given.totalCount,
        given.pageInfo.hasNextPage,
      ]),
  },
  ActorEdge: { role: ({ node }: any) => `as ${node.name}, ${node.filmId}` },
  FilmPayload: {
    label: (given: any) =>
      JSON.stringify([
        given.film?.title ?? null,
        given.filmId,
        given.success,
        given.clientMutationId,
      ]),
  },
  FilmsPayload: {
    label: ({ films, count }: any) => `${films.map(({ title }: any) => title).join()} ${count}`,
  },
  SecretPayload: { label: ({ secret }: any) => String(secret) },
  Film: { poster: ({ poster }: any, { size }: any) => poster && `${poster}?${size ?? 0}` },
};

describe.each(databases)('members beside those that are served, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      manifest: MANIFEST,
      database,
      resolvers,
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
    });
    await server.query(
      'mutation { a: createFilm(title: "Loom", poster: "p") { success } b: createFilm(title: "Engine") { success } c: createActor(name: "Ada", filmId: 1) { id } }',
    );
  });
  afterAll(() => server.close());

  it('of a connection: lists by any name are served, and what is not written fails at its own path', async () => {
    const served = await server.query(
      '{ films(first: 1) { films { title } n: nodes { id } edges { node { title } } totalCount pageInfo { hasNextPage } } }',
    );
    expect(served).toEqual({
      data: {
        films: {
          films: [{ title: 'Loom' }],
          n: [{ id: '1' }],
          edges: [{ node: { title: 'Loom' } }],
          totalCount: 2,
          pageInfo: { hasNextPage: true },
        },
      },
    });
    const unwritten = await server.query(
      '{ films { lastSyncId films { title } edges { stars cursor } } }',
    );
    expect(unwritten.data.films).toMatchObject({
      lastSyncId: null,
      films: [{ title: 'Loom' }, { title: 'Engine' }],
      edges: [{ stars: null }, { stars: null }],
    });
    expect(
      unwritten.errors!.map(({ path, extensions }) => [path.join('.'), extensions.code]),
    ).toEqual([
      ['films.lastSyncId', 'NOT_IMPLEMENTED'],
      ['films.edges.0.stars', 'NOT_IMPLEMENTED'],
      ['films.edges.1.stars', 'NOT_IMPLEMENTED'],
    ]);
    expect(unwritten.errors![0].message).toContain('src/resolvers/FilmConnection.ts');
  });

  it('of a connection and its edges get the rows, in the one statement', async () => {
    server.statements();
    const { data, errors } = await server.query(
      '{ films(first: 1) { mood e: edges { r: rank } films { t: title actorsConnection { edges { role } actors { id } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      films: {
        mood: '["Loom",1,1,2,true]',
        e: [{ r: 104 }],
        films: [
          {
            t: 'Loom',
            actorsConnection: { edges: [{ role: 'as Ada, 1' }], actors: [{ id: '1' }] },
          },
        ],
      },
    });
    expect(server.statements()).toHaveLength(1);
  });

  it('of a payload get what was written, and not what the caller may not read', async () => {
    const { data, errors } = await server.query(
      `mutation {
        a: createFilm(title: "Wheel", clientMutationId: "m") { label filmId film { title } query { films { totalCount } } }
        b: updateFilm(id: 3, title: "Wheels") { success label lastSyncId }
        c: deleteFilm(id: 3) { label film { id } }
        d: createFilms(input: [{ title: "X" }, { title: "Y" }]) { label count success films { title } }
        e: createSecret(text: "s") { label }
        f: deleteFilm(id: 99) { success film { id } label }
      }`,
      {},
      user(1),
    );
    expect(data).toEqual({
      a: {
        label: '["Wheel","3",true,"m"]',
        filmId: '3',
        film: { title: 'Wheel' },
        query: { films: { totalCount: 3 } },
      },
      b: { success: true, label: '["Wheels","3",true,null]', lastSyncId: null },
      c: { label: '["Wheels","3",true,null]', film: { id: '3' } },
      d: { label: 'X,Y 2', count: 2, success: true, films: [{ title: 'X' }, { title: 'Y' }] },
      e: { label: 'null' },
      f: { success: false, film: null, label: '[null,null,false,null]' },
    });
    expect(errors).toMatchObject([
      { path: ['b', 'lastSyncId'], extensions: { code: 'NOT_IMPLEMENTED' } },
    ]);
  });

  it('a stored field with arguments is its value, or what a function makes of it, in REST as well', async () => {
    const { data } = await server.query(
      '{ films(first: 2) { films { poster a: poster(size: 9) } } }',
    );
    expect(data.films.films).toEqual([
      { poster: 'p?0', a: 'p?9' },
      { poster: null, a: null },
    ]);
    const rest = await server.call('GET', '/api/films/1');
    expect(rest.body).toMatchObject({ id: '1', poster: 'p?0' });
  });
});

describe('a stored field with arguments', () => {
  it('is a column by @column alone', () => {
    const project = projectOf(
      'type Film { id: ID! poster(size: Int): String @column tags(of: Int): [String!]! @column(name: "T") score(of: Int): Int } type Query { films: [Film!]! }',
    );
    const { fields, columns } = project.entities[0]!;
    expect(fields.map(({ source }) => source.kind)).toEqual([
      'column',
      'column',
      'column',
      'custom',
    ]);
    expect(columns.map(({ name, stored }) => [name, stored])).toEqual([
      ['id', undefined],
      ['poster', undefined],
      ['tags', 'T'],
    ]);
  });
});
