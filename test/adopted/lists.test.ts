import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
  enum Direction { ASC DESC } enum CityField { REGION NAME }
  type Region @table(name: "region", key: ["country", "code"]) { id: ID! country: String! code: String! name: String cities: [City!]! named: [City!]! @list(where: { name: { ne: "Lyon" } }) labels: [Label!]! }
  type City @table(name: "city") { id: ID! name: String! region: Region @relation(columns: ["country", "region_code"]) }
  type Label @table(name: "label", key: ["word"]) { word: String! regions: [Region!]! @relation(table: "region_label", columns: ["word", "country", "code"]) }
  type Person @table(name: "person") { id: ID! name: String! @unique devices: [Device!]! }
  type Device @table(name: "device") { id: ID! label: String! owner: Person @relation(column: "owner_name", references: ["name"]) }
  input RegionOrder { id: Direction name: Direction cities: Count labels: Count } input Count { count: Direction }
  input CityOrder { name: Direction region: RegionOrder }
  input DeviceOrder { owner: PersonOrder } input PersonOrder { name: Direction devices: Count }
  input Key { id: ID! } input RegionKey { id: ID country: String code: String } input Word { word: String! }
  input NewCity { name: String! } input CityUpdate { where: Key! data: NewCity! }
  input Cities { create: [NewCity!] connect: [Key!] disconnect: [Key!] set: [Key!] update: [CityUpdate!] delete: [Key!] }
  input Labels { create: [Word!] connect: [Word!] set: [Word!] disconnect: [Word!] delete: [Word!] }
  input RegionPatch { name: String cities: Cities labels: Labels }
  input CityRegion { connect: RegionKey update: RegionName disconnect: Boolean delete: Boolean } input RegionName { name: String }
  input CityPatch { name: String region: CityRegion }
  input DeviceOwner { connect: OwnerKey update: OwnerName disconnect: Boolean delete: Boolean } input OwnerKey { name: String! } input OwnerName { name: String }
  input DevicePatch { owner: DeviceOwner }
  type CityConnection { edges: [CityEdge!]! pageInfo: PageInfo! totalCount: Int! } type CityEdge { node: City! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Query {
    regions(orderBy: RegionOrder): [Region!]! labels: [Label!]! people: [Person!]!
    cities(orderBy: [CityOrder!], distinct: [CityField!]): [City!]!
    citiesConnection(orderBy: [CityOrder!], distinct: [CityField!], first: Int, after: String): CityConnection!
    devices(orderBy: [DeviceOrder!]): [Device!]!
  }
  type Mutation {
    updateRegion(id: ID!, input: RegionPatch!): Region
    updateCity(id: ID!, input: CityPatch!): City
    updateDevice(id: ID!, input: DevicePatch!): Device
  }
`;

describe.each(databases)('lists and nested writes over keys of others on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database });
    const { db } = server.store;
    for (const [country, code, name] of [
      ['FR', 'a', 'south'],
      ['FR', 'b', null],
      ['DE', 'a', 'north'],
    ])
      await db.insertInto('region').values({ country, code, name }).execute();
    for (const [name, country, region_code] of [
      ['Lyon', 'FR', 'a'],
      ['Nice', 'FR', 'a'],
      ['Kiel', 'DE', 'a'],
      ['Oslo', null, null],
    ])
      await db.insertInto('city').values({ name, country, region_code }).execute();
    for (const word of ['sunny', 'cold']) await db.insertInto('label').values({ word }).execute();
    for (const [word, country, code] of [
      ['sunny', 'FR', 'a'],
      ['cold', 'DE', 'a'],
      ['cold', 'FR', 'b'],
    ])
      await db.insertInto('region_label').values({ word, country, code }).execute();
    for (const name of ['zoe', 'bob']) await db.insertInto('person').values({ name }).execute();
    for (const [label, owner_name] of [
      ['x', 'zoe'],
      ['y', 'bob'],
      ['z', null],
      ['w', 'bob'],
    ])
      await db.insertInto('device').values({ label, owner_name }).execute();
  });
  afterAll(() => server?.close());

  const run = async (query: string) => {
    const { data, errors } = await server.query(query);
    return errors ? `${errors[0].extensions.code} ${errors[0].extensions.field}` : data;
  };
  const names = async (query: string) =>
    Object.values<any>(await run(query))[0]
      .map(({ name, label, id }: any) => name ?? label ?? id)
      .join(' ');

  it('sort and leave out rows by keys of several columns and by other unique ones', async () => {
    expect(await names('{ cities(orderBy: { region: { name: ASC } }) { name } }')).toBe(
      'Kiel Lyon Nice Oslo',
    );
    expect(
      await names('{ cities(orderBy: [{ region: { id: DESC } }, { name: DESC }]) { name } }'),
    ).toBe('Oslo Nice Lyon Kiel');
    expect(await names('{ cities(distinct: [REGION], orderBy: { name: DESC }) { name } }')).toBe(
      'Oslo Nice Kiel',
    );
    expect(await names('{ regions(orderBy: { cities: { count: DESC } }) { id } }')).toBe(
      'FR:a DE:a FR:b',
    );
    expect(
      await names('{ devices(orderBy: [{ owner: { devices: { count: DESC } } }]) { label } }'),
    ).toBe('z y w x');
    const met: string[] = [];
    for (let cursor = ''; met.length < 3;) {
      const { citiesConnection: page } = (await run(
        `{ citiesConnection(first: 1, distinct: [REGION], orderBy: [{ region: { id: ASC } }] ${cursor && `after: "${cursor}"`}) { totalCount edges { node { name } } pageInfo { endCursor hasNextPage } } }`,
      )) as any;
      expect(page.totalCount).toBe(3);
      met.push(page.edges[0].node.name);
      cursor = page.pageInfo.endCursor;
      expect(page.pageInfo.hasNextPage).toBe(met.length < 3);
    }
    expect(met).toEqual(['Kiel', 'Lyon', 'Oslo']);
    expect(await names('{ regions { id named { name } } }')).toBe('DE:a FR:a FR:b');
  });

  it('write nested rows', async () => {
    const region = (input: string) =>
      run(
        `mutation { updateRegion(id: "FR:a", input: { ${input} }) { cities { name } labels { word } } }`,
      );
    expect(
      await region(
        'cities: { delete: [{ id: 1 }], connect: [{ id: 4 }], update: [{ where: { id: 2 }, data: { name: "Nizza" } }], create: [{ name: "Lille" }] }, labels: { set: [{ word: "cold" }], create: [{ word: "warm" }] }',
      ),
    ).toEqual({
      updateRegion: {
        cities: [{ name: 'Nizza' }, { name: 'Oslo' }, { name: 'Lille' }],
        labels: [{ word: 'cold' }, { word: 'warm' }],
      },
    });
    expect(await region('cities: { update: [{ where: { id: 3 }, data: { name: "x" } }] }')).toBe(
      'BAD_USER_INPUT cities',
    );
    expect(await region('labels: { delete: [{ word: "sunny" }] }')).toBe('BAD_USER_INPUT labels');
    expect(
      await region(
        'cities: { set: [{ id: 3 }] }, labels: { delete: [{ word: "warm" }], disconnect: [{ word: "cold" }] }',
      ),
    ).toEqual({
      updateRegion: { cities: [{ name: 'Kiel' }], labels: [] },
    });
  });

  it('write the one row that a key of theirs leads to', async () => {
    const city = (input: string) =>
      run(`mutation { updateCity(id: 2, input: { ${input} }) { region { id name } } }`);
    expect(
      await city('region: { connect: { country: "FR", code: "b" }, update: { name: "b" } }'),
    ).toEqual({
      updateCity: { region: { id: 'FR:b', name: 'b' } },
    });
    expect(await city('region: { delete: true }')).toEqual({ updateCity: { region: null } });
    expect(await city('region: { update: { name: "none" } }')).toBe('BAD_USER_INPUT region');
    expect(await names('{ regions { id } }')).toBe('DE:a FR:a');
    const device = (input: string) =>
      run(`mutation { updateDevice(id: 3, input: { owner: { ${input} } }) { owner { name } } }`);
    expect(await device('connect: { name: "zoe" }')).toEqual({
      updateDevice: { owner: { name: 'zoe' } },
    });
    expect(await device('disconnect: true')).toEqual({ updateDevice: { owner: null } });
    expect(await device('delete: true')).toBe('BAD_USER_INPUT owner');
  });
});
