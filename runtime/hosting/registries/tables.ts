import type { Kysely } from 'kysely';

/** The users of registries. */
export async function createRegistryTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_registries')
    .addColumn('host', 'text', (column) => column.primaryKey())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
}

export async function dropRegistryTables(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('hosting_registries').execute();
}
