import { type Kysely, columnTypes } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await db.schema
    .createTable('companies')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('users')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull())
    .addColumn('email', type.text, (column) => column.notNull().unique())
    .addColumn('company_id', type.id, (column) => column.references('companies.id').onDelete('set null'))
    .execute();
  await db.schema.createIndex('users_company_id_index').on('users').column('company_id').execute();

  await db.schema
    .createTable('projects')
    .addColumn('id', type.key)
    .addColumn('title', type.text, (column) => column.notNull())
    .addColumn('done', type.boolean, (column) => column.notNull().defaultTo(false))
    .addColumn('company_id', type.id, (column) => column.notNull().references('companies.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('projects_company_id_index').on('projects').column('company_id').execute();
}

export async function down(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('projects').execute();
  await db.schema.dropTable('users').execute();
  await db.schema.dropTable('companies').execute();
}
