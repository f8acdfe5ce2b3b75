import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDatabase } from '../../../generator/import/database/import-database.ts';
import { importHasura } from '../../../generator/import/hasura/import-hasura.ts';
import { readMetadata } from '../../../generator/import/hasura/read-metadata.ts';
import type { Imported } from '../../../generator/import/imported.ts';
import { planImport } from '../../../generator/import/plan-import.ts';
import { importPrisma } from '../../../generator/import/prisma/import-prisma.ts';
import { readPrisma } from '../../../generator/import/prisma/read-prisma.ts';
import { run } from '../../../generator/pipeline.ts';
import { disk } from '../../../generator/write/disk.ts';
import { catalogOfDatabase } from '../../../runtime/database/catalog-of-database.ts';
import { emptyDatabase, execute } from '../../adopted/start.ts';
import { postgresUrl } from '../../engines/available.ts';
import { generator, linkPackages, makeProject, repo, type TestProject } from '../project.ts';
import { DATABASE, METADATA } from './hasura-project.ts';
import { type TheirDatabase, theirDatabases } from './their-databases.ts';

const PRISMA = `datasource db {
  provider = "postgresql"
}

model User {
  id    Int     @id @default(autoincrement())
  email String  @unique
  tags  String[]
  role  Role    @default(GUEST)
  posts Post[]
}

model Post {
  id       String   @id @default(uuid())
  price    Decimal  @db.Decimal(12, 2)
  author   User     @relation(fields: [authorId], references: [id])
  authorId Int
  likes    Like[]
}

model Like {
  post   Post   @relation(fields: [postId], references: [id])
  postId String
  name   String

  @@id([postId, name])
}

enum Role {
  ADMIN
  GUEST
}

model Subscription {
  id         Int      @id @default(autoincrement())
  createdAt  DateTime @default(now())
  created_at DateTime @default(now())
  nodes      Node[]
}

model Query {
  id        Int        @id @default(autoincrement())
  name      String     @unique
  mutations Mutation[]
}

model Mutation {
  id      Int    @id @default(autoincrement())
  query   Query  @relation(fields: [queryId], references: [id])
  queryId Int
  nodes   Node[]
}

model Node {
  id             Int           @id @default(autoincrement())
  subscription   Subscription? @relation(fields: [subscriptionId], references: [id])
  subscriptionId Int?
  mutations      Mutation[]
}
`;

/** Folders of projects in one folder, so that one run of the compiler checks them all. */
describe('database acceptance 8: the code of imported projects', () => {
  let all: TestProject;
  const names: string[] = [];
  const drops: (() => Promise<void>)[] = [];

  const write = async (name: string, imported: Imported) => {
    names.push(name);
    const root = all.path(name);
    const options = { source: name, crud: false, managed: false };
    for (const { file, text } of (await planImport(root, imported, options)).files)
      all.write(`${name}/${file}`, text);
    const { findings } = await run(root, {}, disk);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(await generator(['check'], root)).toMatchObject({ code: 0 });
  };
  const catalogOf = async ({ dialect, statements, schemas }: Omit<TheirDatabase, 'name'>) => {
    const { url, drop } = await emptyDatabase(dialect);
    drops.push(drop);
    await execute(url, statements);
    return catalogOfDatabase({ url, root: '/', ...(schemas && { schemas }) });
  };

  beforeAll(async () => {
    all = makeProject({});
    linkPackages(all);
    const kinds = theirDatabases(3).filter(({ dialect }) => dialect === 'sqlite' || postgresUrl);
    for (const kind of kinds)
      await write(
        `${kind.name.replaceAll(' ', '-')}-${kind.dialect}`,
        importDatabase(await catalogOf(kind), () => true),
      );
    await write('prisma', importPrisma(await readPrisma([{ file: 'p.prisma', text: PRISMA }])));
    if (!postgresUrl) return;
    for (const [name, text] of Object.entries(METADATA)) all.write(`metadata/${name}`, text);
    const metadata = readMetadata(all.root, 'metadata');
    const source = metadata.sources[0]!;
    const catalog = await catalogOf({ dialect: 'postgres', statements: [DATABASE] });
    await write('hasura', importHasura({ metadata, source, catalog, user: 'users' }));
  });
  afterAll(async () => {
    for (const drop of drops) await drop();
    all?.remove();
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
    expect(names.length).toBeGreaterThan(2);
  });
});
