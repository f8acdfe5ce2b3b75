import type { Kysely } from 'kysely';
import type { Migration } from '@twofold/runtime/kernel';

/** `hosting_crons` has one row for each schedule: the last time that was taken, in milliseconds. */
/** The processes that a deployment runs, as JSON text. */
export const processMigration: Migration = {
  name: 'hosting/0007_processes',
  up: async (db: Kysely<any>) => {
    await db.schema
      .alterTable('hosting_deployments')
      .addColumn('processes', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
  },
  down: async (db: Kysely<any>) => {
    await db.schema.alterTable('hosting_deployments').dropColumn('processes').execute();
  },
};

/** Which app has a port of the host. */
export const portMigration: Migration = {
  name: 'hosting/0008_ports',
  up: async (db: Kysely<any>) => {
    await db.schema
      .createTable('hosting_ports')
      .addColumn('protocol', 'text', (column) => column.notNull())
      .addColumn('port', 'integer', (column) => column.notNull())
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('hosting_ports_pk', ['protocol', 'port'])
      .execute();
  },
  down: async (db: Kysely<any>) => {
    await db.schema.dropTable('hosting_ports').execute();
  },
};

export const runMigration: Migration = {
  name: 'hosting/0005_runs',
  up: async (db: Kysely<any>) => {
    await db.schema
      .createTable('hosting_runs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('purpose', 'text', (column) => column.notNull())
      .addColumn('cron', 'text')
      .addColumn('command', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('exit_code', 'integer')
      .addColumn('deployment', 'integer', (column) => column.notNull())
      .addColumn('timeout_s', 'double precision', (column) => column.notNull())
      .addColumn('at', 'text')
      .addColumn('container', 'text')
      .addColumn('started_at', 'text', (column) => column.notNull())
      .addColumn('finished_at', 'text')
      .addColumn('log', 'text')
      .execute();
    await db.schema
      .createIndex('hosting_runs_app')
      .on('hosting_runs')
      .columns(['app_id', 'id'])
      .execute();
    await db.schema
      .createTable('hosting_crons')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('pattern', 'text', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('skipped', 'integer', (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('hosting_crons_pk', ['app_id', 'name'])
      .execute();
  },
  down: async (db: Kysely<any>) => {
    for (const table of ['hosting_crons', 'hosting_runs'])
      await db.schema.dropTable(table).execute();
  },
};
