import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  assertConfirmed,
  guardOf,
  type Guarding,
} from '../../runtime/core/store/migrations/guard.ts';
import { LEDGER, noteProduction, readLedger } from '../../runtime/core/store/migrations/ledger.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { readStructure } from '../generator/migrations/structure.ts';
import { databases, type TestDatabase } from './databases.ts';

const root = mkdtempSync(join(tmpdir(), 'twofold-guard-'));
const guard = (url: string, more: Partial<Guarding> = {}) =>
  guardOf({ url, root, production: false, ledger: { production: false }, env: {}, ...more });

describe('a database is guarded', () => {
  test.each([
    ':memory:',
    'file:data/app.db',
    'postgres://a:b@localhost/shop',
    'postgres://a:b@127.0.0.1:5433/shop',
    'postgres://a:b@[::1]/shop',
    'postgres:///shop',
    'postgres:///shop?host=/var/run/postgresql',
    'postgres://%2Fvar%2Frun/shop',
  ])('not %s, which only its developer works with', (url) => {
    expect(guard(url).reason).toBeNull();
    expect(guard(url, { production: true }).reason).toBe('NODE_ENV is production');
    expect(guard(url, { ledger: { production: true } }).reason).toMatch(/production mode/);
  });

  test.each([
    'postgres://a:b@db.example.com/shop',
    'postgres://a:b@localhost.example.com/shop',
    'postgres://a:b@127.0.0.1.example.com/shop',
    'postgres://a:b@localhost/shop?host=db.example.com',
    'file:../app.db',
    'file:///var/lib/app.db',
  ])('%s, whichever way it is reached', (url) => {
    expect(guard(url).reason).not.toBeNull();
  });

  test('when PGHOST or a symbolic link leads elsewhere', () => {
    expect(guard('postgres:///shop', { env: { PGHOST: 'db.example.com' } }).reason).not.toBeNull();
    mkdirSync(join(root, 'own'), { recursive: true });
    symlinkSync(tmpdir(), join(root, 'elsewhere'));
    expect(guard('file:own/app.db').reason).toBeNull();
    expect(guard('file:elsewhere/app.db').reason).not.toBeNull();
    rmSync(root, { recursive: true });
  });

  test('and only its own name confirms, not another one, and not an empty one', () => {
    const guarded = guard('postgres://a:secret@db.example.com/shop');
    for (const name of [undefined, '', 'blog', 'SHOP'])
      expect(() => assertConfirmed(guarded, name, 'All rows of posts would go.')).toThrow(
        /the database shop \(db\.example\.com\/shop\) is guarded.*All rows of posts would go\.\n.*--confirm shop/s,
      );
    expect(() => assertConfirmed(guarded, 'shop', '')).not.toThrow();
    expect(() => assertConfirmed(guard('file:../a/app.db'), 'app.db', '')).not.toThrow();
  });
});

const posts: Migration = {
  name: '0001_posts',
  text: 'posts',
  up: async (db) =>
    void (await db.schema
      .createTable('posts')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('title', 'text')
      .execute()),
};

const tags: Migration = {
  name: '0002_tags',
  text: 'tags',
  up: async (db) =>
    void (await db.schema
      .createTable('tags')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .execute()),
  down: async (db) => void (await db.schema.dropTable('tags').execute()),
};

/** A statement that goes on until the process is killed. */
const ENDLESS = {
  sqlite: 'with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n',
  postgres: 'select pg_sleep(60)',
} as const;

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`a ledger on ${name}${missing ? ` (${missing})` : ''}`, () => {
    let database: TestDatabase;
    let folder: string;
    beforeEach(async () => {
      database = await create();
      folder = mkdtempSync(join(tmpdir(), 'twofold-killed-'));
    });
    afterEach(async () => {
      await database.drop();
      rmSync(folder, { recursive: true });
    });

    test('remembers production once, also the one of the first release', async () => {
      const { db } = database.store;
      await db.schema
        .createTable(LEDGER)
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('hash', 'text')
        .addColumn('applied_at', 'text')
        .execute();
      expect((await readLedger(db)).production).toBe(false);
      await Promise.all([noteProduction(db), noteProduction(db)]);
      expect(await readLedger(db)).toEqual({ applied: [], production: true });
      expect(await migrate(database.store, [posts])).toEqual(['0001_posts']);
      expect((await readLedger(db)).production).toBe(true);
    });

    test('is as it was after kill -9 in the middle of an undo, and the next run makes it', async () => {
      const { store, url } = database;
      await migrate(store, [posts, tags]);
      await store.db.insertInto('tags').values({ id: 7 }).execute();
      const before = await readStructure(store);
      const ledger = () => store.db.updateTable(LEDGER).where('name', '=', '0002_tags');
      const row = (await readLedger(store.db)).applied.find((each) => each.name === '0002_tags')!;
      const endless = [...row.undo!, { sql: ENDLESS[store.dialect] }];
      await ledger()
        .set({ undo: JSON.stringify(endless) })
        .execute();
      await killedWhileUndoing(url, folder);
      expect(await readStructure(store)).toEqual(before);
      expect(await store.db.selectFrom('tags').select('id').execute()).toEqual([{ id: 7 }]);
      await ledger()
        .set({ undo: JSON.stringify(row.undo) })
        .execute();
      const follow = { root: folder, newest: false, gone: true };
      await migrate(store, [posts], { follow });
      expect(Object.keys(await readStructure(store))).toEqual(['posts']);
      expect(readdirSync(join(folder, '.generator/rescued')).length).toBeGreaterThan(0);
    });
  });
}

/** A process that undoes what has no file, killed after it has rescued the rows. */
async function killedWhileUndoing(url: string, folder: string): Promise<void> {
  const at = (path: string) =>
    JSON.stringify(new URL(`../../runtime/${path}`, import.meta.url).href);
  const script = `
    import { openStore } from ${at('core/store/open-store.ts')};
    import { migrate } from ${at('database/migrations/migrate.ts')};
    const posts = { name: '0001_posts', text: 'posts', up: async () => {} };
    const follow = { root: ${JSON.stringify(folder)}, newest: false, gone: true };
    await migrate(openStore(${JSON.stringify(url)}, '.'), [posts], { follow });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: 'inherit',
  });
  const ended = new Promise((done) => child.once('exit', done));
  const rescued = () =>
    existsSync(join(folder, '.generator/rescued')) &&
    readdirSync(join(folder, '.generator/rescued')).length > 0;
  await expect.poll(rescued, { timeout: 30_000 }).toBe(true);
  await new Promise((done) => setTimeout(done, 200));
  child.kill('SIGKILL');
  await ended;
}
