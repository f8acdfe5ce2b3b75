import { type Kysely, sql } from 'kysely';
import type { Migration } from '@twofold/runtime/kernel';
import { createHostKeyTable, dropHostKeyTable } from '../ssh/tables.ts';
import { createRegistryTables, dropRegistryTables } from '../registries/tables.ts';
import { createBackupTables, dropBackupTables } from '../backups/tables.ts';
import { createNotificationTables, dropNotificationTables } from '../notifications/tables.ts';
import { portMigration, processMigration, runMigration } from '../runs/migration.ts';

/**
 * The tables of this package. Documents are JSON text that only this package reads. Times are ISO
 * 8601 text in UTC.
 */
export const hostingMigrations: readonly Migration[] = [
  { name: 'hosting/0001_init', up: createTables, down: dropTables },
  { name: 'hosting/0002_audit', up: moveAudit },
  {
    name: 'hosting/0003_notifications',
    up: createNotificationTables,
    down: dropNotificationTables,
  },
  { name: 'hosting/0004_registries', up: createRegistryTables, down: dropRegistryTables },
  runMigration,
  { name: 'hosting/0006_git_hosts', up: createHostKeyTable, down: dropHostKeyTable },
  { name: 'hosting/0007_backups', up: createBackupTables, down: dropBackupTables },
  processMigration,
  portMigration,
];

/**
 * Earlier versions had a log of their own. Its entries move to the log of the server, whose table is
 * made before this runs.
 */
async function moveAudit(db: Kysely<any>): Promise<void> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'hosting_audit')) return;
  const kept = ['id', 'at', 'actor', 'ip', 'action', 'target', 'detail'] as const;
  await db
    .insertInto('twofold_audit')
    .columns([...kept, 'via', 'request_id'])
    .expression((build) =>
      build
        .selectFrom('hosting_audit')
        .select([...kept, sql.lit('api').as('via'), sql.lit('').as('request_id')]),
    )
    .execute();
  await db.schema.dropTable('hosting_audit').execute();
}

async function createTables(db: Kysely<any>): Promise<void> {
  await createApps(db);
  await createDeployments(db);
  await createOthers(db);
}

async function createApps(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_settings')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('hosting_apps')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('desired', 'text', (column) => column.notNull())
    .addColumn('deployment', 'integer')
    .addColumn('restarts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('error', 'text')
    .addColumn('spec', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('hosting_domains')
    .addColumn('domain', 'text', (column) => column.primaryKey())
    .addColumn('app_id', 'text', (column) => column.notNull())
    .execute();
}

async function createDeployments(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_deployments')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('trigger', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('image', 'text')
    .addColumn('image_id', 'text')
    .addColumn('port', 'integer')
    .addColumn('replicas', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('reason', 'text')
    .addColumn('probes', 'text', (column) => column.notNull().defaultTo('[]'))
    .addColumn('log', 'text', (column) => column.notNull().defaultTo('[]'))
    .addColumn('build_log', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text')
    .addPrimaryKeyConstraint('hosting_deployments_pk', ['app_id', 'number'])
    .execute();
}

async function createOthers(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_deliveries')
    .addColumn('app_id', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('hosting_deliveries_pk', ['app_id', 'id'])
    .execute();
  await db.schema
    .createTable('hosting_certificates')
    .addColumn('domain', 'text', (column) => column.primaryKey())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
}

const TABLES = ['certificates', 'deliveries', 'deployments', 'domains', 'apps', 'settings'];

async function dropTables(db: Kysely<any>): Promise<void> {
  for (const table of TABLES) await db.schema.dropTable(`hosting_${table}`).execute();
}
