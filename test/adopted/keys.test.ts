import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
interface Node { id: ID! }
type Country @table(name: "country", key: ["code"]) { code: String! name: String! regions: [Region!]! }
type Region implements Node @table(name: "region", key: ["country", "code"]) {
  id: ID! country: Country! @relation(column: "country_code") code: String! name: String! cities: [City!]!
}
type City implements Node @table(name: "city") {
  id: ID! name: String!
  region: Region! @relation(columns: ["country", "region_code"], onDelete: CASCADE)
  twin: Region @relation(columns: ["twin_country", "twin_code"], onDelete: SET_NULL, inverse: "twins")
}
extend type Region { twins: [City!]! @relation(inverse: "twin") }
type Stock @table(name: "stock", key: ["shop", "sku"]) { id: ID! shop: String! sku: String! count: Int! }
input StockInput { shop: String! sku: String! count: Int! }
type Query {
  node(id: ID!): Node country(code: String!): Country region(id: ID!): Region
  cities: [City!]! stock(id: ID!): Stock stocks: [Stock!]!
}
type Mutation {
  createCountry(code: String!, name: String!): Country!
  createRegion(countryId: ID!, code: String!, name: String!): Region!
  deleteRegion(id: ID!): Boolean!
  createCity(name: String!, regionId: ID!, twinId: ID): City!
  createStock(input: StockInput!): Stock!
  upsertStock(input: StockInput!): Stock!
  updateStock(id: ID!, count: Int): Stock
  deleteStock(id: ID!): Boolean!
}
type Subscription { stockChanged: Stock! stockUpdated(id: ID!): Stock! regionCreated: Region! }
`;

describe.each(databases)('keys of several columns on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database });
    await ask('mutation { createCountry(code: "DE", name: "Germany") { code } }');
    for (const code of ['BY', 'BE'])
      await ask(
        `mutation { createRegion(countryId: "DE", code: "${code}", name: "${code}") { id } }`,
      );
  });
  afterAll(() => server?.close());

  const ask = async (query: string) => {
    const { data, errors } = await server.query(query);
    expect(errors).toBeUndefined();
    return data;
  };

  it('are one id in node, on both sides of a relation, and by themselves', async () => {
    const city =
      'mutation { createCity(name: "Munich", regionId: "DE:BY", twinId: "DE:BE") { id } }';
    expect(await ask(city)).toEqual({ createCity: { id: 'City:1' } });
    expect(
      await ask(`{
        node(id: "Region:DE:BY") { id __typename ... on Region { cities { name } country { name } } }
        country(code: "DE") { regions { code twins { name } } }
        none: node(id: "Region:DE:XX") { id }
        broken: node(id: "Region:DE") { id }
      }`),
    ).toEqual({
      node: {
        id: 'Region:DE:BY',
        __typename: 'Region',
        cities: [{ name: 'Munich' }],
        country: { name: 'Germany' },
      },
      country: {
        regions: [
          { code: 'BE', twins: [{ name: 'Munich' }] },
          { code: 'BY', twins: [] },
        ],
      },
      none: null,
      broken: null,
    });
  });

  it('are updated, put in their place, deleted and announced by that id', async () => {
    const events: string[] = [];
    const ended = new AbortController();
    const listen = async (query: string) => {
      const { body } = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query }),
        signal: ended.signal,
      });
      const read = async () => {
        for await (const chunk of body!.pipeThrough(new TextDecoderStream())) events.push(chunk);
      };
      read().catch(() => {});
    };
    await listen('subscription { stockUpdated(id: "a:x%3Ay") { id count } }');
    await listen('subscription { stockChanged { id count } }');
    const heard = (name: string) => events.join('').split(`"${name}":`).length - 1;
    const put = (count: number) =>
      ask(
        `mutation { upsertStock(input: { shop: "a", sku: "x:y", count: ${count} }) { id count } }`,
      );
    expect(await put(1)).toEqual({ upsertStock: { id: 'a:x%3Ay', count: 1 } });
    expect(await put(5)).toEqual({ upsertStock: { id: 'a:x%3Ay', count: 5 } });
    expect(await ask('mutation { updateStock(id: "a:x%3Ay", count: 9) { count } }')).toEqual({
      updateStock: { count: 9 },
    });
    expect(await ask('{ stocks { id } stock(id: "a:x%3Ay") { sku } }')).toEqual({
      stocks: [{ id: 'a:x%3Ay' }],
      stock: { sku: 'x:y' },
    });
    // A change is told with the row as it is when it is read: one that is gone by then is told as deleted only.
    await expect.poll(() => [heard('stockUpdated'), heard('stockChanged')]).toEqual([2, 3]);
    expect(await ask('mutation { deleteStock(id: "a:x%3Ay") }')).toEqual({ deleteStock: true });
    await expect.poll(() => [heard('stockUpdated'), heard('stockChanged')]).toEqual([2, 4]);
    ended.abort();
  });

  it('are foreign keys of the database, too, which does what onDelete says', async () => {
    const lost = sql`insert into city (name, country, region_code) values ('Nowhere', 'DE', 'XX')`;
    await expect(lost.execute(server.store.db)).rejects.toThrow(/foreign key/i);
    await ask('mutation { deleteRegion(id: "DE:BE") }');
    expect(await ask('{ cities { name twin { id } } }')).toEqual({
      cities: [{ name: 'Munich', twin: null }],
    });
    await ask('mutation { deleteRegion(id: "DE:BY") }');
    expect(await ask('{ cities { name } }')).toEqual({ cities: [] });
  });
});
