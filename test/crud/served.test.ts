import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
  scalar DateTime
  enum Status { DRAFT LIVE }
  type Query { hello: String @resolve(as: CUSTOM) }
  type Region @table(key: ["country", "code"]) { country: String! code: String! name: String cities: [City!]! }
  type City @table(key: ["slug"]) { slug: String! region: Region news: [News!]! }
  type News { id: ID! headline: String! city: City status: Status! @default(value: DRAFT) place: Place at: DateTime serial: Int @column(readOnly: true) }
  type Place { street: String! }
  type Tag @crud(operations: [GET, DELETE]) { id: ID! name: String! }
  type Secret @crud(operations: []) { id: ID! text: String! }
`;

describe.each(databases)('what api.crud writes, served on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: written\napi: { crud: true }\n',
      resolvers: { Query: { hello: () => 'hi' } },
    });
  });
  afterAll(() => server?.close());
  const run = async (text: string) => (await server.query(text)).data;

  test('writes and reads rows by keys of several fields and by natural keys', async () => {
    expect(
      await run(`mutation {
        createRegion(input: { country: "DE", code: "BY" }) { country code }
        createCity(input: { slug: "fuerth", regionId: "DE:BY" }) { slug region { code } }
        updateRegion(country: "DE", code: "BY", input: { name: "Bayern" }) { name }
        none: deleteRegion(country: "DE", code: "XX")
      }`),
    ).toEqual({
      createRegion: { country: 'DE', code: 'BY' },
      createCity: { slug: 'fuerth', region: { code: 'BY' } },
      updateRegion: { name: 'Bayern' },
      none: false,
    });
    expect(
      await run(`{
        region(country: "DE", code: "BY") { name cities { slug } }
        city(slug: "fuerth") { region { name } }
        cities(where: { region: { name: { startsWith: "B" } } }, orderBy: [{ slug: DESC }]) { slug }
        regionsConnection(first: 1) { nodes { code } totalCount }
      }`),
    ).toEqual({
      region: { name: 'Bayern', cities: [{ slug: 'fuerth' }] },
      city: { region: { name: 'Bayern' } },
      cities: [{ slug: 'fuerth' }],
      regionsConnection: { nodes: [{ code: 'BY' }], totalCount: 1 },
    });
  });

  test('has a list of its own name for a type without a plural', async () => {
    expect(
      await run(`mutation {
        createNews(input: { headline: "Rain", cityId: "fuerth", place: { street: "Ring" } }) { id status place { street } }
        updateNews(id: 1, input: { status: LIVE }) { status }
      }`),
    ).toEqual({
      createNews: { id: '1', status: 'DRAFT', place: { street: 'Ring' } },
      updateNews: { status: 'LIVE' },
    });
    expect(
      await run(`{
        news(id: 1) { headline }
        newsList(where: { status: { in: [LIVE] }, serial: { isNull: true } }, orderBy: [{ serial: ASC }]) { headline }
      }`),
    ).toEqual({ news: { headline: 'Rain' }, newsList: [{ headline: 'Rain' }] });
    const { errors } = await server.query(
      'mutation { updateNews(id: 1, input: { serial: 1 }) { id } }',
    );
    expect(errors?.[0]?.message).toContain('serial');
  });

  test('serves what the directive of a type says, and nothing else of it', async () => {
    expect(await run('{ tag(id: 1) { id } }')).toEqual({ tag: null });
    expect(await run('{ regionsAggregate { __typename } }')).toEqual({
      regionsAggregate: { __typename: 'RegionAggregate' },
    });
    expect(await run('mutation { deleteTag(id: 1) }')).toEqual({ deleteTag: false });
    for (const query of ['{ tags { id } }', '{ secret(id: 1) { id } }', '{ secrets { id } }'])
      expect((await server.query(query)).errors?.[0]?.message).toContain('Cannot query field');
  });
});
