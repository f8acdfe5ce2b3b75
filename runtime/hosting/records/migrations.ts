import { sql } from 'kysely';
import type { Migration } from '@twofold/runtime/kernel';

/**
 * The tables of this package, with their columns as SQL. Documents are JSON text that only this
 * package reads. Times are ISO 8601 text in UTC, those of schedules milliseconds since 1970.
 */
const TABLES: Readonly<Record<string, string>> = {
  settings: `
    "key" text primary key, "value" text not null`,
  apps: `
    "id" text primary key, "name" text not null unique, "status" text not null,
    "desired" text not null, "deployment" integer, "restarts" integer default 0 not null,
    "error" text, "spec" text not null, "sealed" text not null, "created_at" text not null,
    "updated_at" text not null`,
  domains: `
    "domain" text primary key, "app_id" text not null`,
  deployments: `
    "app_id" text not null, "number" integer not null, "status" text not null,
    "trigger" text not null, "source" text not null, "image" text, "image_id" text,
    "port" integer, "replicas" integer default 1 not null, "reason" text,
    "probes" text default '[]' not null, "log" text default '[]' not null, "build_log" text,
    "created_at" text not null, "finished_at" text,
    constraint "hosting_deployments_pk" primary key ("app_id", "number")`,
  deliveries: `
    "app_id" text not null, "id" text not null, "status" text not null, "at" text not null,
    constraint "hosting_deliveries_pk" primary key ("app_id", "id")`,
  certificates: `
    "domain" text primary key, "certificate" text not null, "sealed" text not null,
    "source" text not null, "expires_at" text not null`,
  // Receivers of messages, what fails now with what was told of it, and messages that wait.
  notifications: `
    "name" text primary key, "sealed" text not null`,
  conditions: `
    "topic" text not null, "subject" text not null, "app" text, "failing" integer not null,
    "told" integer not null, "title" text not null, "text" text not null, "failed_at" text,
    "recovered_at" text, constraint "hosting_conditions_pk" primary key ("topic", "subject")`,
  messages: `
    "id" text not null, "receiver" text not null, "body" text not null,
    "attempt" integer not null, "next_at" text not null,
    constraint "hosting_messages_pk" primary key ("id", "receiver")`,
  registries: `
    "host" text primary key, "username" text not null, "sealed" text not null,
    "updated_at" text not null`,
  runs: `
    "id" text primary key, "app_id" text not null, "purpose" text not null, "cron" text,
    "command" text not null, "status" text not null, "exit_code" integer,
    "deployment" integer not null, "timeout_s" double precision not null, "at" text,
    "container" text, "started_at" text not null, "finished_at" text, "log" text`,
  // One row for each schedule: the last time that was taken.
  crons: `
    "app_id" text not null, "name" text not null, "pattern" text not null,
    "last_at" bigint not null, "skipped" integer default 0 not null,
    constraint "hosting_crons_pk" primary key ("app_id", "name")`,
  git_hosts: `
    "host" text primary key, "public_key" text not null, "fingerprint" text not null,
    "source" text not null, "created_at" text not null`,
  backups: `
    "id" text primary key, "app" text, "target" text not null, "object" text not null,
    "attempt" text, "status" text not null, "bytes" bigint, "sha256" text,
    "started_at" text not null, "finished_at" text, "verified_at" text, "error" text`,
  backup_targets: `
    "name" text primary key, "sealed" text not null`,
  // Which app has a port of the host.
  ports: `
    "protocol" text not null, "port" integer not null, "app_id" text not null,
    constraint "hosting_ports_pk" primary key ("protocol", "port")`,
};

const INDEXES: Readonly<Record<string, string>> = {
  runs: '"hosting_runs_app" on "hosting_runs" ("app_id", "id")',
  backups: '"hosting_backups_app" on "hosting_backups" ("app", "started_at")',
};

export const hostingMigrations: readonly Migration[] = [
  creating(
    '0001_init',
    ...['settings', 'apps', 'domains', 'deployments', 'deliveries', 'certificates'],
  ),
  { name: 'hosting/0002_audit', up: moveAudit },
  creating('0003_notifications', 'notifications', 'conditions', 'messages'),
  creating('0004_registries', 'registries'),
  creating('0005_runs', 'runs', 'crons'),
  creating('0006_git_hosts', 'git_hosts'),
  creating('0007_backups', 'backups', 'backup_targets'),
  // The processes that a deployment runs, as JSON text.
  changing('0007_processes', {
    up: `add column "processes" text default '[]' not null`,
    down: 'drop column "processes"',
  }),
  creating('0008_ports', 'ports'),
];

function creating(name: string, ...tables: readonly string[]): Migration {
  return {
    name: `hosting/${name}`,
    async up(db) {
      for (const table of tables) {
        await run(db, `create table "hosting_${table}" (${TABLES[table]})`);
        if (INDEXES[table]) await run(db, `create index ${INDEXES[table]}`);
      }
    },
    async down(db) {
      for (const table of tables.toReversed()) await run(db, `drop table "hosting_${table}"`);
    },
  };
}

/** A change of the table of deployments. */
function changing(name: string, { up, down }: { readonly up: string; readonly down: string }) {
  const change = (text: string) => (db: Database) =>
    run(db, `alter table "hosting_deployments" ${text}`);
  return { name: `hosting/${name}`, up: change(up), down: change(down) };
}

type Database = Parameters<Migration['up']>[0];

const run = async (db: Database, text: string) => void (await sql.raw(text).execute(db));

/**
 * Earlier versions had a log of their own. Its entries move to the log of the server, whose table is
 * made before this runs.
 */
async function moveAudit(db: Database): Promise<void> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'hosting_audit')) return;
  const kept = 'id, at, actor, ip, action, target, detail';
  await run(
    db,
    `insert into twofold_audit (${kept}, via, request_id) select ${kept}, 'api', '' from hosting_audit`,
  );
  await run(db, 'drop table hosting_audit');
}
