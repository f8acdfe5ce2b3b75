import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { alterTable, type TableAlterer } from '../../runtime/core/store/tables/altering.ts';
import { columnTypes, type ColumnTypes } from '../../runtime/core/store/tables/column-types.ts';
import { convertValue } from '../../runtime/core/store/tables/conversion.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { planMigrations } from '../../runtime/database/plan/plan-migrations.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { readStructure } from '../generator/migrations/structure.ts';
import { databases } from './databases.ts';

type Name = keyof ColumnTypes;
type Alter = (table: TableAlterer, type: ColumnTypes) => TableAlterer;

/** A table `posts` with one column `value` and these values, by id from 1. */
const start = (from: Name, values: readonly unknown[]): Migration => ({
  name: '0001_init',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema.createTable('authors').addColumn('id', type.key).execute();
    await db.insertInto('authors').values({ id: 1 }).execute();
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('value', type[from])
      .addColumn('other', type.text)
      .execute();
    for (const value of values) await db.insertInto('posts').values({ value }).execute();
  },
});

const change = (alter: Alter, allowLoss?: readonly string[]): Migration => ({
  name: '0002_change',
  ...(allowLoss && { allowLoss }),
  up: (db) => alter(alterTable(db, 'posts'), columnTypes(db)).execute(),
});

const to =
  (from: Name, into: Name, required = false): Alter =>
  (table, type) =>
    table.alterColumn('value', { from: type[from], to: type[into] }, (column) =>
      required ? column.notNull() : column,
    );

interface Refused {
  readonly what: string;
  readonly from: Name;
  readonly values: readonly unknown[];
  readonly alter: Alter;
  readonly code?: string;
  readonly keys: readonly string[];
  /** Values with which it runs. */
  readonly mended: readonly unknown[];
}

const oneOf = (...values: string[]) =>
  sql<boolean>`"value" in (${sql.join(values.map((value) => sql.lit(value)))})`;
const atMost = (most: number) => sql<boolean>`"value" <= ${sql.lit(most)}`;

const IMPOSSIBLE = 'ROWS_IN_THE_WAY';
const LOSSY = 'MIGRATION_NEEDS_CONSENT';

