import { buildSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ejectedSdl, withDefinition } from '../../generator/edit/ejected-sdl.ts';
import { createRandom } from '../generator/random.ts';
import { databases, projectOf, startServer, type TestServer } from '../graphql/harness.ts';
import { randomOperation } from './random-operation.ts';
import { MANIFEST, SCHEMAS, sdlOf } from './schemas.ts';

/** `CRUD_OPERATIONS=500` for the long run, `CRUD_SEED` for another one. */
const OPERATIONS = Number(process.env['CRUD_OPERATIONS'] ?? 30);
const SEED = Number(process.env['CRUD_SEED'] ?? 1);

/** Cursors hold what rows are sorted by, so both servers have one clock. */
const NOON = Date.parse('2026-01-02T12:00:00Z');

const resolvers = {
  Query: { hello: () => 'hi', shopName: () => 'Tea', version: () => '1' },
  Mutation: { addToNewsletter: () => true },
};

describe.each(databases)('an API that is written, and one that was ejected, on %s', (database) => {
  describe.each(SCHEMAS)('for the schema %s', (name) => {
    let [written, ejected]: (TestServer | undefined)[] = [];
    const schema = () => buildSchema(written!.project.sdl);
    beforeAll(async () => {
      const sdl = sdlOf(name);
      const { crudSdl } = projectOf(sdl, MANIFEST);
      const start = (text: string, manifest: string) =>
        startServer(text, { database, manifest, resolvers: own(text), now: () => NOON });
      written = await start(sdl, MANIFEST);
      ejected = await start(withDefinition(sdl, ejectedSdl(crudSdl!, 'crud')!), 'name: shop\n');
      expect(ejected.project.crudSdl).toBeUndefined();
    });
    afterAll(() => Promise.all([written?.close(), ejected?.close()]));

    test(`give the same answers to ${OPERATIONS} operations: Acceptance 5`, async () => {
      const random = createRandom(SEED);
      const tally = { data: 0, errors: 0, rows: 0 };
      for (let each = 0; each < OPERATIONS; each++) {
        const operation = randomOperation(schema(), random);
        const answers = [await written!.query(operation), await ejected!.query(operation)];
        expect([operation, answers[1]]).toEqual([operation, answers[0]]);
        const { data, errors } = answers[0]!;
        const codes = errors?.map(({ extensions }) => extensions?.code) ?? [];
        for (const code of codes)
          expect(['BAD_USER_INPUT', 'CONFLICT', 'TOO_COSTLY'], operation).toContain(code);
        if (errors) tally.errors++;
        else tally.data++;
        if (JSON.stringify(data ?? {}).includes('"id"')) tally.rows++;
      }
      if (process.env['CRUD_OPERATIONS']) console.log(name, database, SEED, tally);
      expect(tally.data).toBeGreaterThan(OPERATIONS / 3);
    });
  });
});

/** Functions for the fields of the roots that the schema leaves to be written. */
const own = (sdl: string) =>
  sdl.includes('addToNewsletter') ? resolvers : { Query: resolvers.Query };
