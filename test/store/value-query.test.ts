import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, type TestDatabase } from './databases.ts';

const BOUNDS = {
  asker: { cancelled: false },
  sent: false,
  limits: { time: 10_000, result: 1_000_000, memory: 10_000_000 },
};
const found = databases.find(({ name }) => name === 'PostgreSQL');
if (found?.missing) process.stderr.write(`${found.missing}\n`);

describe.skipIf(found?.missing)('one text from PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await (found as NonNullable<typeof found>).create();
  });
  afterAll(async () => database.drop());

  const text = async (sql: string, values: readonly unknown[] = []) =>
    database.store.answer({ text: sql }, values, BOUNDS) as Promise<string | null>;

  it('is the first column of the first row as the database writes it, or null', async () => {
    expect(await text('select 5::bigint, 6 union all select 7, 8 order by 1')).toBe('5');
    expect(await text(`select json_build_object('a', 1)`)).toBe('{"a" : 1}');
    expect(await text('select null::text')).toBeNull();
    expect(await text('select 1 where false')).toBeNull();
  });

  it('takes the values that a query takes, the first time and under a name', async () => {
    const sql = `select row_to_json(t)::text from (select $1::bigint a, $2::text b, $3::boolean c, $4::bytea d, $5::bigint[] e, $6::text f) t`;
    for (const round of [1, 2, 3]) {
      const row = JSON.parse(
        (await text(sql, [round, 'ü"', true, Buffer.from('00ff', 'hex'), [1, 2], null])) as string,
      );
      expect(row).toEqual({ a: round, b: 'ü"', c: true, d: '\\x00ff', e: [1, 2], f: null });
    }
  });

  it('fails with what the database says, and the connection is as good as before', async () => {
    const before = await text('select pg_backend_pid()');
    for (let round = 0; round < 5; round += 1)
      await expect(text('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
    await expect(text('select nothing')).rejects.toMatchObject({ code: '42703' });
    expect(await text('select pg_backend_pid()')).toBe(before);
    expect(await text('select 10 / $1::int', [5])).toBe('2');
  });

  it('keeps each answer with its question when many are asked at once', async () => {
    const asked = Array.from({ length: 200 }, (_, index) => index);
    const answers = await Promise.all(
      asked.map((index) =>
        index % 7 === 3
          ? text('select 1 / 0').catch(() => 'failed')
          : text('select $1::text', [index]),
      ),
    );
    expect(answers).toEqual(asked.map((index) => (index % 7 === 3 ? 'failed' : String(index))));
  });

  it('is planned anew when a migration changes what the statement returns', async () => {
    const { store } = database;
    await store.query('create table things (id bigint)', []);
    await store.query('insert into things values (1)', []);
    const sql = 'select things from things';
    for (const _ of [1, 2, 3]) expect(await text(sql)).toBe('(1)');
    await store.query(`alter table things add column name text default 'a'`, []);
    expect(await text(sql)).toBe('(1,a)');
    const row = `select * from things`;
    for (const _ of [1, 2, 3]) expect(await text(row)).toBe('1');
    await store.query('alter table things alter column id type text', []);
    expect(await text(row)).toBe('1');
  });

  it('fails when the connection is cut, and the next one works', async () => {
    await expect(text('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
    expect(await text('select 1')).toBe('1');
  });
});
