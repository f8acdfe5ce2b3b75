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
});
