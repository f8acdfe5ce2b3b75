import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../graphql/harness.ts';
import { serve, uglyDatabase, type Adopted } from './start.ts';

describe.each(databases)('tables that others made, written on %s', (kind) => {
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
  const failed = async (query: string) => {
    const { errors } = await server.query(query);
    return {
      code: errors?.[0]?.extensions?.code,
      field: errors?.[0]?.extensions?.field,
      message: errors?.[0]?.message,
    };
  };

  it('answers a new row as the database has it after its defaults and triggers', async () => {
    const { createTrack: made } = await data(
      'mutation { createTrack(input: { name: "Four", plays: "9223372036854775805", rating: PG_13, albumId: "1", labels: ["a", "b"] }) { id name unitPrice plays seconds rating stamped labels album { title } } }',
    );
    expect(made).toEqual({
      id: '4',
      name: 'Four',
      unitPrice: '0.99',
      plays: '9223372036854775805',
      seconds: 40,
      rating: 'PG_13',
      stamped: 'by trigger',
      labels: ['a', 'b'],
      album: { title: 'Blue' },
    });
    expect(
      await data(
        'mutation { updateTrack(id: 4, input: { name: "Fourth", unitPrice: "1.50", rating: G }) { name unitPrice seconds rating } }',
      ),
    ).toEqual({
      updateTrack: { name: 'Fourth', unitPrice: '1.50', seconds: 60, rating: 'G' },
    });
    expect(await data('mutation { deleteTrack(id: 4) }')).toEqual({ deleteTrack: true });
  });

  it('never invents a row that a trigger swallows, and passes on what a trigger raises', async () => {
    expect(
      await failed('mutation { createTrack(input: { name: "swallow" }) { id } }'),
    ).toMatchObject({ code: 'NOT_FOUND' });
    expect(
      await failed('mutation { createTrack(input: { name: "refuse" }) { id } }'),
    ).toMatchObject({ code: 'BAD_USER_INPUT', message: 'we do not sell that' });
  });

  it('creates, changes and deletes by keys that others gave', async () => {
    expect(
      await data(
        'mutation { createRegion(input: { country: "FR", code: "a:b", name: "x" }) { id name } }',
      ),
    ).toEqual({ createRegion: { id: 'FR:a%3Ab', name: 'x' } });
    expect(
      await data('mutation { updateRegion(id: "FR:a%3Ab", input: { name: "y" }) { id name } }'),
    ).toEqual({ updateRegion: { id: 'FR:a%3Ab', name: 'y' } });
    expect(await data('mutation { deleteRegion(id: "FR:a%3Ab") }')).toEqual({ deleteRegion: true });
    expect(
      await data(
        'mutation { createProduct(input: { sku: "n 1", title: "New" }) { sku title stock } }',
      ),
    ).toEqual({ createProduct: { sku: 'n 1', title: 'New', stock: 7 } });
    expect(
      await data('mutation { updateProduct(sku: "n 1", input: { stock: 3 }) { stock } }'),
    ).toEqual({ updateProduct: { stock: 3 } });
    expect(await data('mutation { deleteProduct(sku: "n 1") }')).toEqual({ deleteProduct: true });
    expect(
      await data(
        'mutation { createPlaylistTrack(input: { playlistId: 2, trackId: 3 }) { id track { name } } }',
      ),
    ).toEqual({ createPlaylistTrack: { id: '2:3', track: { name: 'Three' } } });
    expect(await data('mutation { deletePlaylistTrack(id: "2:3") }')).toEqual({
      deletePlaylistTrack: true,
    });
  });

  it('creates rows with the key of one column that the caller gives', async () => {
    expect(
      await data(
        'mutation { createPart(input: { id: "p:9", label: "x", productId: "A-1" }) { id } createPerson(input: { id: "77", name: "Cy" }) { id } }',
      ),
    ).toEqual({ createPart: { id: 'p:9' }, createPerson: { id: '77' } });
    expect(
      await failed('mutation { createPerson(input: { id: "x", name: "Di" }) { id } }'),
    ).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(
      await failed('mutation { createPerson(input: { id: "77", name: "Di" }) { id } }'),
    ).toMatchObject({ code: 'CONFLICT' });
  });

  it('writes references of several columns and to other unique columns', async () => {
    expect(
      await data('mutation { updateCity(id: 4, input: { regionId: "AT:1" }) { region { id } } }'),
    ).toEqual({ updateCity: { region: { id: 'AT:1' } } });
    expect(
      await data('mutation { updateCity(id: 4, input: { regionId: null }) { region { id } } }'),
    ).toEqual({ updateCity: { region: null } });
    expect(
      await failed('mutation { updateCity(id: 4, input: { regionId: "XX:1" }) { id } }'),
    ).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(
      await failed('mutation { updateCity(id: 4, input: { regionId: "XX" }) { id } }'),
    ).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('makes what the database refuses the error of the caller, with the field', async () => {
    expect(
      await failed('mutation { createRegion(input: { country: "DE", code: "BY" }) { id } }'),
    ).toMatchObject({ code: 'CONFLICT' });
    expect(
      await failed('mutation { updateProduct(sku: "A-1", input: { stock: -1 }) { stock } }'),
    ).toMatchObject({ code: 'BAD_USER_INPUT' });
    if (kind === 'postgres') {
      expect(
        await failed('mutation { createRegion(input: { country: "TOO LONG", code: "1" }) { id } }'),
      ).toMatchObject({ code: 'BAD_USER_INPUT' });
      expect(
        await failed(
          'mutation { updateTrack(id: 1, input: { unitPrice: "123456789.00" }) { id } }',
        ),
      ).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    const refused = await server.rest('PATCH', '/api/products/A-1', { stock: -1 });
    expect(refused.status).toBe(422);
    expect(
      (await server.rest('POST', '/api/products', { sku: 'A-1', title: 'again' })).status,
    ).toBe(409);
    expect(
      (await server.rest('POST', '/api/regions', { country: 'IT', code: '1', name: 'r' })).status,
    ).toBe(201);
  });
});
