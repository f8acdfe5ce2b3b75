import { type Kysely, columnTypes, sql } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await db.schema
    .createTable('authors')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull())
    .addColumn('email', type.text, (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('posts')
    .addColumn('id', type.key)
    .addColumn('title', type.text, (column) => column.notNull())
    .addColumn('body', type.text, (column) => column.notNull())
    .addColumn('status', type.text, (column) => column.notNull().defaultTo('DRAFT').check(sql`"status" in ('DRAFT', 'PUBLISHED')`))
    .addColumn('author_id', type.id, (column) => column.notNull().references('authors.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .addColumn('updated_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('posts_author_id_index').on('posts').column('author_id').execute();

  await db.schema
    .createTable('comments')
    .addColumn('id', type.key)
    .addColumn('text', type.text, (column) => column.notNull())
    .addColumn('post_id', type.id, (column) => column.notNull().references('posts.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('comments_post_id_index').on('comments').column('post_id').execute();

  await db.schema
    .createTable('tags')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('post_tags')
    .addColumn('post_id', type.id, (column) => column.notNull().references('posts.id').onDelete('cascade'))
    .addColumn('tag_id', type.id, (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('post_tags_pkey', ['post_id', 'tag_id'])
    .execute();
  await db.schema.createIndex('post_tags_tag_id_index').on('post_tags').column('tag_id').execute();
}

export async function down(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('post_tags').execute();
  await db.schema.dropTable('tags').execute();
  await db.schema.dropTable('comments').execute();
  await db.schema.dropTable('posts').execute();
  await db.schema.dropTable('authors').execute();
}
