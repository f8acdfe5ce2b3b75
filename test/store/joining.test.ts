import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresStore } from '../../runtime/core/store/postgres/postgres-store.ts';
import { sqliteStore } from '../../runtime/core/store/sqlite/sqlite-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { databases, type TestDatabase } from './databases.ts';

describe.each(databases)('code that is part of a transaction on $name', ({ missing, create }) => {
  let database: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    if (missing) return;
    database = await create();
    store = database.store;
    await store.query('create table notes (id integer primary key, text varchar(9) not null)', []);
  });
  afterEach(() => database?.drop());

  const insert = (id: number) =>
    store.dialect === 'sqlite'
      ? store.query('insert into notes values (?, ?)', [id, `n${id}`])
      : store.query('insert into notes values ($1, $2)', [id, `n${id}`]);
  const add = (id: number, db = store.db) =>
    db
      .insertInto('notes')
      .values({ id, text: `n${id}` })
      .execute();
  const ids = async () =>
    (await store.db.selectFrom('notes').select('id').orderBy('id').execute()).map(({ id }) => id);
  const fail = (): never => {
    throw new RangeError('mine');
  };

  it.skipIf(missing)('writes and reads through every handle of the store', async () => {
    await store.db.transaction().execute(async (trx) => {
      await add(1, trx);
      await add(2);
      await insert(3);
      await store.transact(async (query) => void (await query(...insertText(4))));
      await store.transaction(async (inner) => void (await add(5, inner)));
      expect(await ids()).toEqual([1, 2, 3, 4, 5]);
      expect(await store.query('select count(id) as n from notes', [])).toEqual([{ n: 5 }]);
      expect(count()).toEqual(store.valueNow ? 5 : null);
    });
    expect(await ids()).toEqual([1, 2, 3, 4, 5]);
  });

  it.skipIf(missing)('reads one text, within the transaction and without', async () => {
    const textOf = (id: number) =>
      store.valueLater(
        `select text from notes where id = ${store.dialect === 'sqlite' ? '?' : '$1'}`,
        [id],
      );
    await store.transaction(async () => {
      await add(1);
      expect(await textOf(1)).toBe('n1');
    });
    expect(await textOf(1)).toBe('n1');
    expect(await textOf(2)).toBe(null);
    await expect(store.valueLater('select nothing from notes', [])).rejects.toThrow('nothing');
  });

  const insertText = (id: number): [string, unknown[]] =>
    store.dialect === 'sqlite'
      ? ['insert into notes values (?, ?)', [id, 'x']]
      : ['insert into notes values ($1, $2)', [id, 'x']];
  const count = () => store.valueNow?.('select count(*) from notes', []) ?? null;

  it.skipIf(missing)('is undone with it, whichever handle it took', async () => {
    const failing = store.db.transaction().execute(async () => {
      await add(1);
      await insert(2);
      await store.transact(async (query) => void (await query(...insertText(3))));
      fail();
    });
    await expect(failing).rejects.toThrow('mine');
    expect(await ids()).toEqual([]);
    await add(9);
    expect(await ids()).toEqual([9]);
  });

  it.skipIf(missing)('undoes a nested one alone when its throw is caught', async () => {
    const told: string[] = [];
    await store.transaction(async () => {
      await add(1);
      store.afterCommit(() => told.push('outer'));
      await store.db
        .transaction()
        .execute(async (trx) => {
          await add(2, trx);
          store.afterCommit(() => told.push('inner'));
          fail();
        })
        .catch(() => {});
      await store.transaction(async () => {
        await add(3);
        store.afterCommit(() => told.push('second'));
      });
      expect(told).toEqual([]);
    });
    expect(await ids()).toEqual([1, 3]);
    expect(told).toEqual(['outer', 'second']);
  });

  it.skipIf(missing)('lets nested ones that begin at the same time run in turn', async () => {
    await store.transaction(async () => {
      const nested = (id: number, ends: boolean) =>
        store.transaction(async () => {
          await add(id);
          await new Promise((resolve) => setTimeout(resolve, 5));
          if (!ends) fail();
        });
      const outcomes = await Promise.allSettled([
        nested(1, true),
        nested(2, false),
        nested(3, true),
        add(4),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
    });
    expect(await ids()).toEqual([1, 3, 4]);
  });

  it.skipIf(missing)(
    'goes on for everybody when more are open than there are connections',
    async () => {
      const both = (id: number) =>
        store.db.transaction().execute(async () => {
          await add(id);
          await insert(id + 100);
        });
      await Promise.all(Array.from({ length: 30 }, (_, index) => both(index + 1)));
      expect((await ids()).length).toBe(60);
    },
  );

  it.skipIf(missing)('cannot use it after its end', async () => {
    let later: Promise<unknown> = Promise.resolve();
    const opened = Promise.withResolvers<void>();
    await store.transaction(async () => {
      await add(1);
      later = opened.promise.then(() => add(2));
    });
    opened.resolve();
    await expect(later).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' });
    expect(await ids()).toEqual([1]);
  });

  it.skipIf(missing)('writes nothing after its end or after the database gave it up', async () => {
    const ended = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    const failing = store.transaction(async () => {
      await add(1);
      late = ended.promise.then(() => store.transaction(() => add(2)));
      late.catch(() => {});
      queueMicrotask(() => queueMicrotask(ended.resolve));
      fail();
    });
    await expect(failing).rejects.toThrow('mine');
    await expect(late).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' });
    if (store.dialect === 'sqlite') {
      const lost = store.transaction(async () => {
        await store.query('rollback', []);
        await expect(store.transaction(() => add(3))).rejects.toThrow(
          /rolled the transaction back/,
        );
        await expect(add(3)).rejects.toThrow(/rolled the transaction back/);
      });
      await expect(lost).rejects.toThrow();
    }
    await add(4);
    expect(await ids()).toEqual([4]);
  });

  it.skipIf(missing)('is rolled back when it is open for too long, and others go on', async () => {
    const impatient = open(database.url, 50);
    try {
      const failing = impatient.db.transaction().execute(async () => {
        await impatient.db.insertInto('notes').values({ id: 1, text: 'x' }).execute();
        await new Promise(() => {});
      });
      await expect(failing).rejects.toMatchObject({ code: 'TIMEOUT', status: 503 });
      await impatient.db.insertInto('notes').values({ id: 2, text: 'x' }).execute();
      expect(await ids()).toEqual([2]);
    } finally {
      await impatient.close();
    }
  });

  it.skipIf(missing)('joins through handles that are made of the first one', async () => {
    await store.db.transaction().execute(async () => {
      await add(1, store.db.withoutPlugins());
      const second = store.db.withoutPlugins().transaction();
      await second.execute(async (trx) => void (await add(2, trx)));
      await sql`insert into notes values (3, 'x')`.execute(store.db);
    });
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it.skipIf(missing)('cannot open one whose end it decides by hand', () => {
    expect(() => store.db.startTransaction()).toThrow(/use transaction\(\)/);
  });
});

const open = (url: string, timeout: number): Store =>
  url.startsWith('file:')
    ? sqliteStore(url.slice('file:'.length), { own: { timeout } })
    : postgresStore(url, { own: { timeout } });
