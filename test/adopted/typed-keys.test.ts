import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDatabase } from '../../generator/import/database/import-database.ts';
import { printSchema } from '../../generator/import/print-schema.ts';
import { createServer } from '../../runtime/core/server.ts';
import type { Running } from '../../runtime/core/running.ts';
import { catalogOfDatabase } from '../../runtime/database/catalog-of-database.ts';
import { postgresUrl } from '../engines/available.ts';
import { emptyDatabase, execute } from './start.ts';

const TABLES = [
  "create type kind as enum ('NODE', 'WAY')",
  'create table place (kind kind, net inet, code varchar(3), name text not null, primary key (kind, net, code))',
  'create table note (id integer primary key, kind kind not null, net inet not null, code varchar(3) not null, text text, foreign key (kind, net, code) references place (kind, net, code))',
  "insert into place values ('NODE', '10.0.0.1', 'abc', 'one'), ('WAY', '10.0.0.1', 'abc', 'two')",
  "insert into note values (1, 'NODE', '10.0.0.1', 'abc', 'a'), (2, 'WAY', '10.0.0.1', 'abc', 'b')",
];

const OWN = `
  extend type Place { label(loud: Boolean): String! }
  extend type Note { label(loud: Boolean): String! }
  extend type Query { found(ids: [ID!]!): [Place]! }
`;

/** Keys of types that are no text, read one by one and by many at once beside functions of the project. */
describe.skipIf(!postgresUrl)('keys of an enum, an address and a short text', () => {
  let theirs: Awaited<ReturnType<typeof emptyDatabase>>;
  let server: Running;
  beforeAll(async () => {
    theirs = await emptyDatabase('postgres');
    await execute(theirs.url, TABLES);
    const imported = importDatabase(
      await catalogOfDatabase({ url: theirs.url, root: '/' }),
      () => true,
    );
    const sdl = printSchema(imported, true);
    const created = createServer()
      .plugin({
        name: 'own',
        resolvers: {
          Place: { label: ({ name }: any) => `place ${name}` },
          Note: { label: ({ text }: any) => `note ${text}` },
          Query: {
            found: (_parent: unknown, { ids }: any, { loaders }: any) =>
              loaders.place.loadMany(ids),
          },
        },
      } as never)
      .schema(
        sdl + OWN,
        'name: adopted\ndatabase: { managed: false }\napi: { rest: true, crud: true, access: public }\n',
      );
    server = await created.start('127.0.0.1:0', {
      env: { DATABASE_URL: theirs.url, NODE_ENV: 'test', LOG_LEVEL: 'fatal' },
    });
  });
  afterAll(async () => {
    await server?.close();
    await theirs?.drop();
  });
  const ask = async (query: string) => {
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return answer.json();
  };

  it('lead from each row to the other side, beside functions of both', async () => {
    const note = (id: number, kind: string, word: string, name: string) => ({
      ...{ id: String(id), label: `note ${word}` },
      place: {
        id: `${kind}:10.0.0.1%2F32:abc`,
        label: `place ${name}`,
        notes: [{ label: `note ${word}` }],
      },
    });
    expect(await ask('{ notes { id label place { id label notes { label } } } }')).toEqual({
      data: { notes: [note(1, 'NODE', 'a', 'one'), note(2, 'WAY', 'b', 'two')] },
    });
  });

  it('are found by a loader, and a longer one is not taken for its beginning', async () => {
    expect(
      await ask(
        '{ found(ids: ["NODE:10.0.0.1%2F32:abc", "WAY:10.0.0.1%2F32:abcd", "WAY:10.0.0.1%2F32:abc"]) { id label } }',
      ),
    ).toEqual({
      data: {
        found: [
          { id: 'NODE:10.0.0.1%2F32:abc', label: 'place one' },
          null,
          { id: 'WAY:10.0.0.1%2F32:abc', label: 'place two' },
        ],
      },
    });
  });
});
