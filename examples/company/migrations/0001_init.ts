import { type Kysely, alterTable, columnTypes, createFoldedIndex } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await db.schema
    .createTable('users')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull())
    .addColumn('email', type.text, (column) => column.notNull().unique())
    .addColumn('company_id', type.id)
    .execute();
  await db.schema.createIndex('users_company_id_index').on('users').column('company_id').execute();
  await createFoldedIndex(db, { name: 'users_email_identity_key', table: 'users', column: 'email', fold: 'letters' });

  await db.schema
    .createTable('companies')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull())
    .addColumn('owner_id', type.id, (column) => column.notNull().references('users.id').onDelete('restrict'))
    .execute();
  await db.schema.createIndex('companies_owner_id_index').on('companies').column('owner_id').execute();

  await db.schema
    .createTable('projects')
    .addColumn('id', type.key)
    .addColumn('title', type.text, (column) => column.notNull())
    .addColumn('done', type.boolean, (column) => column.notNull().defaultTo(false))
    .addColumn('company_id', type.id, (column) => column.notNull().references('companies.id').onDelete('restrict'))
    .addColumn('owner_id', type.id, (column) => column.notNull().references('users.id').onDelete('restrict'))
    .addColumn('created_at', type.timestamp, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('projects_company_id_index').on('projects').column('company_id').execute();
  await db.schema.createIndex('projects_owner_id_index').on('projects').column('owner_id').execute();

  await alterTable(db, 'users')
    .alterColumn('company_id', type.id, (column) => column.references('companies.id').onDelete('set null'))
    .execute();
}

export async function down(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await alterTable(db, 'users')
    .alterColumn('company_id', type.id)
    .execute();

  await db.schema.dropTable('projects').execute();
  await db.schema.dropTable('companies').execute();
  await db.schema.dropTable('users').execute();
}
