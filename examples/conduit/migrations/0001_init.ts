import { type Kysely, columnTypes, createFoldedIndex, sql } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await db.schema
    .createTable('users')
    .addColumn('id', type.key)
    .addColumn('email', type.text, (column) => column.notNull().unique())
    .addColumn('username', type.text, (column) => column.notNull().unique())
    .addColumn('bio', type.text)
    .addColumn('image', type.text)
    .execute();
  await createFoldedIndex(db, { name: 'users_email_identity_key', table: 'users', column: 'email', fold: 'letters' });
  await createFoldedIndex(db, { name: 'users_username_identity_key', table: 'users', column: 'username', fold: 'letters' });

  await db.schema
    .createTable('articles')
    .addColumn('id', type.key)
    .addColumn('slug', type.text, (column) => column.notNull().unique())
    .addColumn('title', type.text, (column) => column.notNull().check(sql`length("title") >= 1`))
    .addColumn('description', type.text, (column) => column.notNull().check(sql`length("description") >= 1`))
    .addColumn('body', type.text, (column) => column.notNull().check(sql`length("body") >= 1`))
    .addColumn('author_id', type.id, (column) => column.notNull().references('users.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .addColumn('updated_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('articles_author_id_index').on('articles').column('author_id').execute();

  await db.schema
    .createTable('comments')
    .addColumn('id', type.key)
    .addColumn('body', type.text, (column) => column.notNull().check(sql`length("body") >= 1`))
    .addColumn('article_id', type.id, (column) => column.notNull().references('articles.id').onDelete('cascade'))
    .addColumn('author_id', type.id, (column) => column.notNull().references('users.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .addColumn('updated_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('comments_article_id_index').on('comments').column('article_id').execute();
  await db.schema.createIndex('comments_author_id_index').on('comments').column('author_id').execute();

  await db.schema
    .createTable('tags')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('follows')
    .addColumn('follower_id', type.id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('user_id', type.id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('follows_pkey', ['follower_id', 'user_id'])
    .execute();
  await db.schema.createIndex('follows_user_id_index').on('follows').column('user_id').execute();

  await db.schema
    .createTable('article_favorited_by')
    .addColumn('user_id', type.id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('article_id', type.id, (column) => column.notNull().references('articles.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('article_favorited_by_pkey', ['user_id', 'article_id'])
    .execute();
  await db.schema.createIndex('article_favorited_by_article_id_index').on('article_favorited_by').column('article_id').execute();

  await db.schema
    .createTable('article_tags')
    .addColumn('article_id', type.id, (column) => column.notNull().references('articles.id').onDelete('cascade'))
    .addColumn('tag_id', type.id, (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('article_tags_pkey', ['article_id', 'tag_id'])
    .execute();
  await db.schema.createIndex('article_tags_tag_id_index').on('article_tags').column('tag_id').execute();
}

export async function down(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('article_tags').execute();
  await db.schema.dropTable('article_favorited_by').execute();
  await db.schema.dropTable('follows').execute();
  await db.schema.dropTable('tags').execute();
  await db.schema.dropTable('comments').execute();
  await db.schema.dropTable('articles').execute();
  await db.schema.dropTable('users').execute();
}
