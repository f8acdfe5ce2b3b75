import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDatabase } from '../../generator/import/database/import-database.ts';
import { importHasura } from '../../generator/import/hasura/import-hasura.ts';
import { readMetadata } from '../../generator/import/hasura/read-metadata.ts';
import { importPrisma } from '../../generator/import/prisma/import-prisma.ts';
import { readPrisma } from '../../generator/import/prisma/read-prisma.ts';
import { catalogOfDatabase } from '../../runtime/database/catalog-of-database.ts';
import { emptyDatabase } from '../adopted/start.ts';
import { postgresUrl } from '../engines/available.ts';
import { sqlOfPrisma } from '../generator/import/prisma-engine.ts';
import { linkPackages, makeProject, repo, type TestProject } from '../generator/project.ts';
import { bring, type Found, runSql } from './bring.ts';
import { HASURA_SOURCES, type HasuraSource } from './hasura-sources.ts';
import { PRISMA_SOURCES, type Source } from './prisma-sources.ts';
import { RAILS_SOURCES } from './rails-sources.ts';

/** Folders of projects in one folder, so that one run of the compiler checks them all. */
describe.skipIf(!postgresUrl)('what people bring', () => {
  let all: TestProject;
  const names: string[] = [];
  const drops: (() => Promise<void>)[] = [];
  const rootOf = (name: string) => {
    names.push(name);
    mkdirSync(all.path(name));
    return all.path(name);
  };
  beforeAll(async () => {
    all = makeProject({});
    linkPackages(all);
  });
  // `CORPUS_TABLE=1` prints what became of each source.
  const rows: string[] = [];
  const outcome = async (source: Source, found: Found) => {
    const problems = await bring(rootOf(source.name), found, source);
    const notes = [...(source.decide ?? []), ...reasons(source)];
    const result = problems.length > 0 ? problems : ['passes', ...notes];
    rows.push(`| ${source.name} | ${source.constructs} | ${result.join('; ')} |`);
    return problems;
  };
  afterAll(async () => {
    if (process.env['CORPUS_TABLE']) console.log(rows.join('\n'));
    for (const drop of drops) await drop();
    all?.remove();
  });

  describe.each(PRISMA_SOURCES)('the Prisma schema of $name', (source) => {
    it(`comes through: ${source.constructs}`, async () => {
      const found = await foundPrisma(source);
      drops.push(found.drop);
      expect(await outcome(source, found)).toEqual([]);
    });
  });

  describe.each(RAILS_SOURCES)('the dump of $name', (source) => {
    it(`comes through: ${source.constructs}`, async () => {
      const { url, drop } = await emptyDatabase('postgres');
      drops.push(drop);
      await runSql(url, source.text);
      const imported = importDatabase(await catalogOfDatabase({ url, root: '/' }), () => true);
      expect(await outcome(source, { imported, url })).toEqual([]);
    });
  });

  describe.each(HASURA_SOURCES)('the metadata of $name', (source) => {
    it(`comes through: ${source.constructs}`, async () => {
      const { url, drop } = await emptyDatabase('postgres');
      drops.push(drop);
      await runSql(url, source.text);
      for (const [file, text] of Object.entries(metadataOf(source)))
        all.write(`metadata-${source.name}/${file}`, text);
      const metadata = readMetadata(all.root, `metadata-${source.name}`);
      const catalog = await catalogOfDatabase({ url, root: '/' });
      const [first] = metadata.sources;
      const user = source.users && 'users';
      const imported = importHasura({ metadata, source: first!, catalog, user });
      expect(await outcome(source, { imported, url })).toEqual([]);
    });
  });

  it('has no error of the compiler', async () => {
    all.write(
      'tsconfig.json',
      JSON.stringify({
        extends: `./${names[0]}/tsconfig.json`,
        compilerOptions: { rootDir: '.' },
        include: names.map((name) => `${name}/src`),
      }),
    );
    const compiler = join(repo, 'node_modules/.bin/tsc');
    const checked = await promisify(execFile)(compiler, ['--noEmit', '-p', all.root]).catch(
      (error: { stdout: string }) => error,
    );
    expect(checked.stdout).toBe('');
  });
});

const reasons = ({ without = {} }: Source) =>
  Object.entries(without).map(([name, why]) => `${name}: ${why}`);

const textOf = ({ text }: Source) =>
  `datasource db {\n  provider = "postgresql"\n}\n${text.replace(
    /^ *((?:model|enum) \w+ \{) (.*) \}$/gm,
    (_, head: string, body: string) => `${head}\n${body.split('; ').join('\n')}\n}`,
  )}`;

async function foundPrisma(source: Source): Promise<Found & { drop: () => Promise<void> }> {
  const text = textOf(source);
  const imported = importPrisma(await readPrisma([{ file: 'schema.prisma', text }]));
  const { url, drop } = await emptyDatabase('postgres');
  const sql = await sqlOfPrisma(url, text);
  await runSql(url, `create extension if not exists citext;\n${sql}`);
  return { imported, url, drop };
}

/** The files of a folder of metadata. JSON is YAML. */
const metadataOf = ({ tables }: HasuraSource): Readonly<Record<string, string>> => ({
  'version.yaml': 'version: 3\n',
  'databases/databases.yaml': JSON.stringify([
    { name: 'default', kind: 'postgres', tables: '!include default/tables/tables.yaml' },
  ]),
  'databases/default/tables/tables.yaml': JSON.stringify(
    Object.entries(tables).map(([name, rest]) => ({ table: { name, schema: 'public' }, ...rest })),
  ),
});
