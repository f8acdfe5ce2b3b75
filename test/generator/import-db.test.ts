import { copyFileSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';
import { theirDatabases } from './import/their-databases.ts';

const { statements } = theirDatabases(0).find(({ name }) => name === 'Northwind')!;

describe('generator import db', () => {
  let project: TestProject;
  const run = (...words: string[]) => generator(['import', 'db', ...words], project.root);
  const bytes = () => readFileSync(join(project.root, 'theirs.db')).toString('base64');
  beforeAll(() => {
    project = makeProject({});
    linkPackages(project);
    const database = new DatabaseSync(project.path('theirs.db'));
    for (const statement of statements) database.exec(statement);
    database.close();
  });
  afterAll(() => project.remove());

  test('writes a project that generates, and nothing the second time', async () => {
    const before = bytes();
    const dry = await run('file:theirs.db', '--skip', 'Products*', '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject({ entities: 3 });
    const one = await run(
      'file:theirs.db',
      ...['--only', 'Cust*', '--schema', 'main', '--crud', '--managed', '--dry-run', '--json'],
    );
    expect(JSON.parse(one.stdout)).toMatchObject({ entities: 1 });
    expect(project.has('schema.graphql')).toBe(false);
    const first = await run('file:theirs.db', '--json');
    expect(JSON.parse(first.stdout)).toMatchObject({
      ok: true,
      entities: 5,
      files: expect.arrayContaining(['schema.graphql', 'manifest.yaml', 'import-report.md']),
    });
    expect(project.read('.env')).toContain('DATABASE_URL=file:theirs.db\n');
    expect(statSync(project.path('.env')).mode & 0o777).toBe(0o600);
    expect(project.read('manifest.yaml')).toContain('managed: false');
    expect(project.has('src/generated/app.ts')).toBe(true);
    expect(project.has('migrations')).toBe(false);
    const files = project.files();
    expect((await run()).code).toBe(0);
    expect(project.files()).toEqual(files);
    expect(bytes()).toBe(before);
    copyFileSync(project.path('theirs.db'), project.path('other.db'));
    const other = await run('file:other.db');
    expect(other.stderr).toMatch(
      /DATABASE_URL in \.env is file:theirs\.db.*set it to file:other\.db/,
    );
    rmSync(project.path('other.db'));
    expect(project.files()).toEqual({ ...files, 'import-report.md': expect.anything() });
    await run();
  });

  test('brings what is new in the database, and keeps what was renamed here', async () => {
    const renamed = project.read('schema.graphql').replace('companyName:', 'company:');
    project.write('schema.graphql', renamed);
    const database = new DatabaseSync(project.path('theirs.db'));
    database.exec('alter table "Customers" add column "City" text');
    database.exec('create table "Regions" ("RegionID" integer primary key, "Name" text)');
    database.exec(`insert into "Regions" values (1, x'00'), (2, 'south')`);
    database.close();
    expect((await run('--json')).code).toBe(0);
    expect(project.read('import-report.md')).toContain('1 of its values is not String');
    const text = project.read('schema.graphql');
    expect(text).toContain('company: String! @column(name: "CompanyName")');
    expect(text).toContain('city: String @column(name: "City")');
    expect(text).toContain('type Region @table(name: "Regions")');
  });

  test('says what is wrong with the address', async () => {
    const absent = await run('file:absent.db', '--json');
    expect([absent.code, JSON.parse(absent.stdout).error.message]).toEqual([
      2,
      expect.stringContaining('there is no database at'),
    ]);
    expect(project.has('absent.db')).toBe(false);
    const none = await run('--only', 'nothing', '--json');
    expect([none.code, JSON.parse(none.stdout).error.code]).toEqual([2, 'NOTHING_TO_IMPORT']);
  });
});
