import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';

const databases = [
  'memory',
  'file',
  ...(postgresUrl || process.env['CI'] ? ['postgres'] : []),
] as const;

describe.each(databases)('transact on %s', (kind) => {
  const undo: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });

  async function open(): Promise<{ store: Store; add: string }> {
    const store = openStore(await address(), '/');
    undo.push(() => store.close());
    await store.query('create table notes (id integer primary key, text varchar(9) not null)', []);
    return {
      store,
      add:
        store.dialect === 'sqlite'
          ? 'insert into notes values (?, ?)'
          : 'insert into notes values ($1, $2)',
    };
  }

  async function address(): Promise<string> {
    if (kind === 'memory') return ':memory:';
    if (kind === 'postgres') {
      const database = await createDatabase();
      undo.push(database.drop);
      return database.url;
    }
    const folder = mkdtempSync(join(tmpdir(), 'twofold-transact-'));
    undo.push(() => rmSync(folder, { recursive: true }));
    return `file:${join(folder, 'app.db')}`;
  }

  const count = async (store: Store) =>
    Number((await store.query<{ n: number }>('select count(id) as n from notes', []))[0]?.n);

  it('keeps everything or nothing', async () => {
    const { store, add } = await open();
    await store.transact(async (query) => void (await query(add, [1, 'one'])));
    const failing = store.transact(async (query) => {
      await query(add, [2, 'two']);
      await query(add, [2, 'again']);
    });
    await expect(failing).rejects.toThrow(/unique/i);
    await expect(
      store.transact(
        async (query) =>
          void (await query(add, [3, 'x']), await Promise.reject(new TypeError('mine'))),
      ),
    ).rejects.toThrow('mine');
    expect(await count(store)).toBe(1);
    await store.transact(async (query) => void (await query(add, [4, 'four'])));
    expect(await count(store)).toBe(2);
  });

  it('is not needed for one statement, which commits by itself or not at all', async () => {
    const { store, add } = await open();
    await store.writeOne?.(add, [1, 'one']);
    expect(await count(store)).toBe(1);
    await expect((async () => store.writeOne?.(add, [1, 'again']))()).rejects.toThrow(/unique/i);
    await store.transaction(async () => {
      expect(store.writeOne?.(add, [2, 'two'])).toBeUndefined();
    });
    expect(await count(store)).toBe(1);
  });

  it('keeps those that run at the same time apart, and apart from the query builder', async () => {
    const { store, add } = await open();
    const one = (id: number) =>
      store.transact(
        async (query) => (await query(add, [id, 'x']), await new Promise(setImmediate), id),
      );
    const built = store.transaction(
      async (trx) => void (await trx.insertInto('notes').values({ id: 100, text: 'x' }).execute()),
    );
    await Promise.all([...Array.from({ length: 20 }, (_, index) => one(index)), built]);
    expect(await count(store)).toBe(21);
  });
});
