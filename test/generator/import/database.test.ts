import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDatabase } from '../../../generator/import/database/import-database.ts';
import type { Imported } from '../../../generator/import/imported.ts';
import { printSchema } from '../../../generator/import/print-schema.ts';
import { catalogOfDatabase } from '../../../runtime/database/catalog-of-database.ts';
import { pluralize, readProject } from '@twofold/schema';
import { emptyDatabase, execute, serve, type Adopted } from '../../adopted/start.ts';
import { postgresUrl } from '../../engines/available.ts';
import { logStatements } from '../../engines/statement-log.ts';
import { theirDatabases } from './their-databases.ts';

const MANIFEST = 'name: theirs\ndatabase: { managed: false }\napi: { rest: true }\n';
/** 300 tables take the server a while: CI has a tenth of them. */
const TABLES = Number(process.env['IMPORT_TABLES'] ?? 30);

const available = theirDatabases(TABLES).filter(
  ({ dialect }) => dialect === 'sqlite' || postgresUrl || process.env['CI'],
);

describe.each(available)('import db of $name on $dialect', ({ dialect, statements, schemas }) => {
  let url: string;
  let drop: () => Promise<void>;
  let imported: Imported;
  let sdl: string;
  beforeAll(async () => {
    ({ url, drop } = await emptyDatabase(dialect));
    await execute(url, statements);
    const catalog = await catalogOfDatabase({
      url,
      root: '/',
      ...(dialect === 'postgres' && { schemas: schemas ?? ['public'] }),
    });
    imported = importDatabase(catalog, () => true);
    sdl = printSchema(imported);
  });
  afterAll(() => drop());

  it('makes a schema without an error, the same on every run', async () => {
    const { diagnostics } = readProject({
      schema: [{ file: 'schema.graphql', text: sdl }],
      manifest: { file: 'manifest.yaml', text: MANIFEST },
    });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const again = await catalogOfDatabase({
      url,
      root: '/',
      ...(dialect === 'postgres' && { schemas: schemas ?? ['public'] }),
    });
    expect(printSchema(importDatabase(again, () => true))).toBe(sdl);
  });

  it('names each object of the database once in the report', () => {
    const objects = imported.items.map(({ object, kind }) => `${kind} ${object}`);
    expect(objects.filter((each, at) => objects.indexOf(each) !== at)).toEqual([]);
    const open = imported.items.filter(({ status, as, why }) => status !== 'kept' && !as && !why);
    expect(open).toEqual([]);
  });

  it('serves every table with all of its rows, without a statement that changes the structure', async () => {
    const logged = dialect === 'postgres' ? await logStatements(url) : undefined;
    const server: Adopted = await serve(url, sdl, MANIFEST);
    try {
      for (const { name, fields } of imported.types) {
        const one = `${name[0]!.toLowerCase()}${name.slice(1)}`;
        const plural = pluralize(one);
        const list = plural === one ? `${one}List` : plural;
        const shown = fields.filter(
          ({ type, closed }) =>
            closed === undefined && !imported.types.some((other) => type.includes(other.name)),
        );
        const { data, errors } = await server.query(
          `{ ${list}(limit: 50) { ${shown.map((field) => field.name).join(' ')} } }`,
        );
        expect([name, errors]).toEqual([name, undefined]);
        expect([name, data[list].length]).toEqual([name, rowsIn(statements, name)]);
      }
    } finally {
      await server.close();
    }
    if (!logged) return;
    for (const { table } of imported.types)
      expect(logged().some((text) => text.includes(`"${table.name}"`))).toBe(true);
    expect(logged().filter((text) => DDL.test(text))).toEqual([]);
  });
});

const DDL =
  /\b(?:(?:create|alter|drop|truncate|grant|revoke|reindex)\s|comment\s+on\s|refresh\s+materialized)/i;

/** The rows that the fixture inserts into the table of a type. */
function rowsIn(statements: readonly string[], type: string): number {
  const known: Readonly<Record<string, number>> = {
    ...{ Artist: 2, Album: 3, Employee: 2, Track: statements.length > 20 ? 1 : 2, Playlist: 1 },
    ...{ Language: 2, Actor: 1, Film: 1, FilmActor: 1, Customer: 1, Payment: 2, FilmList: 1 },
    ...{ RentalByRating: 1, Product: 2, Order: 1, OrderDetail: 2, ProductsAboveAveragePrice: 1 },
    ...{ Region: 2, City: 2, MusicRegion: 1, Nokey: 2, Both: 2 },
  };
  if (type === 'Customer' && statements.some((each) => each.includes('CompanyName'))) return 2;
  return known[type] ?? 0;
}
