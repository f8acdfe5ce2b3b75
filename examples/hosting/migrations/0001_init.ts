import { type Kysely, columnTypes } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  const type = columnTypes(db);
  await db.schema
    .createTable('teams')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('hosted_apps')
    .addColumn('id', type.key)
    .addColumn('name', type.text, (column) => column.notNull().unique())
    .addColumn('team_id', type.id, (column) => column.references('teams.id').onDelete('set null'))
    .execute();
  await db.schema.createIndex('hosted_apps_team_id_index').on('hosted_apps').column('team_id').execute();
}

export async function down(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('hosted_apps').execute();
  await db.schema.dropTable('teams').execute();
}
