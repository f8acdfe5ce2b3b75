import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run as runMigrate } from '../../generator/commands/migrate.ts';
import { readProject } from '@twofold/schema';
import { planMigration } from '../../generator/migrations/plan.ts';
import { adoptDatabase } from '../../runtime/database/adopted/adopt-database.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { databases, projectOf } from '../graphql/harness.ts';
import { execute, serve, uglyDatabase } from './start.ts';
import { SDL } from './ugly.ts';

const MANIFEST = 'name: adopted\ndatabase:\n  managed: false\n';

describe.each(databases)('managed: false on %s', (kind) => {
  let url: string;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    ({ url, drop } = await uglyDatabase(kind));
  });

  afterAll(async () => {
    await drop?.();
  });

  it('changes no structure and no journal mode at the start and while it serves', async () => {
    const journal = (ask: string) => {
      const file = new DatabaseSync(url.slice('file:'.length));
      const { journal_mode: mode } = file.prepare(ask).get() as { journal_mode: string };
      file.close();
      return mode;
    };
    if (kind === 'sqlite') expect(journal('pragma journal_mode = delete')).toBe('delete');
    const before = kind === 'postgres' ? await catalogOf(url) : undefined;
    const server = await serve(url);
    expect((await server.query('{ tracks { id playlists { id } } }')).errors).toBeUndefined();
    expect((await server.rest('GET', '/api/cities')).status).toBe(200);
    await server.close();
    if (kind === 'sqlite') expect(journal('pragma journal_mode')).toBe('delete');
    else expect(await catalogOf(url)).toEqual(before);
  });

  it('names every misfit at once and does not listen', async () => {
    const sdl = `scalar DateTime
type Query { albums: [Album!]! }
type Album @table(name: "Album", schema: "music") {
  id: ID! @column(name: "AlbumId")
  title: String! @column(name: "Titel")
}
type City @table(name: "city") { id: ID! name: ${kind === 'postgres' ? 'Int' : 'String'}! country: String! regions: [Region!]! @relation(table: "city_region") }
type Region @table(name: "region", key: ["code"]) { code: String! cities: [City!]! }
type Gone @table(name: "gone") { id: ID! }
`;
    const message = await serve(url, sdl, MANIFEST).then(
      () => 'it listens',
      (error: Error) => error.message,
    );
    for (const text of [
      'Album.title: Album.Titel: expected a column, found none of this name',
      'City.country: city.country: expected not null, found a column that may be null',
      'City.regions: city_region: expected a join table, found none of this name',
      'Region: region: expected the key code, found the key country, code',
      'Gone: gone: expected a table, found none of this name',
      ...(kind === 'postgres' ? ['City.name: city.name: expected Int, found text'] : []),
    ])
      expect(message).toContain(text);
    expect(message.split('\n').every((line) => line.startsWith('CATALOG_MISMATCH '))).toBe(true);
  });

  it('finds no misfit in a schema that fits, and reads the forms of keys from the catalog', async () => {
    const store = openStore(url, '/');
    const { project, misfits } = await adoptDatabase(projectOf(SDL, MANIFEST), store);
    await store.close();
    expect(misfits).toEqual([]);
    const keys = project.entities.map(({ name, columns }) => [
      name,
      columns.find((column) => column.name === 'id')?.key,
    ]);
    expect(Object.fromEntries(keys)).toMatchObject({ Track: 'integer', Part: 'text' });
  });

  it('names the tables of accounts that are missing', async () => {
    const { createServer } = await import('../../runtime/core/server.ts');
    const { auth } = await import('../../runtime/auth/index.ts');
    await execute(url, [
      'create table members (id integer primary key, email text not null unique)',
    ]);
    const server = createServer()
      .schema(
        'type Query { members: [Member!]! } type Member @table(name: "members") { id: ID! email: String! @unique }',
        `${MANIFEST}auth:\n  user: Member\n`,
      )
      .with(auth());
    const problem = await server
      .start('127.0.0.1:0', {
        env: { DATABASE_URL: url, NODE_ENV: 'test', JWT_SECRET: 'x'.repeat(64) },
        logTo: { write: () => {} },
      })
      .then(
        () => 'it listens',
        (error: Error) => error.message,
      );
    await server.close();
    expect(problem).toMatch(/auth needs tables that are not there: .*auth_sessions/);
  });
});

describe('the command line with managed: false', () => {
  it('refuses the steps of migrate that change the database, and plans no migration', async () => {
    const root = mkdtempSync(join(tmpdir(), 'unmanaged-'));
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'manifest.yaml'), MANIFEST);
    writeFileSync(join(root, 'schema.graphql'), 'type Query { a: Int }');
    for (const step of ['up', 'down', 'new', 'save', 'reset'])
      await expect(
        runMigrate({ positionals: [step], cwd: root, options: {}, terminal: undefined } as never),
      ).rejects.toMatchObject({ code: 'DATABASE_UNMANAGED', exitCode: 2 });
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: SDL }],
      manifest: { file: 'manifest.yaml', text: MANIFEST },
    });
    const planned = planMigration(project!, { migrations: [], lockedMigrations: [] } as never, {});
    expect(planned).toMatchObject({ files: [], findings: [], missing: [] });
  });
});

async function catalogOf(url: string) {
  const { catalogSource, readCatalog } =
    await import('../../runtime/database/catalog/read-catalog.ts');
  const store = openStore(url, '/');
  try {
    const schemas = store.dialect === 'postgres' ? { schemas: ['public', 'music'] } : {};
    return await readCatalog(catalogSource(store.db), schemas);
  } finally {
    await store.close();
  }
}
