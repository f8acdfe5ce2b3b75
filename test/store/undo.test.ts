import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { alterTable } from '../../runtime/core/store/tables/altering.ts';
import { columnTypes } from '../../runtime/core/store/tables/column-types.ts';
import { LEDGER } from '../../runtime/core/store/migrations/ledger.ts';
import {
  migrate,
  type MigrateOptions,
  migrationStatus,
  revert,
} from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { reset } from '../../runtime/database/migrations/reset.ts';
import { readStructure } from '../generator/migrations/structure.ts';
import { databases, type TestDatabase } from './databases.ts';

type Up = Migration['up'];

/** A migration as a file has it: its text is what its functions say. */
function file(name: string, up: Up, down?: Up): Migration {
  return { name, text: `${up} ${down}`, up, ...(down && { down }) };
}

const posts = file(
  '0001_posts',
  async (db) => {
    const type = columnTypes(db);
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('title', type.text, (column) => column.notNull())
      .execute();
  },
  async (db) => void (await db.schema.dropTable('posts').execute()),
);

const rating = file(
  '0002_rating',
  async (db) => {
    const type = columnTypes(db);
    await alterTable(db, 'posts')
      .addColumn('rating', type.real)
      .alterColumn('title', type.text, (column) => column.notNull().unique())
      .execute();
    await db.schema.createIndex('posts_rating').on('posts').column('rating').execute();
  },
  async (db) => {
    const type = columnTypes(db);
    await db.schema.dropIndex('posts_rating').execute();
    await alterTable(db, 'posts')
      .alterColumn('title', type.text, (column) => column.notNull())
      .dropColumn('rating')
      .execute();
  },
);

