import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alterTable } from '../../runtime/core/store/alter-table.ts';
import { columnTypes } from '../../runtime/core/store/column-types.ts';
import { migrate, migrationStatus } from '../../runtime/core/store/migrate.ts';
import type { Migration } from '../../runtime/core/store/migration.ts';
import { planMigrations } from '../../runtime/core/store/plan/plan-migrations.ts';
import { databases, type TestDatabase } from './databases.ts';

const { missing, create } = databases.find(({ name }) => name === 'PostgreSQL')!;
const settings = { lockTimeout: 200, onlineFrom: 50 };

const init: Migration = {
  name: '0001_init',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema.createTable('authors').addColumn('id', type.key).execute();
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('title', type.text)
      .addColumn('rating', type.integer)
      .addColumn('author', type.id)
      .execute();
    await db.insertInto('authors').values({ id: 1 }).execute();
    await sql`insert into posts (title, rating, author)
      select 't' || n, n % 5, 1 from generate_series(1, 200) as n`.execute(db);
  },
};

/** One step of each kind that runs online. */
const everything: Migration = {
  name: '0002_everything',
  up: async (db) => {
    const type = columnTypes(db);
    await alterTable(db, 'posts')
      .addColumn('rank', type.integer, (column) => column.notNull().defaultTo(7))
      .addColumn('editor', type.id, (column) =>
        column.references('authors.id').onDelete('set null'),
      )
      .alterColumn('title', type.text, (column) => column.notNull().unique())
      .alterColumn('rating', type.integer, (column) => column.check(sql`"rating" < 9`))
      .alterColumn('author', type.id, (column) =>
        column.notNull().references('authors.id').onDelete('cascade'),
      )
      .execute();
    await db.schema.createIndex('posts_editor').on('posts').column('editor').execute();
    await db.schema
      .createIndex('posts_both')
      .on('posts')
      .columns(['rank', 'title'])
      .unique()
      .execute();
  },
};

describe.skipIf(missing !== null)(
  `a migration of a large table${missing ? ` (${missing})` : ''}`,
  () => {
    let database: TestDatabase;
    let plain: TestDatabase;
    beforeAll(async () => {
      [database, plain] = [await create(), await create()];
      for (const { store } of [database, plain]) await migrate(store, [init]);
    });
    afterAll(async () => {
      await database.drop();
      await plain.drop();
    });

    const run = (...more: Migration[]) => migrate(database.store, [init, ...more], { settings });
    const catalog = async (db: Kysely<any>) => {
      const { rows } = await sql<{ line: string }>`
      select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated as line
      from pg_constraint where connamespace = 'public'::regnamespace
      union all select indexdef || (select ' ' || indisvalid from pg_index where indexrelid = format('%I', indexname)::regclass) from pg_indexes where schemaname = 'public'
      union all select attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull
        from pg_attribute where attrelid in ('posts'::regclass, 'authors'::regclass) and attnum > 0 and not attisdropped
      order by 1`.execute(db);
      return rows.map(({ line }) => line);
    };

    test('is planned online, and leaves the same catalog as in one transaction', async () => {
      const [plan] = await planMigrations(database.store, [[init, everything]], settings);
      expect(
        plan!.steps.map(({ does, object, online, blocks }) => [does, object, online, blocks]),
      ).toEqual([
        ['add', 'posts.rank', false, 'nothing'],
        ['add', 'posts.editor', false, 'nothing'],
        ['require', 'posts.title', true, 'nothing'],
        ['unique', 'posts.title', true, 'nothing'],
        ['check', 'posts.rating', true, 'nothing'],
        ['require', 'posts.author', true, 'nothing'],
        ['reference', 'posts.author', true, 'nothing'],
        ['index', 'posts.editor', true, 'nothing'],
        ['unique', 'posts (rank, title)', true, 'nothing'],
      ]);
      const prepared: string[] = [];
      await migrate(database.store, [init, everything], {
        settings,
        onPrepared: ({ does, object }) => prepared.push(`${does} ${object}`),
      });
      expect(prepared).toEqual([
        'add posts.rank',
        'add posts.editor',
        'reference posts.editor',
        'require posts.title',
        'unique posts.title',
        'check posts.rating',
        'require posts.author',
        'reference posts.author',
        'index posts.editor',
        'unique posts_both',
      ]);
      await migrate(plain.store, [init, everything], {
        settings: { ...settings, onlineFrom: 1_000_000 },
      });
      expect(await catalog(database.store.db)).toEqual(await catalog(plain.store.db));
      expect((await migrationStatus(database.store, [init, everything])).applied).toHaveLength(2);
    });
  },
);
