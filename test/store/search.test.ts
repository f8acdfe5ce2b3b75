import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTables, type Table } from '@twofold/schema';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findDifference } from '../../generator/migrations/difference.ts';
import { foldMigrations } from '../../generator/migrations/fold.ts';
import { readMigration } from '../../generator/migrations/read-migration.ts';
import { runnable } from '../../runtime/database/migrations/load-migrations.ts';
import { recordMigration } from '../../runtime/database/plan/record.ts';
import { renderMigration } from '../../templates/migration.ts';
import { openDatabase } from '../../runtime/database/open-database.ts';
import { alterTable } from '../../runtime/core/store/tables/altering.ts';
import { catalogSource, readCatalog } from '../../runtime/database/catalog/read-catalog.ts';
import { columnTypes } from '../../runtime/core/store/tables/column-types.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { compareCatalogs } from '../../runtime/database/migrations/drift.ts';
import { migrate, revert } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { planMigrations } from '../../runtime/database/plan/plan-migrations.ts';
import { reset } from '../../runtime/database/migrations/reset.ts';
import { catalogAfter } from '../../runtime/database/migrations/scratch.ts';
import { createSearchIndex, dropSearchIndex } from '../../runtime/core/store/tables/altering.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { projectOf } from '../graphql/harness.ts';
import { databases, type TestDatabase } from './databases.ts';

type Up = Migration['up'];
const file = (name: string, up: Up, down: Up): Migration => ({
  name,
  text: `${up} ${down}`,
  up,
  down,
});

/** `uuid`: with a key that is not the number of the row. */
const posts = (ids: 'integer' | 'uuid') =>
  file(
    '0001_posts',
    async (db) => {
      const type = columnTypes(db, ids);
      await db.schema
        .createTable('posts')
        .addColumn('id', type.key)
        .addColumn('title', type.text)
        .execute();
    },
    async (db) => void (await db.schema.dropTable('posts').execute()),
  );

const INDEX = {
  name: 'twofold_search_posts',
  table: 'posts',
  key: ['id'],
  columns: ['title'],
  language: 'english',
};

const searched = file(
  '0002_search',
  (db) => createSearchIndex(db, INDEX),
  (db) => dropSearchIndex(db, INDEX),
);

const required = file(
  '0003_required',
  async (db) => {
    const type = columnTypes(db);
    await alterTable(db, 'posts')
      .addColumn('views', type.integer, (column) => column.notNull().unique())
      .execute();
  },
  async (db) => void (await alterTable(db, 'posts').dropColumn('views').execute()),
);

