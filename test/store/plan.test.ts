import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { alterTable } from '../../runtime/core/store/tables/altering.ts';
import { columnTypes } from '../../runtime/core/store/tables/column-types.ts';
import { createFoldedIndex } from '../../runtime/core/store/tables/altering.ts';
import { migrate, migrationStatus } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { pendingSql } from '../../runtime/database/plan/pending-sql.ts';
import { planMigrations } from '../../runtime/database/plan/plan-migrations.ts';
import type { PlanStep } from '../../runtime/database/plan/plan-step.ts';
import { readStructure } from '../generator/migrations/structure.ts';
import { databases, type TestDatabase } from './databases.ts';

const init: Migration = {
  name: '0001_init',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema
      .createTable('authors')
      .addColumn('id', type.key)
      .addColumn('email', type.text)
      .execute();
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('title', type.text)
      .addColumn('rating', type.real)
      .addColumn('author_id', type.id, (column) => column.references('authors.id'))
      .execute();
    await db
      .insertInto('authors')
      .values([{ email: 'a@x' }, { email: 'A@x' }, { email: 'b@x' }])
      .execute();
    await db
      .insertInto('posts')
      .values([
        { title: 'a', rating: 7.5, author_id: 1 },
        { title: 'a', rating: 3, author_id: 2 },
        { title: null, rating: null, author_id: null },
      ])
      .execute();
  },
};

type Up = (db: Kysely<any>) => Promise<void>;

/** Works as a role that may read tables and create nothing, as somebody whom an administrator serves. */
async function asReader<T>(
  { url, store }: TestDatabase,
  work: (of: Store) => Promise<T>,
): Promise<T> {
  const role = `reader_${randomBytes(6).toString('hex')}`;
  await sql.raw(`create role ${role} login password 'reader'`).execute(store.db);
  await sql.raw(`grant select on all tables in schema public to ${role}`).execute(store.db);
  const address = Object.assign(new URL(url), { username: role, password: 'reader' });
  const limited = openStore(address.href, '.');
  try {
    return await work(limited);
  } finally {
    await limited.close();
    await sql.raw(`drop owned by ${role}`).execute(store.db);
    await sql.raw(`drop role ${role}`).execute(store.db);
  }
}

