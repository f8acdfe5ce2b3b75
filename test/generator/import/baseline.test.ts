import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { baselineStatements } from '../../../generator/import/database/baseline.ts';
import { importDatabase } from '../../../generator/import/database/import-database.ts';
import { printSchema } from '../../../generator/import/print-schema.ts';
import { planMigration } from '../../../generator/migrations/plan.ts';
import { catalogOfDatabase } from '../../../runtime/database/catalog-of-database.ts';
import type { Catalog } from '../../../runtime/database/catalog/catalog.ts';
import { compareCatalogs } from '../../../runtime/database/migrations/drift.ts';
import { readLedger } from '../../../runtime/core/store/migrations/ledger.ts';
import { loadMigrations } from '../../../runtime/database/migrations/load-migrations.ts';
import { migrate } from '../../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import { emptyDatabase, execute } from '../../adopted/start.ts';
import { postgresUrl } from '../../engines/available.ts';
import { generator, linkPackages, makeProject, type TestProject } from '../project.ts';
import { theirDatabases } from './their-databases.ts';

const MANIFEST = 'name: theirs\ndatabase: { managed: true }\napi: { rest: true }\n';

const available = theirDatabases(0).filter(
  ({ dialect, schemas }) => !schemas && (dialect === 'sqlite' || postgresUrl || process.env['CI']),
);

const catalogOf = (url: string) => catalogOfDatabase({ url, root: '/' });

/** What a column of the database is changed to. */
const CHANGED: Readonly<Record<string, string>> = {
  Chinook: 'alter table "Artist" rename column "Name" to "Title"',
  Pagila: 'alter table customer alter column email type varchar(99)',
  Northwind: 'alter table "Customers" add column "City" text',
};

describe.each(available)(
  'database acceptance 10: the baseline of $name on $dialect',
  ({ name, dialect, statements }) => {
    const urls: string[] = [];
    const drops: (() => Promise<void>)[] = [];
    let project: TestProject;
    let original: Catalog;

    const database = async (texts: readonly string[]) => {
      const { url, drop } = await emptyDatabase(dialect);
      drops.push(drop);
      await execute(url, texts);
      return url;
    };
    /** Applies the baseline. @returns what was applied, and what the ledger says */
    const apply = async (url: string) => {
      const store = openStore(url, '/');
      try {
        const list = await loadMigrations(pathToFileURL(project.path('migrations/')));
        const applied = await migrate(store, list).catch((error: { code: string }) => error.code);
        const ledger = await readLedger(store.db);
        return [applied, ledger.applied.map((row) => row.name)];
      } finally {
        await store.close();
      }
    };

    beforeAll(async () => {
      urls.push(await database(statements));
      original = await catalogOf(urls[0]!);
      const { project: model, diagnostics } = readProject({
        schema: [
          { file: 'schema.graphql', text: printSchema(importDatabase(original, () => true, true)) },
        ],
        manifest: { file: 'manifest.yaml', text: MANIFEST },
      });
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      const plan = (migrations: readonly { file: string; text: string }[]) =>
        planMigration(model!, { migrations, lockedMigrations: [], schema: [] } as never, {
          baseline: baselineStatements(original),
        });
      const [file] = plan([]).files;
      project = makeProject({ [file!.path]: file!.text });
      linkPackages(project);
      // What the schema says of the tables is what the migration says of them.
      expect(plan([{ file: file!.path, text: file!.text }])).toMatchObject({
        files: [],
        findings: [],
      });
    });
    afterAll(async () => {
      project?.remove();
      for (const drop of drops) await drop();
    });

    it('makes an equal catalog of an empty database', async () => {
      const url = await database([]);
      expect(await apply(url)).toEqual([['0000_baseline'], ['0000_baseline']]);
      const made = await catalogOf(url);
      expect(compareCatalogs(original, made)).toEqual([]);
      const kinds = ({ tables, functions }: Catalog) => [
        ...tables
          .filter((each) => !each.name.startsWith('twofold_'))
          .map((each) => [each.name, each.kind, each.triggers.map((trigger) => trigger.name)]),
        functions.map((each) => each.name),
      ];
      expect(kinds(made)).toEqual(kinds(original));
    });

    it('runs nothing on the database that it was made from', async () => {
      expect(await apply(urls[0]!)).toEqual([['0000_baseline'], ['0000_baseline']]);
      const { tables } = await catalogOf(urls[0]!);
      expect(tables.filter((each) => !each.name.startsWith('twofold_'))).toEqual(original.tables);
    });

    it('refuses a database with a changed column, and runs nothing', async () => {
      const url = await database([...statements, CHANGED[name]!]);
      const before = await catalogOf(url);
      expect(await apply(url)).toEqual(['MIGRATION_BASELINE_DIFFERS', []]);
      expect(await catalogOf(url)).toEqual(before);
    });
  },
);

describe('generator import db --managed', () => {
  it('writes the baseline, which migrate up records, or refuses with 5 and the drift', async () => {
    const shop = makeProject({});
    linkPackages(shop);
    const theirs = new DatabaseSync(shop.path('theirs.db'));
    const { statements } = theirDatabases(0).find(({ name }) => name === 'Northwind')!;
    for (const statement of statements) theirs.exec(statement);
    const run = (...words: string[]) => generator(words, shop.root);
    const url = 'file:theirs.db';
    const several = await run('import', 'db', url, '--managed', '--schema', 'other', '--json');
    expect([several.code, JSON.parse(several.stdout).error.code]).toEqual([2, 'SCHEMA_UNMANAGED']);
    expect(await run('import', 'db', url, '--managed', '--json')).toMatchObject({ code: 0 });
    expect(shop.has('migrations/0000_baseline.ts')).toBe(true);
    expect(shop.read('manifest.yaml')).toContain('managed: true');
    theirs.exec('alter table "Customers" add column "City" text');
    const refused = await run('migrate', 'up', '--json');
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code, error.drift]).toEqual([
      5,
      'MIGRATION_BASELINE_DIFFERS',
      [expect.objectContaining({ object: 'Customers.City', kind: 'extra' })],
    ]);
    theirs.exec('alter table "Customers" drop column "City"');
    expect(await run('migrate', 'up')).toMatchObject({ code: 0 });
    const status = await run('migrate', 'status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ applied: ['0000_baseline'], pending: [] });
    theirs.close();
    shop.remove();
  });

  it('is what generate writes when managed: false is taken back', async () => {
    const shop = makeProject({});
    linkPackages(shop);
    const theirs = new DatabaseSync(shop.path('theirs.db'));
    theirs.exec('create table "Note" ("NoteId" integer primary key, "Text" varchar(20) not null)');
    theirs.close();
    expect(await generator(['import', 'db', 'file:theirs.db'], shop.root)).toMatchObject({
      code: 0,
    });
    shop.write(
      'manifest.yaml',
      shop.read('manifest.yaml').replace('managed: false', 'managed: true'),
    );
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('migrations/0000_baseline.ts')).toContain('CREATE TABLE "Note"');
    shop.remove();
  });
});