/** Each line of the table of verdicts, with rows at risk. */
const REFUSED: readonly Refused[] = [
  {
    what: 'unique, over repeated values',
    from: 'text',
    values: ['a', 'b', 'a', null, 'a', null],
    alter: (table, type) => table.alterColumn('value', type.text, (column) => column.unique()),
    keys: ['3', '5'],
    mended: ['a', 'b', 'c', null, 'd', null],
  },
  {
    what: 'required, over nulls',
    from: 'text',
    values: ['a', null, null],
    alter: (table, type) => table.alterColumn('value', type.text, (column) => column.notNull()),
    keys: ['2', '3'],
    mended: ['a', 'b', 'c'],
  },
  {
    what: 'a new required field without a default',
    from: 'text',
    values: ['a', 'b'],
    alter: (table, type) => table.addColumn('rank', type.integer, (column) => column.notNull()),
    keys: ['1', '2'],
    mended: [],
  },
  {
    what: 'a new unique field with a default',
    from: 'text',
    values: ['a', 'b', 'c'],
    alter: (table, type) =>
      table.addColumn('rank', type.integer, (column) => column.unique().defaultTo(7)),
    keys: ['2', '3'],
    mended: ['a'],
  },
  {
    what: 'a value of an enum that is gone',
    from: 'text',
    values: ['OPEN', 'LATE', 'OPEN'],
    alter: (table, type) =>
      table.alterColumn('value', type.text, (column) => column.check(oneOf('OPEN', 'CLOSED'))),
    keys: ['2'],
    mended: ['OPEN', 'CLOSED', null],
  },
  {
    what: 'a constraint over converted values',
    from: 'text',
    values: ['5', '11', '7'],
    alter: (table, type) =>
      table.alterColumn('value', { from: type.text, to: type.integer }, (column) =>
        column.check(atMost(10)),
      ),
    keys: ['2'],
    mended: ['5', '7', '10'],
  },
  {
    what: 'Float to Int',
    from: 'real',
    values: [1, 2.5, -3.5, null, 4],
    alter: to('real', 'integer'),
    code: LOSSY,
    keys: ['2', '3'],
    mended: [1, 2, 3, null, 4],
  },
  {
    what: 'Decimal to Int',
    from: 'decimal',
    values: ['1.00', '2.50'],
    alter: to('decimal', 'integer'),
    code: LOSSY,
    keys: ['2'],
    mended: ['1.00', '3'],
  },
  {
    what: 'DateTime to Date',
    from: 'timestamp',
    values: ['2026-01-02T00:00:00.000Z', '2026-01-02T03:00:00.000Z'],
    alter: to('timestamp', 'date'),
    code: LOSSY,
    keys: ['2'],
    mended: ['2026-01-02T00:00:00.000Z'],
  },
  ...(
    [
      ['integer', ['7', '7.5', ' 8', 'x', '2147483648'], ['2', '3', '4', '5'], ['7', '-12']],
      ['real', ['7.5', '1e3', 'x', 'NaN'], ['3', '4'], ['7.5', '1e3']],
      ['decimal', ['7.50', '1e3', ''], ['2', '3'], ['7.50', '007']],
      ['boolean', ['true', 'yes', 'false'], ['2'], ['true', 'false']],
      ['timestamp', ['2026-01-02T03:04:05+01:00', '2026-01-02'], ['2'], ['2026-01-02T03:04:05Z']],
      ['date', ['2026-02-28', '2026-02-30'], ['2'], ['2026-02-28']],
      [
        'uuid',
        ['0189abcd-0000-7000-8000-00000000000A', 'x'],
        ['2'],
        ['0189abcd-0000-7000-8000-00000000000A'],
      ],
    ] as const
  ).map(([into, values, keys, mended]): Refused => ({
    what: `String to ${into}`,
    from: 'text',
    values,
    alter: to('text', into),
    keys,
    mended,
  })),
  {
    what: 'BigInt to Int',
    from: 'bigint',
    values: [5, 9007199254740991, 2147483648],
    alter: to('bigint', 'integer'),
    keys: ['2', '3'],
    mended: [5],
  },
  {
    what: 'Json to String, which keeps nothing',
    from: 'json',
    values: ['{"a":1}', null],
    alter: to('json', 'text'),
    keys: ['1'],
    mended: [null],
  },
  {
    what: 'a relation that leads nowhere',
    from: 'integer',
    values: [1, 99, null],
    alter: (table, type) =>
      table.alterColumn('value', { from: type.integer, to: type.id }, (column) =>
        column.references('authors.id'),
      ),
    keys: ['2'],
    mended: [1, null],
  },
];

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `rows in the way of a migration on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      const withStore = async (work: (store: Store) => Promise<void>) => {
        const { store, drop } = await create();
        await work(store).finally(drop);
      };
      const everything = async (store: Store) => [
        await readStructure(store),
        await store.db.selectFrom('posts').selectAll().orderBy('id').execute(),
        await store.db.selectFrom('twofold_migrations').select('name').execute(),
      ];

      test.each(REFUSED)(
        'are counted and named, and nothing is changed: $what',
        ({ from, values, alter, code = IMPOSSIBLE, keys, mended }) =>
          withStore(async (store) => {
            const init = start(from, values);
            await migrate(store, [init]);
            const before = await everything(store);
            const planned = async () =>
              (await planMigrations(store, [[init, change(alter)]], { onlineFrom: 10_000 }))
                .flatMap(({ steps }) => steps)
                .filter(({ verdict }) => verdict !== 'safe');
            expect(await planned()).toMatchObject([
              {
                step: expect.any(Number),
                verdict: code === LOSSY ? 'lossy' : 'impossible',
                rows: values.length,
                atRisk: keys.length,
                keys,
                fix: expect.stringMatching(/./),
              },
            ]);
            const refused = {
              code,
              extensions: {
                migration: '0002_change',
                step: 1,
                rows: values.length,
                atRisk: keys.length,
                keys,
              },
            };
            await expect(
              migrate(store, [init, change(alter)], { keep: false }),
            ).rejects.toMatchObject(refused);
            await expect(migrate(store, [init, change(alter)])).rejects.toMatchObject(refused);
            expect(await everything(store)).toEqual(before);
            await store.db.deleteFrom('posts').execute();
            for (const value of mended)
              await store.db.insertInto('posts').values({ value }).execute();
            expect(await planned()).toEqual([]);
            expect(await migrate(store, [init, change(alter)])).toEqual(['0002_change']);
          }),
      );

      test('of a lossy step run with consent, rounded half away from zero, and no Int answers 7.5', () =>
        withStore(async (store) => {
          const init = start('real', [7.5, -7.5, 0.49999999999999994, 3, null]);
          await migrate(store, [init, change(to('real', 'integer'), ['posts.value'])]);
          const rows = await store.db.selectFrom('posts').select('value').orderBy('id').execute();
          expect(rows.map(({ value }) => value)).toEqual([8, -8, 0, 3, null]);
        }));

      test('are all told at once, and those of a unique index too', () =>
        withStore(async (store) => {
          const init = start('text', ['a', 'a', 'b']);
          await migrate(store, [init]);
          const before = await everything(store);
          const both: Migration = {
            name: '0002_both',
            up: async (db) => {
              const type = columnTypes(db);
              await alterTable(db, 'posts')
                .alterColumn('value', type.text, (column) => column.unique())
                .alterColumn('other', type.text, (column) => column.notNull())
                .execute();
            },
          };
          await expect(migrate(store, [init, both])).rejects.toMatchObject({
            extensions: {
              found: [
                { object: 'posts.value', atRisk: 1 },
                { object: 'posts.other', atRisk: 3 },
              ],
            },
          });
          const index: Migration = {
            name: '0002_index',
            up: async (db) => {
              await db.updateTable('posts').set({ other: 'x' }).execute();
              await db.schema
                .createIndex('posts_both')
                .on('posts')
                .columns(['value', 'other'])
                .unique()
                .execute();
            },
          };
          await expect(migrate(store, [init, index])).rejects.toMatchObject({
            code: IMPOSSIBLE,
            extensions: { step: 2, object: 'posts.value, other', atRisk: 1, keys: ['2'] },
          });
          expect(await everything(store)).toEqual(before);
        }));

      test('are no longer in the way when an earlier pending migration mends them', () =>
        withStore(async (store) => {
          const init = start('text', ['a', null]);
          const fill: Migration = {
            name: '0001_more',
            up: async (db) => {
              await db
                .updateTable('posts')
                .set({ value: 'b' })
                .where('value', 'is', null)
                .execute();
            },
          };
          const require = change((table, type) =>
            table.alterColumn('value', type.text, (column) => column.notNull()),
          );
          expect(await migrate(store, [init, fill, require])).toHaveLength(3);
        }));

      test('a failure names migration, step, object and cause, and takes back the migrations before it', () =>
        withStore(async (store) => {
          const init = start('text', ['a']);
          const broken: Migration = {
            name: '0002_broken',
            up: async (db) => {
              await db.schema.createTable('fine').addColumn('id', 'integer').execute();
              await db.schema.createTable('authors').addColumn('id', 'integer').execute();
            },
          };
          await expect(migrate(store, [init, broken])).rejects.toMatchObject({
            code: 'MIGRATION_FAILED',
            message: expect.stringMatching(
              /0002_broken, step 2 \(authors\) failed: .*already exists[^]*as it was/,
            ),
            extensions: { migration: '0002_broken', step: 2, object: 'authors' },
            cause: expect.any(Error),
          });
          expect(await readStructure(store)).toEqual({});
        }));

      const NOTHING_THERE: readonly (readonly [string, Alter])[] = [
        ['a changed column', (table, type) => table.alterColumn('absent', type.text)],
        ['a dropped column', (table) => table.dropColumn('absent')],
        ['a dropped foreign key', (table) => table.dropForeignKey(['absent', 'other'])],
        [
          'a foreign key of columns that have none',
          (table) => table.dropForeignKey(['id', 'value']),
        ],
        [
          'one after a change that is possible',
          (table, type) => table.addColumn('fresh', type.text).dropColumn('absent'),
        ],
      ];
      test.each(NOTHING_THERE)('a step that finds nothing to change fails: %s', (_what, alter) =>
        withStore(async (store) => {
          const init = start('text', ['a']);
          await migrate(store, [init]);
          const before = await readStructure(store);
          await expect(migrate(store, [init, change(alter)])).rejects.toMatchObject({
            code: 'MIGRATION_FAILED',
            message: expect.stringMatching(
              /0002_change, step 1 \(posts.*there is no (column|foreign key)/,
            ),
          });
          expect(await readStructure(store)).toEqual(before);
          const { rows } = await sql`select name from twofold_migrations`.execute(store.db);
          expect(rows).toEqual([{ name: '0001_init' }]);
        }),
      );

      test('a failure before the first migration names the ledger', () =>
        withStore(async (store) => {
          await sql`create view twofold_migrations as select 1 as name`.execute(store.db);
          const failure = await migrate(store, [start('text', [])]).catch((error: Error) => error);
          expect(String(failure)).not.toMatch(/migration ,|step 0/);
        }));

      test.each(['id', 'timestamp', 'decimal', 'uuid', 'date'] as const)(
        'whose column only has to have a value keep its type: %s',
        (name) =>
          withStore(async (store) => {
            const init = start(name, []);
            await migrate(store, [init]);
            const require: Alter = (table, type) =>
              table.alterColumn('value', type[name], (column) => column.notNull());
            const [plan] = await planMigrations(store, [[init, change(require)]], {
              onlineFrom: 10_000,
            });
            expect(plan!.steps.map(({ does }) => does)).toEqual(['require']);
          }),
      );

      test('are never cut to a length, and rounded to fewer places only with consent', () =>
        withStore(async (store) => {
          if (store.dialect === 'sqlite') return;
          await migrate(store, [start('text', ['1.25', '12.5', 'abcdef'])]);
          const into = (type: Parameters<TableAlterer['alterColumn']>[1], allowLoss?: string[]) =>
            change((table) => table.alterColumn('value', type), allowLoss);
          const run = (...more: Migration[]) => migrate(store, [start('text', []), ...more]);
          await expect(run(into('varchar(4)'))).rejects.toMatchObject({
            code: IMPOSSIBLE,
            extensions: { atRisk: 1, keys: ['3'] },
          });
          await store.db.deleteFrom('posts').where('id', '=', 3).execute();
          await run(into('varchar(4)'));
          const numeric = (size: string, allowLoss?: string[]): Migration => ({
            ...into(sql.raw(`numeric(${size})`), allowLoss),
            name: '0003_numeric',
          });
          await expect(run(into('varchar(4)'), numeric('2,1'))).rejects.toMatchObject({
            code: IMPOSSIBLE,
            extensions: { keys: ['2'] },
          });
          await expect(run(into('varchar(4)'), numeric('3,1'))).rejects.toMatchObject({
            code: LOSSY,
            extensions: { keys: ['1'] },
          });
          await run(into('varchar(4)'), numeric('3,1', ['posts.value']));
          const { rows } = await sql<{
            value: string;
          }>`select value from posts order by id`.execute(store.db);
          expect(rows.map(({ value }) => value)).toEqual(['1.3', '12.5']);
        }));

      test('every value that a conversion takes is the same as convertValue says', () =>
        withStore(async (store) => {
          for (const [from, into, values] of SAMPLES) {
            const init = { ...start(from, values), name: `0001_${from}_${into}` };
            await store.structuralTransaction(async (trx) => {
              await init.up(trx, store);
              await alterTable(trx, 'posts')
                .alterColumn('value', {
                  from: columnTypes(trx)[from],
                  to: columnTypes(trx)[into],
                })
                .execute();
            });
            const { rows } = await sql<{ value: unknown }>`
              select ${into === 'bigint' ? sql`cast(value as text)` : sql.ref('value')} as value from posts order by id`.execute(
              store.db,
            );
            const expected = values.map((value) => {
              const converted = convertValue(from as 'text', into as 'text', value)!.value;
              return into === 'boolean' ? converted === 1 : converted;
            });
            expect([from, into, rows.map(({ value }) => String(value))]).toEqual([
              from,
              into,
              expected.map(String),
            ]);
            for (const table of ['posts', 'authors'])
              await store.db.schema.dropTable(table).execute();
          }
        }));
    },
  );
}

const SAMPLES: readonly (readonly [Name, Name, readonly unknown[]])[] = [
  ['integer', 'text', [0, -7, 2147483647]],
  ['integer', 'decimal', [0, -7]],
  ['integer', 'real', [3, -3]],
  ['integer', 'bigint', [3]],
  ['bigint', 'text', ['9223372036854775807', -5]],
  ['real', 'text', [2.5, 0.1, 0.30000000000000004, 1e21, 1e-7, -3]],
  ['real', 'decimal', [2.5, 0.1, 0.30000000000000004, 1e21, 1e-7]],
  ['decimal', 'text', ['2.50', '-0.10']],
  ['decimal', 'real', ['2.50', '0.1']],
  ['text', 'decimal', ['007.50', '-3', '+2.0']],
  ['text', 'real', ['2.5', '1e3']],
  ['text', 'bigint', ['9223372036854775807', '-1']],
  ['text', 'time', ['10:00', '10:00:01', '23:59:59.5']],
  ['text', 'timestamp', ['2026-01-02T03:04:05+01:00', '2026-01-02T03:04:05.120Z']],
  ['text', 'uuid', ['0189ABCD-0000-7000-8000-00000000000A']],
  ['text', 'boolean', ['true', 'false']],
  ['date', 'timestamp', ['2026-01-02']],
  ['date', 'text', ['2026-01-02']],
  ['timestamp', 'text', ['2026-01-02T03:04:05.120Z']],
  ['timestamp', 'date', ['2026-01-02T00:00:00.000Z']],
  ['time', 'text', ['10:00:00']],
  ['uuid', 'text', ['0189abcd-0000-7000-8000-00000000000a']],
];
