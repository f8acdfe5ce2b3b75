import { setTimeout as wait } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { alterTable } from '../../../runtime/core/store/tables/altering.ts';
import { columnTypes } from '../../../runtime/core/store/tables/column-types.ts';
import { migrate } from '../../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../../runtime/core/store/migrations/migration.ts';
import { openStore } from '../../../runtime/core/store/open-store.ts';

/** How long writes waited during one change. */
export interface Waited {
  readonly change: string;
  /** Milliseconds of the change itself. */
  readonly online: number;
  readonly plain: number;
  /** The longest wait of a write, in milliseconds. */
  readonly onlineWait: number;
  readonly plainWait: number;
  /** Writes that were made during the online change. */
  readonly writes: number;
}

const WRITES_A_SECOND = 200;

const init: Migration = {
  name: '0001_init',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema.createTable('authors').addColumn('id', type.key).execute();
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('email', type.text)
      .addColumn('title', type.text)
      .addColumn('author', type.id)
      .addColumn('counter', type.integer)
      .execute();
  },
};

interface Change {
  readonly name: string;
  readonly up: (db: Kysely<any>) => Promise<void>;
  /** What one would write by hand. */
  readonly plain: readonly string[];
}

const CHANGES: readonly Change[] = [
  {
    name: 'unique index',
    up: (db) =>
      alterTable(db, 'posts')
        .alterColumn('email', columnTypes(db).text, (column) => column.unique())
        .execute(),
    plain: ['alter table posts add constraint posts_email_key unique (email)'],
  },
  {
    name: 'foreign key',
    up: (db) =>
      alterTable(db, 'posts')
        .alterColumn('author', columnTypes(db).id, (column) =>
          column.references('authors.id').onDelete('cascade'),
        )
        .execute(),
    plain: ['alter table posts add foreign key (author) references authors (id) on delete cascade'],
  },
  {
    name: 'NOT NULL',
    up: (db) =>
      alterTable(db, 'posts')
        .alterColumn('title', columnTypes(db).text, (column) => column.notNull())
        .execute(),
    plain: ['alter table posts alter column title set not null'],
  },
  {
    name: 'new column',
    up: async (db) => {
      const type = columnTypes(db);
      await alterTable(db, 'posts')
        .addColumn('editor', type.id, (column) => column.references('authors.id'))
        .addColumn('rank', type.integer, (column) => column.notNull().defaultTo(1))
        .execute();
      await db.schema.createIndex('posts_editor').on('posts').column('editor').execute();
    },
    plain: [
      'alter table posts add column editor bigint references authors (id), add column rank integer not null default 1',
      'create index posts_editor on posts (editor)',
    ],
  },
];

/**
 * Changes a table of so many rows online under 200 writes a second, and another one like it by the
 * plain statements, one after the other.
 */
export async function measureOnline(admin: string, rows: number): Promise<Waited[]> {
  const [online, plain] = [await database(admin, rows), await database(admin, rows)];
  const waited: Waited[] = [];
  const done: Migration[] = [init];
  for (const { name, up, plain: statements } of CHANGES) {
    done.push({ name: `000${done.length + 1}_change`, up });
    const ours = await underWrites(online.url, async () => {
      const store = openStore(online.url, '.');
      await migrate(store, done);
      await store.close();
    });
    const theirs = await underWrites(plain.url, async () => {
      const client = new pg.Client({ connectionString: plain.url });
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
    });
    waited.push({
      change: name,
      online: ours.time,
      plain: theirs.time,
      onlineWait: ours.longest,
      plainWait: theirs.longest,
      writes: ours.writes,
    });
  }
  await online.drop();
  await plain.drop();
  return waited;
}

async function database(admin: string, rows: number) {
  const name = `bench_${Date.now().toString(36)}_${Math.floor(Math.random() * 1e6)}`;
  await command(admin, `create database ${name}`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const store = openStore(url, '.');
  await migrate(store, [init]);
  await sql`insert into authors select from generate_series(1, 1000)`.execute(store.db);
  await sql`insert into posts (email, title, author, counter)
    select 'user' || n || '@example.com', 'title ' || n, 1 + n % 1000, 0 from generate_series(1, ${sql.lit(rows)}) as n`.execute(
    store.db,
  );
  await sql`vacuum analyze posts`.execute(store.db);
  await store.close();
  return { url, drop: () => command(admin, `drop database ${name} with (force)`) };
}

async function command(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** Writes at a steady rate, whether or not earlier writes are done, while `work` runs. */
async function underWrites(url: string, work: () => Promise<void>) {
  const pool = new pg.Pool({ connectionString: url, max: 50 });
  const waits: number[] = [];
  const running = new Set<Promise<unknown>>();
  const state = { on: true, number: 0 };
  const write = async (number: number) => {
    const began = performance.now();
    const { rowCount } =
      number % 2 === 0
        ? await pool.query('update posts set counter = counter + 1 where id = $1', [number + 1])
        : await pool.query(
            `insert into posts (email, title, author, counter) values ($1, 'new', 1, 0)`,
            [`${performance.timeOrigin}-${began}-${number}`],
          );
    if (rowCount !== 1) throw new Error('a write was lost');
    waits.push(performance.now() - began);
  };
  const writing = (async () => {
    const start = performance.now();
    while (state.on) {
      const due = Math.floor(((performance.now() - start) / 1000) * WRITES_A_SECOND);
      for (; state.number < due; state.number += 1) {
        const one = write(state.number).finally(() => running.delete(one));
        running.add(one);
      }
      await wait(2);
    }
  })();
  await wait(500);
  const began = performance.now();
  await work();
  const time = performance.now() - began;
  await wait(200);
  state.on = false;
  await writing;
  await Promise.all(running);
  await pool.end();
  return { time, longest: Math.max(...waits), writes: waits.length };
}
