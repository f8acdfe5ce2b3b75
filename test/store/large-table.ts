import { sql } from 'kysely';
import { alterTable } from '../../runtime/core/store/tables/altering.ts';
import { columnTypes } from '../../runtime/core/store/tables/column-types.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';

export const settings = { lockTimeout: 200, onlineFrom: 50 };

export const init: Migration = {
  name: '0001_init',
  up: async (db) => {
    const type = columnTypes(db);
    await db.schema.createTable('authors').addColumn('id', type.key).execute();
    await db.schema
      .createTable('posts')
      .addColumn('id', type.key)
      .addColumn('title', type.text)
      .addColumn('rating', type.integer)
      .addColumn('author', type.id)
      .execute();
    await db.insertInto('authors').values({ id: 1 }).execute();
    await sql`insert into posts (title, rating, author)
      select 't' || n, n % 5, 1 from generate_series(1, 200) as n`.execute(db);
  },
};

/** One step of each kind that runs online. */
export const everything: Migration = {
  name: '0002_everything',
  up: async (db) => {
    const type = columnTypes(db);
    await alterTable(db, 'posts')
      .addColumn('rank', type.integer, (column) => column.notNull().defaultTo(7))
      .addColumn('editor', type.id, (column) =>
        column.references('authors.id').onDelete('set null'),
      )
      .alterColumn('title', type.text, (column) => column.notNull().unique())
      .alterColumn('rating', type.integer, (column) => column.check(sql`"rating" < 9`))
      .alterColumn('author', type.id, (column) =>
        column.notNull().references('authors.id').onDelete('cascade'),
      )
      .execute();
    await db.schema.createIndex('posts_editor').on('posts').column('editor').execute();
    await db.schema
      .createIndex('posts_both')
      .on('posts')
      .columns(['rank', 'title'])
      .unique()
      .execute();
  },
};

/** More of them, after `everything`. */
export const longer: Migration = {
  name: '0003_longer',
  up: async (db) => {
    const type = columnTypes(db);
    await alterTable(db, 'posts')
      .addColumn('note', type.text, (column) => column.notNull().defaultTo('none'))
      .alterColumn('rank', type.integer, (column) =>
        column
          .notNull()
          .defaultTo(7)
          .check(sql`"rank" > 0`),
      )
      .alterColumn('editor', type.id, (column) =>
        column.unique().references('authors.id').onDelete('set null'),
      )
      .execute();
  },
};
