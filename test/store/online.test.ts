import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate, migrationStatus } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { planMigrations } from '../../runtime/database/plan/plan-migrations.ts';
import { databases, type TestDatabase } from './databases.ts';
import { everything, init, longer, settings } from './large-table.ts';

const { missing, create } = databases.find(({ name }) => name === 'PostgreSQL')!;
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

    const readyMade = async () => {
      const { rows } = await sql<{ name: string }>`
      select conname as name from pg_constraint where conname like 'twofold\\_ready%'
      union all select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relname like 'twofold\\_ready%' or not i.indisvalid`.execute(database.store.db);
      return rows.map(({ name }) => name);
    };
    test('takes back all that was made when a row comes in the way, and names the row', async () => {
      const { store } = database;
      const before = await catalog(store.db);
      let blocked: Promise<unknown> = Promise.resolve();
      const watched = migrate(store, [init, everything, longer], {
        settings,
        // The first part is done: from now on rows break the second and the third.
        onPrepared: ({ does }) => {
          if (does === 'add')
            blocked = store.db
              .updateTable('posts')
              .set({ editor: 1 })
              .where('id', '<', 4)
              .execute();
        },
      });
      await expect(watched).rejects.toMatchObject({
        code: 'ROWS_IN_THE_WAY',
        extensions: {
          migration: '0003_longer',
          object: 'posts.editor',
          atRisk: 2,
          keys: ['2', '3'],
        },
      });
      await blocked;
      expect(await catalog(store.db)).toEqual(before);
      expect(await readyMade()).toEqual([]);
      expect((await migrationStatus(store, [init, everything, longer])).partial).toEqual([]);
      await store.db.updateTable('posts').set({ editor: null }).execute();
    });

    test('gives up after five tries for a lock, and changes nothing', async () => {
      const { store } = database;
      const before = await catalog(store.db);
      await store.transaction(async (trx) => {
        await sql`lock table posts in share mode`.execute(trx);
        const other = openStore(database.url, '.');
        await expect(
          migrate(other, [init, everything, longer], {
            settings: { ...settings, lockTimeout: 20 },
          }),
        ).rejects.toMatchObject({ code: 'MIGRATION_LOCKED' });
        await other.close();
      });
      expect(await catalog(store.db)).toEqual(before);
      expect(await readyMade()).toEqual([]);
    });

    test('is partial after a kill between two parts, and the next run goes on from there', async () => {
      const { store } = database;
      const all = [init, everything, longer];
      const script = fileURLToPath(new URL('migrate-and-die.ts', import.meta.url));
      const child = spawn(process.execPath, [script, database.url, '2']);
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
      expect((await migrationStatus(store, all)).partial).toEqual(['0003_longer']);
      expect(await readyMade()).not.toEqual([]);
      const again: string[] = [];
      await migrate(store, all, { settings, onPrepared: ({ object }) => again.push(object) });
      expect(again).toEqual(['posts.rank', 'posts.editor']);
      expect(await readyMade()).toEqual([]);
      expect((await migrationStatus(store, all)).applied).toHaveLength(3);
      await migrate(plain.store, all, { settings: { ...settings, onlineFrom: 1_000_000 } });
      expect(await catalog(store.db)).toEqual(await catalog(plain.store.db));
    });
  },
);
