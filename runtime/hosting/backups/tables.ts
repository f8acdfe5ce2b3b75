import type { Kysely } from 'kysely';

/** The tables of backups and of their targets. */
export async function createBackupTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_backups')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('app', 'text')
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('object', 'text', (column) => column.notNull())
    .addColumn('attempt', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('bytes', 'bigint')
    .addColumn('sha256', 'text')
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text')
    .addColumn('verified_at', 'text')
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('hosting_backups_app')
    .on('hosting_backups')
    .columns(['app', 'started_at'])
    .execute();
  await db.schema
    .createTable('hosting_backup_targets')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute();
}

/** Removes them. The objects in the targets stay. */
export async function dropBackupTables(db: Kysely<any>): Promise<void> {
  await db.schema.dropTable('hosting_backup_targets').execute();
  await db.schema.dropTable('hosting_backups').execute();
}