const root = mkdtempSync(join(tmpdir(), 'twofold-search-'));
afterAll(() => rmSync(root, { recursive: true }));
const settings = { lockTimeout: 2000, onlineFrom: 100_000 };
const UUID = '0190a0b0-0000-7000-8000-00000000000';

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`the index of a search on ${name}`, () => {
    const opened: TestDatabase[] = [];
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.drop();
    });
    const open = async () => {
      const database = await create();
      opened.push(database);
      return database;
    };

    const found = async ({ db, dialect }: Store, word: string) => {
      const keyed =
        dialect === 'sqlite' &&
        (
          await sql<{ name: string }>`
        select name from sqlite_master where name = 'twofold_search_posts_keys'`.execute(db)
        ).rows.length > 0;
      const hits =
        dialect === 'postgres'
          ? sql`select k0 from twofold_search_posts where document @@ to_tsquery('twofold_search_english', ${word})`
          : keyed
            ? sql`select k0 from twofold_search_posts_keys where doc in (select rowid from twofold_search_posts where twofold_search_posts match ${word})`
            : sql`select rowid from twofold_search_posts where twofold_search_posts match ${word}`;
      const { rows } = await sql<{
        title: string;
      }>`select title from posts where id in (${hits}) order by title`.execute(db);
      return rows.map(({ title }) => title);
    };

    test.each(['integer', 'uuid'] as const)(
      'has the rows of before, keeps every write, and goes and comes with its migration, with %s keys',
      async (ids) => {
        const { store } = await open();
        const first = posts(ids);
        const key = (at: number) => (ids === 'uuid' ? { id: `${UUID}${at}` } : {});
        await migrate(store, [first]);
        await store.db
          .insertInto('posts')
          .values({ ...key(1), title: 'old cats' })
          .execute();
        await migrate(store, [first, searched]);
        expect(await found(store, 'cat')).toEqual(['old cats']);
        await store.db
          .insertInto('posts')
          .values([
            { ...key(2), title: 'a cat' },
            { ...key(3), title: 'a dog' },
          ])
          .execute();
        await store.db
          .updateTable('posts')
          .set({ title: 'running' })
          .where('title', '=', 'old cats')
          .execute();
        await store.db.deleteFrom('posts').where('title', '=', 'a dog').execute();
        expect([
          await found(store, 'cat'),
          await found(store, 'run'),
          await found(store, 'dog'),
        ]).toEqual([['a cat'], ['running'], []]);
        await revert(store, [first, searched], { root });
        const { tables } = await readCatalog(catalogSource(store.db));
        expect(
          tables
            .map(({ name: table }) => table)
            .filter((each) => each.startsWith('twofold_search')),
        ).toEqual([]);
        await migrate(store, [first, searched]);
        expect(await found(store, 'cat')).toEqual(['a cat']);
        await revert(store, [first, searched], { root });
        await migrate(store, [first]);
      },
    );

    test('stays when its table is made anew', async () => {
      const { store } = await open();
      await migrate(store, [posts('integer'), searched]);
      const empty = [posts('integer'), searched, required];
      await migrate(store, empty);
      await store.db.insertInto('posts').values({ title: 'cats', views: 1 }).execute();
      expect(await found(store, 'cat')).toEqual(['cats']);
      await revert(store, empty, { root });
      await store.db.updateTable('posts').set({ title: 'dogs' }).execute();
      expect([await found(store, 'cat'), await found(store, 'dog')]).toEqual([[], ['dogs']]);
    });

    test('is planned with what it locks, is no drift, and its loss is one', async () => {
      const { store } = await open();
      const list = [posts('integer'), searched];
      await migrate(store, list.slice(0, 1));
      await store.db.insertInto('posts').values({ title: 'cats' }).execute();
      const [plan] = await planMigrations(store, [list], settings);
      expect(plan!.steps).toMatchObject([
        {
          does: 'search',
          object: 'posts (title)',
          rows: 1,
          verdict: 'safe',
          blocks: 'writes',
          lock: store.dialect === 'sqlite' ? 'RESERVED' : 'SHARE ROW EXCLUSIVE',
        },
      ]);
      await migrate(store, list);
      const drift = async () =>
        compareCatalogs(
          await catalogAfter(store, list),
          await readCatalog(catalogSource(store.db)),
        );
      expect(await drift()).toEqual([]);
      const trigger =
        store.dialect === 'sqlite' ? 'twofold_search_posts_insert' : 'twofold_search_posts';
      const table = sql.raw(store.dialect === 'sqlite' ? '' : ' on posts');
      await sql`drop trigger ${sql.ref(trigger)}${table}`.execute(store.db);
      expect(await drift()).toMatchObject([{ object: `posts.${trigger}`, kind: 'missing' }]);
    });

    test('is dropped with the tables by a reset', async () => {
      const { store, url } = await open();
      const list = [posts('integer'), searched];
      await migrate(store, list);
      await store.db.insertInto('posts').values({ title: 'cats' }).execute();
      expect(url).not.toBe('');
      await reset(store, [list], { root });
      await migrate(store, list);
      expect(await found(store, 'cat')).toEqual([]);
    });

    test('is filled by a copy of the rows, in both directions', async () => {
      const app = {
        project: projectOf(
          'type Post @search(fields: ["title"], language: "english") { id: ID! title: String } type Query { posts(search: String): [Post!]! }',
        ),
      };
      const from = await open();
      await createTables(from.store, buildTables(app.project), 'integer');
      await from.store.db
        .insertInto('posts')
        .values([{ title: 'cats' }, { title: 'dogs' }])
        .execute();
      for (const other of databases.filter((each) => each.missing === null)) {
        const to = await other.create();
        opened.push(to);
        expect(await openDatabase(app).copy({ from: from.url, to: to.url })).toMatchObject({
          ok: true,
        });
        expect(await found(to.store, 'cat')).toEqual(['cats']);
      }
    });
  });
}

