import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadMigrations } from '../../runtime/database/migrations/load-migrations.ts';
import { migrate, migrationStatus, revert } from '../../runtime/database/migrations/migrate.ts';
import { databases, type TestDatabase } from './databases.ts';

const NOTES = `export const ids = 'uuid';
export const steps = [
  {
    kind: 'createTable',
    table: {
      name: 'notes',
      columns: [
        { name: 'id', type: 'id', required: true, unique: false },
        { name: 'text', type: 'text', required: true, unique: true },
      ],
      primaryKey: ['id'],
      indexes: [],
    },
  },
];
`;

const FILLED = `export const steps = [
  {
    kind: 'alterTable',
    table: 'notes',
    changes: [{ kind: 'add', column: { name: 'length', type: 'integer', required: false, unique: false } }],
  },
];

export async function up(db) {
  await db.updateTable('notes').set({ length: 3 }).execute();
}
`;

const BACK = `
export async function down(db) {
  await db.updateTable('notes').set({ text: 'was 3' }).where('length', '=', 3).execute();
}
`;

for (const { name, missing, create } of databases)
  describe.skipIf(missing !== null)(`the steps of a file on ${name}`, () => {
    let database: TestDatabase;
    let folder: string;
    const write = (file: string, text: string) => writeFileSync(join(folder, `${file}.ts`), text);
    const load = () => loadMigrations(pathToFileURL(`${folder}/`));
    beforeAll(async () => {
      database = await create();
      folder = mkdtempSync(join(tmpdir(), 'twofold-steps-'));
    });
    afterAll(async () => {
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    test('run before its code, and are undone after it', async () => {
      const { store } = database;
      write('0001_notes', NOTES);
      await migrate(store, await load());
      const id = '0190a0b0-0000-7000-8000-000000000001';
      await store.db.insertInto('notes').values({ id, text: 'one' }).execute();
      write('0002_filled', FILLED + BACK);
      await migrate(store, await load());
      expect(await store.db.selectFrom('notes').selectAll().execute()).toEqual([
        { id, text: 'one', length: 3 },
      ]);
      await revert(store, await load(), { root: folder });
      expect(await store.db.selectFrom('notes').selectAll().execute()).toEqual([
        { id, text: 'was 3' },
      ]);
      expect((await migrationStatus(store, await load())).pending).toEqual(['0002_filled']);
    });

    test('with code that has no down cannot be undone', async () => {
      write('0002_filled', FILLED);
      expect((await load()).map(({ down }) => typeof down)).toEqual(['function', 'undefined']);
    });

    test('of a kind that does not exist are refused by their name', async () => {
      write('0002_filled', "export const steps = [{ kind: 'dropView', table: 'a' }];\n");
      await expect(load()).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        message: expect.stringContaining('steps[0].kind is "dropView": it is one of'),
      });
      write('0002_filled', 'export const stepes = [];\n');
      await expect(load()).rejects.toThrow('it exports neither steps nor a function up');
    });
  });