const tags = file(
  '0002_tags',
  async (db) => {
    const type = columnTypes(db);
    await db.schema
      .createTable('tags')
      .addColumn('id', type.key)
      .addColumn('name', type.text)
      .execute();
  },
  async (db) => void (await db.schema.dropTable('tags').execute()),
);

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`an undo on ${name}${missing ? ` (${missing})` : ''}`, () => {
    let database: TestDatabase;
    let root: string;
    beforeEach(async () => {
      database = await create();
      root = mkdtempSync(join(tmpdir(), 'twofold-undo-'));
    });
    afterEach(async () => {
      await database.drop();
      rmSync(root, { recursive: true });
    });

    const notes: string[] = [];
    const follow = (newest = false): MigrateOptions => ({
      follow: { root, newest, gone: true, note: (...each) => void notes.push(each.join(' ')) },
    });
    const rescued = () => {
      const files = notes.splice(0).flatMap((note) => note.split('rescued ')[1] ?? []);
      return files.map((path) =>
        readFileSync(join(root, path), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      );
    };
    const insert = (table: string, values: Record<string, unknown>) =>
      database.store.db.insertInto(table).values(values).execute();

    test('needs no file: the ledger has its statements, and what they drop is rescued', async () => {
      const { store } = database;
      await migrate(store, [posts]);
      const before = await readStructure(store);
      await migrate(store, [posts, rating]);
      await insert('posts', { title: 'one', rating: 7.5 });
      await insert('posts', { title: 'two', rating: null });
      await store.db.deleteFrom('posts').where('title', '=', 'two').execute();
      expect(await migrate(store, [posts, tags], follow())).toEqual(['0002_tags']);
      expect(rescued()).toEqual([[{ id: 1, rating: 7.5 }]]);
      expect(await readStructure(store)).toMatchObject(before);
      await insert('posts', { title: 'three' });
      expect(await store.db.selectFrom('posts').selectAll().orderBy('id').execute()).toEqual([
        { id: 1, title: 'one' },
        { id: 3, title: 'three' },
      ]);
    });

    test('goes newest first down to the last common migration, in one transaction', async () => {
      const { store } = database;
      const broken = file('0002_broken', async (db) => void (await sql`nonsense`.execute(db)));
      await migrate(store, [posts, rating, { ...tags, name: '0003_tags' }]);
      await insert('tags', { name: 'kept' });
      const before = await readStructure(store);
      await expect(migrate(store, [posts, broken], follow())).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
      });
      expect(await readStructure(store)).toEqual(before);
      expect(await store.db.selectFrom('tags').select('name').execute()).toEqual([
        { name: 'kept' },
      ]);
      await migrate(store, [posts], follow());
      expect(notes.filter((note) => note.startsWith('undone'))).toEqual([
        'undone 0003_tags',
        'undone 0002_rating',
      ]);
      expect(rescued()).toEqual([[{ id: 1, name: 'kept' }]]);
    });

    test('of a one-way migration is refused, and so is a folder with none in common', async () => {
      const { store } = database;
      const oneWay = file('0002_fill', async (db) => {
        await db.insertInto('posts').values({ title: 'filled' }).execute();
      });
      const reads = file(
        '0003_reads',
        async (db) => void (await db.updateTable('posts').set({ title: 'set' }).execute()),
        async (db) => {
          for (const { id } of await db.selectFrom('posts').select('id').execute())
            await db.deleteFrom('posts').where('id', '=', id).execute();
        },
      );
      await migrate(store, [posts, oneWay, reads]);
      expect(await migrationStatus(store, [posts])).toMatchObject({
        applied: ['0001_posts'],
        missing: ['0002_fill', '0003_reads'],
        oneWay: ['0002_fill', '0003_reads'],
      });
      await expect(migrate(store, [posts], follow())).rejects.toMatchObject({
        code: 'MIGRATION_MISSING',
        message: expect.stringMatching(/one-way[^]*fix/) as string,
      });
      await expect(
        migrate(store, [{ ...tags, name: '0001_init' }], follow()),
      ).rejects.toMatchObject({ code: 'MIGRATION_MISSING' });
      expect(await store.db.selectFrom('posts').select('title').execute()).toHaveLength(1);
    });

    test('of a definition that rows no longer fit says which rows', async () => {
      const { store } = database;
      const optional = file(
        '0002_optional',
        async (db) => alterTable(db, 'posts').alterColumn('title', columnTypes(db).text).execute(),
        async (db) =>
          alterTable(db, 'posts')
            .alterColumn('title', columnTypes(db).text, (column) => column.notNull())
            .execute(),
      );
      await migrate(store, [posts, optional]);
      await insert('posts', { title: null });
      await expect(migrate(store, [posts], follow())).rejects.toMatchObject({
        code: 'ROWS_IN_THE_WAY',
        extensions: { object: 'posts.title', atRisk: 1, keys: ['1'] },
        message: expect.not.stringContaining('delete'),
      });
      await store.db.updateTable('posts').set({ title: 'now' }).execute();
      await migrate(store, [posts], follow());
      expect((await readStructure(store))['posts']?.join()).toMatch(/title: .*not null/);
    });

    test('follows the newest file that was written again, but only under dev', async () => {
      const { store } = database;
      await migrate(store, [posts, tags]);
      const again = { ...rating, name: '0002_tags' };
      await expect(migrate(store, [posts, again], follow())).rejects.toMatchObject({
        code: 'MIGRATION_CHANGED',
      });
      expect(await migrate(store, [posts, again], follow(true))).toEqual(['0002_tags']);
      expect(await migrate(store, [posts, again])).toEqual([]);
    });

    test('takes a draft over under its saved name, and a draft of another text back', async () => {
      const { store } = database;
      const draft = { ...rating, name: '0002_draft' };
      await migrate(store, [posts, draft]);
      await insert('posts', { title: 'one', rating: 1 });
      expect(await migrate(store, [posts, rating], follow())).toEqual([]);
      expect(await store.db.selectFrom('posts').select('rating').execute()).toEqual([
        { rating: 1 },
      ]);
      await migrate(store, [posts, rating, { ...tags, name: '0003_draft' }]);
      const other = file('0003_other', async (db) => {
        await alterTable(db, 'posts').addColumn('more', columnTypes(db).text).execute();
      });
      expect(await migrate(store, [posts, rating, other], follow())).toEqual(['0003_other']);
      expect(Object.keys(await readStructure(store))).toEqual(['posts']);
    });

    test('goes down to a name, or takes the newest; all or none', async () => {
      const { store } = database;
      await migrate(store, [posts, rating, { ...tags, name: '0003_tags' }]);
      expect(await revert(store, [posts], { root })).toEqual(['0003_tags']);
      expect(await revert(store, [posts], { root, to: '0001' })).toEqual([
        '0002_rating',
        '0001_posts',
      ]);
      expect(await readStructure(store)).toEqual({});
      await expect(revert(store, [posts], { root, to: '0009_x' })).rejects.toMatchObject({
        code: 'MIGRATION_UNKNOWN',
      });
    });

    test('gives a ledger of the first release what it lacks', async () => {
      const { store } = database;
      await migrate(store, [posts, rating]);
      for (const column of ['undo', 'steps'])
        await sql`alter table ${sql.table(LEDGER)} drop column ${sql.ref(column)}`.execute(
          store.db,
        );
      expect(await migrationStatus(store, [posts])).toMatchObject({
        oneWay: ['0001_posts', '0002_rating'],
      });
      expect(await migrate(store, [posts, rating])).toEqual([]);
      expect(await migrationStatus(store, [posts, rating])).toMatchObject({
        applied: ['0001_posts', '0002_rating'],
        oneWay: [],
      });
      await migrate(store, [posts], follow());
      expect(await migrationStatus(store, [posts])).toMatchObject({
        applied: ['0001_posts'],
        missing: [],
      });
    });

    test('of everything makes the tables anew, and leaves those of others alone', async () => {
      const { store } = database;
      await migrate(store, [posts, rating]);
      await sql`create table theirs (id integer primary key)`.execute(store.db);
      await insert('posts', { title: 'one', rating: 1 });
      const files: string[] = [];
      const note = (_done: string, path: string) => void files.push(path);
      expect(await reset(store, [[posts, tags]], { root, note })).toEqual([
        '0001_posts',
        '0002_tags',
      ]);
      expect(files).toHaveLength(1);
      expect(readFileSync(join(root, files[0]!), 'utf8')).toContain('"one"');
      expect(Object.keys(await readStructure(store)).sort()).toEqual(['posts', 'tags', 'theirs']);
      expect(await store.db.selectFrom('posts').selectAll().execute()).toEqual([]);
    });

    test('of two processes at once is made once', async () => {
      const { store } = database;
      await migrate(store, [posts, rating]);
      const both = await Promise.all([
        migrate(store, [posts, tags], follow()),
        migrate(store, [posts, tags], follow()),
      ]);
      expect(both.flat()).toEqual(['0002_tags']);
    });

    test('runs no text of the ledger that is not a list of statements', async () => {
      const { store } = database;
      await migrate(store, [posts, tags]);
      await store.db.updateTable(LEDGER).set({ undo: 'process.exit(1)' }).execute();
      await expect(migrate(store, [posts], follow())).rejects.toMatchObject({
        code: 'MIGRATION_MISSING',
      });
      expect(await columnNames(store.db)).toEqual(['id', 'name']);
    });
  });
}

async function columnNames(db: Kysely<any>): Promise<string[]> {
  const tables = await db.introspection.getTables();
  return tables.find(({ name }) => name === 'tags')!.columns.map(({ name }) => name);
}