describe.skipIf(databases[1]!.missing !== null)('the index of a search of a large table', () => {
  test('is made online, with the rows that are written meanwhile', async () => {
    const database = await databases[1]!.create();
    try {
      const { store } = database;
      const list = [posts('integer'), searched];
      await migrate(store, list.slice(0, 1));
      await sql`insert into posts (title) select 'cats ' || n from generate_series(1, 12000) n`.execute(
        store.db,
      );
      const online = { lockTimeout: 2000, onlineFrom: 100 };
      const [plan] = await planMigrations(store, [list], online);
      expect(plan!.steps).toMatchObject([{ does: 'search', online: true, blocks: 'nothing' }]);
      const prepared: string[] = [];
      const writing = store.db.insertInto('posts').values({ title: 'cats meanwhile' }).execute();
      await migrate(store, list, {
        settings: online,
        onPrepared: ({ name }) => prepared.push(name),
      });
      await writing;
      expect(prepared).toEqual(['twofold_search_posts', 'twofold_search_posts_index']);
      const { rows } = await sql<{
        count: string;
      }>`select count(*) as count from twofold_search_posts where document @@ to_tsquery('twofold_search_english', 'cat')`.execute(
        store.db,
      );
      expect(Number(rows[0]!.count)).toBe(12_001);
      await revert(store, list, { root });
    } finally {
      await database.drop();
    }
  });
});

describe('a migration with the index of a search', () => {
  const tables = (sdl: string): Table[] => buildTables(projectOf(`${sdl} type Query { a: Int }`));
  const [none, some, more] = [
    'type Post { id: ID! title: String body: String }',
    'type Post @search(fields: ["title"]) { id: ID! title: String body: String }',
    'type Post @search(fields: ["title", "body"], language: "german") { id: ID! title: String body: String }',
  ].map(tables) as [Table[], Table[], Table[]];
  const stepsOf = (before: Table[], after: Table[]) =>
    findDifference(before, after, { allowDrop: () => true }).steps;
  const fold = (...steps: ReturnType<typeof stepsOf>[]) =>
    foldMigrations(
      steps.map((each, at) => ({
        file: `migrations/000${at}_a.ts`,
        text: renderMigration(each, { ids: 'integer' }),
      })),
    );

  test('is read back as it was written, so that the next one finds no difference', () => {
    const text = renderMigration(stepsOf(none, some), { ids: 'integer' });
    expect(readMigration(text).steps).toEqual([
      {
        kind: 'createIndex',
        table: 'posts',
        index: {
          name: 'twofold_search_posts',
          columns: ['title'],
          unique: false,
          search: { language: 'simple', key: ['id'] },
        },
      },
    ]);
    for (const [before, after] of [
      [none, some],
      [some, more],
      [more, none],
      [more, some],
    ] as const) {
      const folded = fold(stepsOf([], before), stepsOf(before, after));
      expect(folded.unread).toEqual([]);
      expect(stepsOf([...folded.tables], after)).toEqual([]);
    }
  });

  test('drops the index before its table', async () => {
    const { up } = runnable({ steps: stepsOf(some, []) });
    const recorded = await recordMigration({ up }, 'sqlite');
    expect(recorded.map(({ kind }) => kind)).toEqual(['dropIndex', 'dropTable']);
    expect(fold(stepsOf([], some), stepsOf(some, [])).tables).toEqual([]);
  });
});
