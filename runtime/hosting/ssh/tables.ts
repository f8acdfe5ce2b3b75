import type { Kysely } from 'kysely';

/** The keys of git hosts. */
export async function createHostKeyTable(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_git_hosts')
    .addColumn('host', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
}

export async function dropHostKeyTable(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('hosting_git_hosts').execute();
}
