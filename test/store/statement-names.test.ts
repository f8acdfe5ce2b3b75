import { describe, expect, it } from 'vitest';
import { createStatementNames } from '../../runtime/core/store/postgres/statement-names.ts';
import { databases } from './databases.ts';

describe('names of statements', () => {
  it('are given to a text that comes for the second time, the same on every connection', () => {
    const names = createStatementNames();
    const [one, two] = [{}, {}];
    expect(names.nameOn(one, 'select 1')).toBeUndefined();
    const name = names.nameOn(two, 'select 1');
    expect(name).toMatch(/^[0-9a-f]{40}$/);
    expect([names.nameOn(one, 'select 1'), names.nameOn(one, 'select 2')]).toEqual([
      name,
      undefined,
    ]);
  });

  it('are new after a rename, and none for a very long text', () => {
    const names = createStatementNames();
    const connection = {};
    names.nameOn(connection, 'select 1');
    const before = names.nameOn(connection, 'select 1');
    names.rename('select 1');
    expect(names.nameOn(connection, 'select 1')).not.toBe(before);
    const long = `select '${'x'.repeat(40_000)}'`;
    expect([names.nameOn(connection, long), names.nameOn(connection, long)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('wear a connection out', () => {
    const names = createStatementNames(3);
    const [worn, fresh] = [{}, {}];
    for (const text of ['a', 'b', 'c']) {
      names.nameOn(fresh, text);
      expect(names.isWorn(worn)).toBe(false);
      names.nameOn(worn, text);
      names.nameOn(worn, text);
    }
    expect([names.isWorn(worn), names.isWorn(fresh)]).toEqual([true, false]);
  });
});

const postgres = databases.filter(({ name, missing }) => name === 'PostgreSQL' && missing === null);

describe.each(postgres)('connections of $name', ({ create }) => {
  it(
    'never hold more than a thousand statements, whatever they are asked',
    { timeout: 120_000 },
    async () => {
      const database = await create();
      try {
        const { store } = database;
        const prepared = async () =>
          Number(
            (
              await store.query<{ n: number }>(
                'select count(*)::int as n from pg_prepared_statements',
                [],
              )
            )[0]?.n,
          );
        for (let index = 0; index < 900; index += 1)
          await store.query(`select ${index} as once`, []);
        expect(await prepared()).toBe(0);
        let most = 0;
        for (let index = 0; index < 1_300; index += 1) {
          for (let time = 0; time < 2; time += 1)
            expect(await store.query(`select ${index} as again`, [])).toEqual([{ again: index }]);
          if (index % 100 === 99) most = Math.max(most, await prepared());
        }
        expect([most > 500, most <= 1000], `most were ${most}`).toEqual([true, true]);
      } finally {
        await database.drop();
      }
    },
  );

  it('may be killed inside a transaction: it fails, and the server goes on', async () => {
    const database = await create();
    try {
      const { store } = database;
      await store.query('create table kept (id integer primary key)', []);
      const killed = store.transact(async (query) => {
        await query('insert into kept values (1)', []);
        await query('select pg_terminate_backend(pg_backend_pid())', []);
      });
      // Run again on other connections, which it ended too: nothing of it is done.
      await expect(killed).rejects.toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
        extensions: { outcome: 'none' },
      });
      expect(await store.query('select id from kept', [])).toEqual([]);
      await expect(
        store.query('select pg_terminate_backend(pg_backend_pid())', []),
      ).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE', outcome: 'unknown' });
      expect(await store.query('select 1 as one', [])).toEqual([{ one: 1 }]);
    } finally {
      await database.drop();
    }
  });

  it('stay after an error of the statement', async () => {
    const database = await create();
    try {
      const { store } = database;
      const backend = async () =>
        (await store.query<{ pid: number }>('select pg_backend_pid() as pid', []))[0]?.pid;
      const before = await backend();
      await expect(store.query('select 1 / 0', [])).rejects.toThrow('division by zero');
      expect(await backend()).toBe(before);
    } finally {
      await database.drop();
    }
  });
});
