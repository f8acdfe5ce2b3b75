import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Table } from '@twofold/schema';
import { columnTypes } from '../../runtime/core/store/tables/column-types.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { migrate, migrationStatus, revert } from '../../runtime/database/migrations/migrate.ts';
import type { Migration, MigrationContext } from '../../runtime/core/store/migrations/migration.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { databases, type TestDatabase } from './databases.ts';

const notes: Migration = {
  name: '0001_notes',
  text: 'create notes',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema
      .createTable('notes')
      .addColumn('id', type.key)
      .addColumn('text', type.text, (column) => column.notNull())
      .addColumn('done', type.boolean)
      .addColumn('tags', type.json)
      .addColumn('price', type.decimal)
      .addColumn('born', type.date)
      .addColumn('made_at', type.timestamp)
      .addColumn('parent_id', type.id, (column) =>
        column.references('notes.id').onDelete('cascade'),
      )
      .execute();
  },
  down: async (db) => db.schema.dropTable('notes').execute(),
};

describe.each(databases.filter(({ missing }) => missing === null))(
  'the store on $name',
  ({ create }) => {
    let database: TestDatabase;
    beforeEach(async () => void (database = await create()));
    afterEach(async () => database.drop());

    it('reads back what was written, the same on every database', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      const row = {
        text: 'a\u0000'.replace('\u0000', ' ') + 'é😀',
        done: true,
        tags: '["x",{"b":1}]',
        price: '12345678901234567890.12',
        born: '2026-02-28',
        made_at: '2026-11-21T09:08:07.123Z',
      };
      await store.db.insertInto('notes').values(row).execute();
      const [read] = await store.db
        .selectFrom('notes')
        .select(['id', 'text', 'done', 'tags', 'price', 'born', 'made_at', 'parent_id'])
        .execute();
      expect({ ...read }).toEqual({ ...row, id: 1, tags: ['x', { b: 1 }], parent_id: null });
    });

    it('reads columns as they are now, when a table was rebuilt after the first look at it', async () => {
      const { store } = database;
      await sql`create table notes (id integer, done text, tags text)`.execute(store.db);
      await store.query('select done, tags from notes', []);
      await sql`drop table notes`.execute(store.db);
      await migrate(store, [notes]);
      await store.db.insertInto('notes').values({ text: 'x', done: true, tags: '[1]' }).execute();
      const [row] = await store.query('select done, tags from notes', []);
      expect({ ...row }).toEqual({ done: true, tags: [1] });
    });

    it('rolls back a transaction that throws', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      const failing = store.transaction(async (trx) => {
        await trx.insertInto('notes').values({ text: 'lost' }).execute();
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await store.db.selectFrom('notes').select('id').execute()).toEqual([]);
    });

    it('keeps concurrent transactions apart and loses none', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      const add = (text: string) =>
        store.transaction(async (trx) => {
          await trx.insertInto('notes').values({ text }).execute();
          await sleep(2);
        });
      await Promise.all([
        ...Array.from({ length: 8 }, (_, index) => add(`t${index}`)),
        store.db.insertInto('notes').values({ text: 'alone' }).execute(),
      ]);
      expect(await store.db.selectFrom('notes').select('id').execute()).toHaveLength(9);
    });

    it('does not show other readers what a transaction has not committed', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      const other = openStore(database.url, '.');
      const seen = await store.transaction(async (trx) => {
        await trx.insertInto('notes').values({ text: 'soon' }).execute();
        return other.query('select id from notes', []);
      });
      await other.close();
      expect(seen).toEqual([]);
      expect(await store.query('select id from notes', [])).toHaveLength(1);
    });

    it('gives each migration the dialect, up and down', async () => {
      const { store } = database;
      const seen: string[] = [];
      const migration = {
        name: '0001_seen',
        up: async (_db: unknown, { dialect }: MigrationContext) => void seen.push(dialect),
        down: async (_db: unknown, { dialect }: MigrationContext) => void seen.push(dialect),
      };
      await migrate(store, [migration]);
      await revert(store, [migration], { root: '.' });
      // `down` is also called once to note its statements.
      expect(seen).toEqual([store.dialect, store.dialect, store.dialect]);
    });

    it('refuses a row that refers to nothing', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      await expect(
        store.db.insertInto('notes').values({ text: 'orphan', parent_id: 99 }).execute(),
      ).rejects.toThrow(/foreign key/i);
    });

    it('lets one holder of a lock in at a time, across two servers', async () => {
      const other = openStore(database.url, '.');
      let inside = 0;
      let most = 0;
      const work = async () => {
        most = Math.max(most, (inside += 1));
        await sleep(30);
        inside -= 1;
      };
      await Promise.all([
        database.store.lock('job', work),
        other.lock('job', work),
        database.store.lock('job', work),
      ]);
      await other.close();
      expect(most).toBe(1);
    });

    it('applies each migration once, also when two servers start at once', async () => {
      const other = openStore(database.url, '.');
      const results = await Promise.all([
        migrate(database.store, [notes]),
        migrate(other, [notes]),
      ]);
      await other.close();
      expect(results.flat()).toEqual(['0001_notes']);
      expect(await migrationStatus(database.store, [notes])).toMatchObject({
        applied: ['0001_notes'],
        pending: [],
        empty: [],
        changed: [],
        missing: [],
      });
    });

    it('leaves nothing of a migration that fails half-way', async () => {
      const { store } = database;
      const broken: Migration = {
        name: '0001_broken',
        text: '',
        up: async (db) => (
          await notes.up(db, store),
          sql`select nonsense from nowhere`.execute(db).then(() => {})
        ),
      };
      await expect(migrate(store, [broken])).rejects.toThrow();
      expect(await migrate(store, [notes])).toEqual(['0001_notes']);
    });

    it('refuses an applied migration whose text changed or whose file is gone', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      await expect(migrate(store, [{ ...notes, text: 'other' }])).rejects.toMatchObject({
        code: 'MIGRATION_CHANGED',
      });
      await expect(migrate(store, [{ ...notes, name: '0002_more' }])).rejects.toMatchObject({
        code: 'MIGRATION_MISSING',
      });
    });

    it('takes no offence at line ends that a checkout changed', async () => {
      await migrate(database.store, [{ ...notes, text: 'a\nb\n' }]);
      expect(await migrate(database.store, [{ ...notes, text: 'a\r\nb\r\n' }])).toEqual([]);
    });

    it('reverts the newest applied migration', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      const { root, remove } = emptyFolder();
      expect(await revert(store, [notes], { root })).toEqual(['0001_notes']);
      expect(await revert(store, [notes], { root })).toEqual([]);
      remove();
      expect(await migrate(store, [notes])).toEqual(['0001_notes']);
    });

    it('keeps the rows of other tables when a table that they refer to is rebuilt', async () => {
      const { store } = database;
      await migrate(store, [notes]);
      await store.db.insertInto('notes').values({ text: 'parent' }).execute();
      await store.db.insertInto('notes').values({ text: 'child', parent_id: 1 }).execute();
      await store.structuralTransaction(async (trx) => {
        await sql`create table notes_new as select * from notes`.execute(trx);
        await sql`drop table notes`.execute(trx);
        await sql`alter table notes_new rename to notes`.execute(trx);
      });
      expect(await store.query('select id from notes', [])).toHaveLength(2);
    });

    it('makes missing tables and columns and drops nothing', async () => {
      const { store } = database;
      const column = (name: string) =>
        ({ name, type: 'text', required: false, unique: false }) as const;
      const key = { name: 'id', type: 'id', required: true, unique: true } as const;
      const to = (table: string) =>
        ({
          name: `${table}_id`,
          type: 'id',
          required: false,
          unique: false,
          references: { table, column: 'id', onDelete: 'set null' },
        }) as const;
      const circle = (names: readonly string[]): Table[] => [
        {
          name: 'group',
          columns: [key, to('order'), ...names.map(column)],
          primaryKey: ['id'],
          indexes: [],
        },
        {
          name: 'order',
          columns: [key, to('group')],
          primaryKey: ['id'],
          indexes: [{ name: 'order_group', columns: ['group_id'], unique: false }],
        },
      ];
      await createTables(store, circle(['name']), 'integer');
      await store.db.insertInto('group').values({ name: 'kept' }).execute();
      await createTables(store, circle(['name', 'more']), 'integer');
      const [row] = await store.db.selectFrom('group').select(['id', 'name', 'more']).execute();
      expect({ ...row }).toEqual({ id: 1, name: 'kept', more: null });
      await expect(store.db.insertInto('order').values({ group_id: 9 }).execute()).rejects.toThrow(
        /foreign key/i,
      );
    });
  },
);

for (const { name, missing } of databases)
  if (missing) it.skip(`the store on ${name}: ${missing}`, () => {});

function emptyFolder() {
  const root = mkdtempSync(join(tmpdir(), 'twofold-store-'));
  return { root, remove: () => rmSync(root, { recursive: true }) };
}