/** Runs a script over a connection of its own. */
async function runText({ url }: TestDatabase, text: string): Promise<void> {
  if (url.startsWith('file:')) {
    const file = new DatabaseSync(url.slice('file:'.length));
    file.exec(text);
    return file.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `the plan of pending migrations on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      let database: TestDatabase;
      beforeAll(async () => {
        database = await create();
        await migrate(database.store, [init]);
      });
      afterAll(() => database.drop());

      const planOf = async (...ups: Up[]) => {
        const pending = ups.map((up, at): Migration => ({ name: `000${at + 2}_next`, up }));
        const before = await readStructure(database.store);
        const plans = await planMigrations(database.store, [[init, ...pending]], {
          onlineFrom: 10_000,
        });
        expect(await readStructure(database.store)).toEqual(before);
        return plans.flatMap(({ steps }) => steps);
      };
      const short = (steps: readonly PlanStep[]) =>
        steps.map(({ does, object, verdict, atRisk, keys }) => [
          does,
          object,
          verdict,
          atRisk,
          keys.join(),
        ]);

      test('a database without a ledger is planned and stays without one', async () => {
        const empty = await create();
        try {
          const [plan] = await planMigrations(empty.store, [[init]], { onlineFrom: 10_000 });
          expect(plan!.steps.map(({ does, object }) => [does, object])).toEqual([
            ['create', 'authors'],
            ['create', 'posts'],
            ['unknown', 'authors'],
            ['unknown', 'posts'],
          ]);
          expect(await readStructure(empty.store)).toEqual({});
          expect(await empty.store.db.introspection.getTables()).toEqual([]);
        } finally {
          await empty.drop();
        }
      });

      test('follows renames, new columns and conversions of earlier steps', async () => {
        const steps = await planOf(
          async (db) => {
            await db.schema.alterTable('posts').renameTo('articles').execute();
            await db.schema.alterTable('articles').renameColumn('rating', 'stars').execute();
            const type = columnTypes(db);
            await alterTable(db, 'articles')
              .addColumn('rank', type.integer, (column) => column.defaultTo(1))
              .alterColumn('stars', { from: type.real, to: type.integer })
              .execute();
          },
          async (db) => {
            const type = columnTypes(db);
            await alterTable(db, 'articles')
              .alterColumn('rank', type.integer, (column) => column.unique())
              .alterColumn('stars', type.integer, (column) =>
                column.check(sql`"stars" <= ${sql.lit(7)}`),
              )
              .execute();
          },
        );
        expect(short(steps)).toEqual([
          ['rename', 'posts', 'safe', 0, ''],
          ['rename', 'articles.rating', 'safe', 0, ''],
          ['add', 'articles.rank', 'safe', 0, ''],
          ['type', 'articles.stars', 'lossy', 1, '1'],
          ['unique', 'articles.rank', 'impossible', 2, '2,3'],
          ['check', 'articles.stars', 'impossible', 1, '1'],
        ]);
      });

      test('counts what a drop loses, and the rows that a unique index over several columns meets', async () => {
        const steps = await planOf(async (db) => {
          await db.schema
            .createIndex('posts_both')
            .on('posts')
            .columns(['title', 'rating'])
            .unique()
            .execute();
          await createFoldedIndex(db, {
            name: 'authors_email',
            table: 'authors',
            column: 'email',
            fold: 'letters',
          });
          await alterTable(db, 'posts').dropColumn('title').execute();
          await db.schema.dropTable('posts').execute();
        });
        expect(short(steps)).toEqual([
          ['unique', 'posts (title, rating)', 'safe', 0, ''],
          ['unique', 'authors.email', 'impossible', 1, '2'],
          ['drop', 'posts.title', 'allowed', 2, '1,2'],
          ['drop', 'posts', 'allowed', 3, '1,2,3'],
        ]);
        expect(steps.map(({ compatible }) => compatible)).toEqual([true, true, false, false]);
        expect(steps[2]!.fix).toMatch(/release 1: .*; release 2: /);
      });

      test('a statement that cannot be read is unknown, and so are checks of rows that it may change', async () => {
        const steps = await planOf(
          async (db) => {
            await sql`update posts set title = 'x' where title is null`.execute(db);
            await alterTable(db, 'posts')
              .alterColumn('title', columnTypes(db).text, (column) => column.notNull())
              .execute();
          },
          async (db) => {
            const rows = await db.selectFrom('authors').selectAll().execute();
            for (const row of rows)
              await db.deleteFrom('authors').where('id', '=', row.id).execute();
          },
        );
        expect(short(steps)).toEqual([
          ['unknown', '', 'unknown', 0, ''],
          ['require', 'posts.title', 'unknown', 1, '3'],
          ['unknown', '', 'unknown', 0, ''],
        ]);
      });

      test('shows values at risk only when they are asked for', async () => {
        const next: Migration = {
          name: '0002_next',
          up: (db) => {
            const type = columnTypes(db);
            return alterTable(db, 'posts')
              .alterColumn('rating', { from: type.real, to: type.integer })
              .execute();
          },
        };
        for (const values of [true, false]) {
          const [plan] = await planMigrations(database.store, [[init, next]], {
            onlineFrom: 10_000,
            values,
          });
          expect(plan!.steps[0]).toMatchObject({ keys: ['1'], verdict: 'lossy' });
          expect(plan!.steps[0]!.values).toEqual(values ? ['7.5'] : undefined);
        }
      });

      test('is printed as SQL that somebody else can run, with the rows of the ledger', async () => {
        const next: Migration = {
          name: '0002_next',
          text: '',
          up: async (db) => {
            const type = columnTypes(db);
            await db.schema.createTable('tags').addColumn('id', type.key).execute();
            await alterTable(db, 'posts')
              .addColumn('note', type.text, (column) => column.notNull().defaultTo("it's"))
              .alterColumn('title', type.text, (column) => column.check(sql`"title" <> 'x'`))
              .execute();
            await db.updateTable('posts').set({ title: 'b?' }).where('title', '=', 'a').execute();
          },
          down: (db) => db.schema.dropTable('tags').execute(),
        };
        const [there, fresh] = [await create(), await create()];
        try {
          const { store } = there;
          await migrate(store, [init]);
          const before = await readStructure(store);
          const text = await pendingSql(store, [[init, next]]);
          expect(await readStructure(store)).toEqual(before);
          if (store.dialect === 'postgres') {
            const timeless = (of: string) => of.replaceAll(/'\d{4}-\d\d-[^']*Z'/g, "'now'");
            const read = await asReader(there, (limited) => pendingSql(limited, [[init, next]]));
            expect(timeless(read)).toBe(timeless(text));
          }
          await runText(there, text);
          expect(await migrationStatus(store, [init, next])).toMatchObject({
            applied: ['0001_init', '0002_next'],
            pending: [],
          });
          await migrate(fresh.store, [init, next]);
          expect(await readStructure(store)).toEqual(await readStructure(fresh.store));
          expect(
            await store.db.selectFrom('posts').select(['title', 'note']).orderBy('id').execute(),
          ).toEqual([
            { title: 'b?', note: "it's" },
            { title: 'b?', note: "it's" },
            { title: null, note: "it's" },
          ]);
          expect(await pendingSql(store, [[init, next]])).toBe('');
        } finally {
          await there.drop();
          await fresh.drop();
        }
      });

      test('a value that has a new name, or is given where there was none, is no risk of later steps', async () => {
        const named = (check: string) => (db: Kysely<any>) =>
          alterTable(db, 'posts')
            .alterColumn('title', columnTypes(db).text, (column) =>
              column.notNull().check(sql.raw(check)),
            )
            .execute();
        const fill = async (db: Kysely<any>) => {
          await db.updateTable('posts').set({ title: 'b' }).where('title', '=', 'a').execute();
          await db.updateTable('posts').set({ title: 'c' }).where('title', 'is', null).execute();
        };
        const value = ['value', 'posts.title', 'safe', 0, ''];
        expect(
          short(
            await planOf(async (db) => {
              await fill(db);
              await named("title in ('b', 'c')")(db);
            }),
          ),
        ).toEqual([
          value,
          value,
          ['require', 'posts.title', 'safe', 0, ''],
          ['check', 'posts.title', 'safe', 0, ''],
        ]);
        const other = await planOf(async (db) => {
          await fill(db);
          await named("title <> 'c'")(db);
        });
        expect(short(other).at(-1)).toEqual(['check', 'posts.title', 'impossible', 1, '3']);
        const guessed = await planOf(async (db) => {
          await db.updateTable('posts').set({ title: 'b' }).where('title', '!=', 'b').execute();
          await named("title = 'b'")(db);
        });
        expect(short(guessed).map(([does, , verdict]) => [does, verdict])).toEqual([
          ['unknown', 'unknown'],
          ['require', 'unknown'],
          ['check', 'unknown'],
        ]);
      });
    },
  );
}
