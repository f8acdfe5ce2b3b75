import { rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { squash } from '../../generator/migrations/squash.ts';
import { run } from '../../generator/pipeline.ts';
import { readSources } from '../../generator/read.ts';
import { disk } from '../../generator/write/disk.ts';
import { baseline, driftOf } from '../../runtime/database/migrations/baseline.ts';
import { loadMigrations } from '../../runtime/database/migrations/load-migrations.ts';
import { migrate, migrationStatus } from '../../runtime/database/migrations/migrate.ts';
import { reset } from '../../runtime/database/migrations/reset.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { readStructure } from './migrations/structure.ts';
import { linkPackages, makeProject, type TestProject } from './project.ts';

const schemaWith = (fields: string, more = '') => `type User {
  id: ID!
  name: String!
${fields}
}

type Query {
  users: [User!]!
}
${more}`;

const made: TestProject[] = [];
const opened: TestDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.drop()));
  made.splice(0).forEach((each) => each.remove());
});

function makeShop() {
  const shop = makeProject({ 'schema.graphql': schemaWith(''), 'manifest.yaml': 'name: shop\n' });
  linkPackages(shop);
  made.push(shop);
  const load = () => loadMigrations(pathToFileURL(`${shop.path('migrations')}/`));
  return {
    shop,
    load,
    generate: async (schema?: string) => {
      if (schema !== undefined) shop.write('schema.graphql', schema);
      const { findings } = await run(shop.root, { allowDrop: ['users.town'] }, disk);
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    },
    /** What a server of a developer does at its start. */
    start: async (store: Store) =>
      migrate(store, await load(), { follow: { root: shop.root, newest: false, gone: true } }),
    migrations: () =>
      Object.entries(shop.files()).filter(([path]) => path.startsWith('migrations/')),
    checkOut: (files: readonly (readonly [string, string])[]) => {
      rmSync(shop.path('migrations'), { recursive: true, force: true });
      for (const [path, text] of files) shop.write(path, text);
    },
  };
}

