import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../graphql/harness.ts';
import { serve, uglyDatabase, type Adopted } from './start.ts';

describe.each(databases)('tables that others made, read on %s', (kind) => {
  let server: Adopted;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await uglyDatabase(kind);
    drop = database.drop;
    server = await serve(database.url);
  });

  afterAll(async () => {
    await server?.close();
    await drop?.();
  });

  const data = async (query: string, variables?: object) => {
    const { data: found, errors } = await server.query(query, variables);
    expect(errors).toBeUndefined();
    return found;
  };

  it('answers by id, through relations of quoted names, in two schemas', async () => {
    expect(
      await data(
        '{ track(id: 1) { id name unitPrice plays seconds rating album { id title tracks { name } } } }',
      ),
    ).toEqual({
      track: {
        id: '1',
        name: 'One',
        unitPrice: '0.10',
        plays: '9223372036854775807',
        seconds: 30,
        rating: 'PG_13',
        album: { id: '1', title: 'Blue', tracks: [{ name: 'One' }, { name: 'Two' }] },
      },
    });
  });

  it('answers an exact BigInt and Decimal in filters, orders and cursors', async () => {
    const where = '{ plays: { eq: "9223372036854775807" } }';
    expect(await data(`{ tracks(where: ${where}) { name plays } }`)).toEqual({
      tracks: [{ name: 'One', plays: '9223372036854775807' }],
    });
    expect(
      await data(
        `{ tracks(where: { unitPrice: { gte: "9.50" } }, orderBy: { unitPrice: ASC }) { unitPrice } }`,
      ),
    ).toEqual({ tracks: [{ unitPrice: '9.50' }, { unitPrice: '10.00' }] });
    const seen: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 4; page += 1) {
      const { tracksConnection: found } = await data(
        'query ($after: String) { tracksConnection(first: 1, after: $after, orderBy: { plays: DESC }) { totalCount edges { node { name } } pageInfo { hasNextPage endCursor } } }',
        { after },
      );
      seen.push(...found.edges.map((edge: any) => edge.node.name));
      expect(found.totalCount).toBe(3);
      if (!found.pageInfo.hasNextPage) break;
      after = found.pageInfo.endCursor;
    }
    expect(seen).toEqual(['One', 'Two', 'Three']);
  });

  it('reads a key of several by its parts, percent-encoded, and a malformed one is an absent row', async () => {
    const { regions } = await data(
      '{ regions { id country code cities { id name region { id } } } }',
    );
    expect(regions.map(({ id }: any) => id)).toEqual([
      'AT:1',
      'AT:9%20%25%2F%C3%BC',
      'DE:B%3AE',
      'DE:BY',
    ]);
    for (const region of regions) {
      const { region: found } = await data(
        'query ($id: ID!) { region(id: $id) { id country code } }',
        { id: region.id },
      );
      expect(found).toEqual({ id: region.id, country: region.country, code: region.code });
      for (const city of region.cities) expect(city.region.id).toBe(region.id);
    }
    for (const id of ['DE', 'DE:BY:x', ':', '%', 'DE:%', 'DE:NO', '']) {
      expect(await data('query ($id: ID!) { region(id: $id) { id } }', { id })).toEqual({
        region: null,
      });
      expect(await data('query ($id: ID!) { playlistTrack(id: $id) { id } }', { id })).toEqual({
        playlistTrack: null,
      });
    }
    for (const id of ['x', '99999999999', '1.5', ''])
      expect(await data('query ($id: ID!) { track(id: $id) { id } }', { id })).toEqual({
        track: null,
      });
  });

  it('pages by a key of several in both directions', async () => {
    const page = (args: string) =>
      data(
        `{ regionsConnection(${args}) { edges { node { id } cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      );
    const ids = (found: any) => found.regionsConnection.edges.map((edge: any) => edge.node.id);
    const first = await page('first: 2');
    expect(ids(first)).toEqual(['AT:1', 'AT:9%20%25%2F%C3%BC']);
    const second = await page(`first: 2, after: "${first.regionsConnection.pageInfo.endCursor}"`);
    expect(ids(second)).toEqual(['DE:B%3AE', 'DE:BY']);
    expect(
      ids(await page(`last: 1, before: "${second.regionsConnection.pageInfo.startCursor}"`)),
    ).toEqual(['AT:9%20%25%2F%C3%BC']);
  });

  it('follows references of several columns, to other unique columns, to itself and through join tables', async () => {
    expect(await data('{ cities { name region { name } } }')).toEqual({
      cities: [
        { name: 'Munich', region: { name: 'Bavaria' } },
        { name: 'Berlin', region: { name: 'Berlin' } },
        { name: 'Vienna', region: { name: 'Vienna' } },
        { name: 'Nowhere', region: null },
      ],
    });
    expect(await data('{ person(id: 1) { name devices { name owner { id } } } }')).toEqual({
      person: {
        name: 'Ada',
        devices: [
          { name: 'phone', owner: { id: '1' } },
          { name: 'tablet', owner: { id: '1' } },
        ],
      },
    });
    expect(
      await data('{ part(id: "p2") { label replaces { id } product { sku parts { id } } } }'),
    ).toEqual({
      part: {
        label: 'new head',
        replaces: { id: 'p1' },
        product: { sku: 'A-1', parts: [{ id: 'p1' }, { id: 'p2' }] },
      },
    });
    expect(
      await data(
        '{ track(id: 1) { playlists { id name tracks { id } entries { id track { name } } } } }',
      ),
    ).toEqual({
      track: {
        playlists: [
          {
            id: '1',
            name: 'Morning',
            tracks: [{ id: '1' }, { id: '2' }],
            entries: [
              { id: '1:1', track: { name: 'One' } },
              { id: '1:2', track: { name: 'Two' } },
            ],
          },
        ],
      },
    });
  });

  it('filters by keys and through relations of several columns', async () => {
    expect(
      await data('{ cities(where: { region: { name: { eq: "Bavaria" } } }) { name } }'),
    ).toEqual({ cities: [{ name: 'Munich' }] });
    expect(
      await data('{ cities(where: { region: { id: { eq: "DE:B%3AE" } } }) { name } }'),
    ).toEqual({ cities: [{ name: 'Berlin' }] });
    expect(
      await data('{ cities(where: { regionId: { in: ["DE:BY", "DE:NO", "x"] } }) { name } }'),
    ).toEqual({ cities: [{ name: 'Munich' }] });
    expect(await data('{ cities(where: { region: null }) { name } }')).toEqual({
      cities: [{ name: 'Nowhere' }],
    });
    expect(await data('{ tracks(where: { rating: { in: [PG_13] } }) { name rating } }')).toEqual({
      tracks: [{ name: 'One', rating: 'PG_13' }],
    });
    expect(await data('{ tracks(where: { id: { in: ["2", "x", "3"] } }) { id } }')).toEqual({
      tracks: [{ id: '2' }, { id: '3' }],
    });
  });

  it('reads by a natural key, a view and a table without a key', async () => {
    expect(await data('{ product(sku: "b 2") { sku title stock } products { sku } }')).toEqual({
      product: { sku: 'b 2', title: 'Bolt', stock: 7 },
      products: [{ sku: 'A-1' }, { sku: 'b 2' }],
    });
    expect((await data('{ topTracks { title plays } }')).topTracks).toHaveLength(2);
    expect((await data('{ topTracks(limit: 1, offset: 1) { plays } }')).topTracks).toHaveLength(1);
    expect((await data('{ logs { line id } }')).logs).toHaveLength(3);
    // An id that several rows of a view have is no key.
    expect((await server.rest('GET', '/api/logs/1')).status).toBe(404);
  });

  it('serves them over REST, with keys in the path', async () => {
    expect(await server.rest('GET', '/api/regions/DE:BY')).toMatchObject({
      status: 200,
      body: { id: 'DE:BY', name: 'Bavaria' },
    });
    expect((await server.rest('GET', '/api/regions/DE:NO')).status).toBe(404);
    expect(
      (await server.rest('GET', `/api/regions/${encodeURIComponent('DE:B%3AE')}`)).body,
    ).toMatchObject({ name: 'Berlin' });
    expect((await server.rest('GET', '/api/tracks/1')).body).toMatchObject({
      id: '1',
      plays: '9223372036854775807',
    });
    expect((await server.rest('GET', '/api/products/A-1')).body).toMatchObject({ sku: 'A-1' });
  });
});