/** Replaces the migrations as `migrate squash` does. */
async function squashAll({ shop, checkOut, migrations }: ReturnType<typeof makeShop>) {
  const { migrations: sources } = await readSources(shop.root);
  const squashed = squash(sources, { ids: 'integer' })!;
  const kept = migrations().filter(([path]) => !squashed.removed.includes(path));
  checkOut([...kept, [squashed.path, squashed.text]]);
  return squashed;
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `migrations on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      const open = async (root?: string) => {
        const database = await create(root);
        opened.push(database);
        return database.store;
      };

      test('acceptance 4: after each of ten switches between two branches the database is that of the branch', async () => {
        const { shop, generate, start, migrations, checkOut } = makeShop();
        const store = await open(shop.root);
        await generate();
        const trunk = migrations();
        await generate(schemaWith('  rating: Float\n  posts: [Post!]!', POST));
        await generate(schemaWith('  rating: String\n  posts: [Post!]!', POST));
        const left = migrations();
        checkOut(trunk);
        await generate(schemaWith('  town: String @unique'));
        const right = migrations();
        const structures = new Map<unknown, unknown>();
        for (let at = 0; at < 10; at++) {
          const branch = at % 2 === 0 ? left : right;
          checkOut(branch);
          await start(store);
          const structure = await readStructure(store);
          expect(structures.get(branch) ?? structure).toEqual(structure);
          structures.set(branch, structure);
          const row = branch === left ? { rating: '7' } : { town: `t${at}` };
          await store.db
            .insertInto('users')
            .values({ name: `n${at}`, ...row })
            .execute();
          expect(await store.db.selectFrom('users').select('name').execute()).toHaveLength(at + 1);
        }
        const rescued = Object.keys(shop.files()).filter((path) => path.includes('/rescued/'));
        expect(rescued.length).toBeGreaterThanOrEqual(8);
      });

      test('acceptance 5: the folder can be deleted and written anew, on an empty and on the existing database', async () => {
        const { shop, load, generate, start } = makeShop();
        const store = await open(shop.root);
        await generate();
        await generate(schemaWith('  town: String'));
        await generate(schemaWith('  town: String\n  age: Int'));
        await start(store);
        await store.db.insertInto('users').values({ name: 'ann', town: 'Ulm' }).execute();
        rmSync(shop.path('migrations'), { recursive: true });
        await generate();
        expect(await start(store)).toEqual([]);
        expect(await migrationStatus(store, await load())).toMatchObject({
          applied: ['0001_init'],
          pending: [],
          missing: [],
          oneWay: [],
        });
        expect(await store.db.selectFrom('users').select(['name', 'town']).execute()).toEqual([
          { name: 'ann', town: 'Ulm' },
        ]);
        const empty = await open();
        expect(await migrate(empty, await load())).toEqual(['0001_init']);
        expect(await readStructure(empty)).toEqual(await readStructure(store));
      });

      test('a folder written anew for another schema names the drift, and reset starts anew', async () => {
        const { shop, load, generate, start } = makeShop();
        const store = await open(shop.root);
        await generate(schemaWith('  town: String'));
        await start(store);
        await store.db.insertInto('users').values({ name: 'ann', town: 'Ulm' }).execute();
        rmSync(shop.path('migrations'), { recursive: true });
        await generate(schemaWith('  city: String'));
        const renamed = (await load()).map((each) => ({ ...each, name: '0001_start' }));
        const follow = { root: shop.root, newest: true, gone: true };
        await expect(migrate(store, renamed, { follow })).rejects.toMatchObject({
          code: 'MIGRATION_MISSING',
          message: expect.stringMatching(/users\.city is missing[^]*migrate -- reset/) as string,
        });
        expect(await store.db.selectFrom('users').select('town').execute()).toEqual([
          { town: 'Ulm' },
        ]);
        expect(await reset(store, [renamed], { root: shop.root })).toEqual(['0001_start']);
        expect(await migrate(store, renamed, { follow })).toEqual([]);
      });

      test('acceptance 5: a squash is recorded where all is applied, runs on an empty database, and is refused on a half-applied one', async () => {
        const project = makeShop();
        const { load, generate } = project;
        await generate();
        const half = await open();
        await migrate(half, await load());
        await generate(schemaWith('  town: String @unique'));
        await generate(schemaWith('  town: String @unique\n  rating: Float'));
        const store = await open();
        await migrate(store, await load());
        await store.db.insertInto('users').values({ name: 'ann', rating: 7.5 }).execute();
        const before = await readStructure(store);
        const squashed = await squashAll(project);
        expect([squashed.path, squashed.byHand]).toEqual(['migrations/0001_squashed.ts', []]);
        expect(await migrationStatus(store, await load())).toMatchObject({
          pending: ['0001_squashed'],
          missing: [],
        });
        expect(await migrate(store, await load())).toEqual([]);
        expect(await readStructure(store)).toEqual(before);
        expect(await store.db.selectFrom('users').select('rating').execute()).toHaveLength(1);
        expect(await migrationStatus(store, await load())).toMatchObject({
          applied: ['0001_squashed'],
          missing: [],
          pending: [],
        });
        const empty = await open();
        expect(await migrate(empty, await load())).toEqual(['0001_squashed']);
        expect(await readStructure(empty)).toEqual(before);
        await expect(migrate(half, await load())).rejects.toMatchObject({
          code: 'MIGRATION_SQUASHED',
          message: expect.stringMatching(/not 0002_add_users_town, 0003_\w+/) as string,
        });
        await generate();
        expect(project.migrations().map(([path]) => path)).toEqual(['migrations/0001_squashed.ts']);
      });

      test('a baseline is recorded only where the catalog is what they make, and drift is named', async () => {
        const { load, generate } = makeShop();
        await generate(schemaWith('  rating: Float @default(value: 1)\n  town: String @unique'));
        const store = await open();
        const own = await load();
        await migrate(store, own);
        expect(await driftOf(store, [own])).toEqual([]);
        await sql`drop table twofold_migrations`.execute(store.db);
        await expect(migrate(store, own)).rejects.toMatchObject({
          code: 'DATABASE_NOT_EMPTY',
          extensions: { tables: ['users'] },
          message: expect.stringMatching(/import db[^]*migrate -- baseline/) as string,
        });
        await sql`create table theirs (id integer primary key)`.execute(store.db);
        await sql`alter table users add column extra text`.execute(store.db);
        const { recorded, drift } = await baseline(store, [own]);
        expect([recorded, drift]).toMatchObject([
          [],
          [{ object: 'users.extra', kind: 'extra', expected: null, found: 'text' }],
        ]);
        expect(await migrationStatus(store, own)).toMatchObject({ applied: [] });
        await sql`alter table users drop column extra`.execute(store.db);
        expect(await baseline(store, [own])).toEqual({ recorded: ['0001_init'], drift: [] });
        expect(await migrate(store, own)).toEqual([]);
        await sql`alter table users rename column town to city`.execute(store.db);
        expect(
          (await driftOf(store, [own])).map(({ object, kind }) => `${kind} ${object}`).sort(),
        ).toEqual([
          'extra users.city',
          'extra users.city',
          'missing users.town',
          'missing users.town',
        ]);
      });
    },
  );
}

const POST = `
type Post {
  id: ID!
  title: String!
  author: User!
}
`;
