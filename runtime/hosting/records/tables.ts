import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { Columns, Store } from '@twofold/runtime/kernel';
import type { DeploymentStatus } from '@twofold/schema';
import type { HostedApp, Trigger } from './app.ts';

/**
 * The tables of this package, with their columns as SQL. Documents are JSON text that only this
 * package reads. Times are ISO 8601 text in UTC, those of schedules milliseconds since 1970.
 */
export const TABLES = {
  hosting_settings: `
    "key" text primary key, "value" text not null`,
  hosting_apps: `
    "id" text primary key, "name" text not null unique, "status" text not null,
    "desired" text not null, "deployment" integer, "restarts" integer default 0 not null,
    "error" text, "spec" text not null, "sealed" text not null, "created_at" text not null,
    "updated_at" text not null`,
  hosting_domains: `
    "domain" text primary key, "app_id" text not null`,
  hosting_deployments: `
    "app_id" text not null, "number" integer not null, "status" text not null,
    "trigger" text not null, "source" text not null, "image" text, "image_id" text,
    "port" integer, "replicas" integer default 1 not null, "reason" text,
    "probes" text default '[]' not null, "log" text default '[]' not null, "build_log" text,
    "created_at" text not null, "finished_at" text,
    constraint "hosting_deployments_pk" primary key ("app_id", "number")`,
  hosting_deliveries: `
    "app_id" text not null, "id" text not null, "status" text not null, "at" text not null,
    constraint "hosting_deliveries_pk" primary key ("app_id", "id")`,
  hosting_certificates: `
    "domain" text primary key, "certificate" text not null, "sealed" text not null,
    "source" text not null, "expires_at" text not null`,
  // Receivers of messages, what fails now with what was told of it, and messages that wait.
  hosting_notifications: `
    "name" text primary key, "sealed" text not null`,
  hosting_conditions: `
    "topic" text not null, "subject" text not null, "app" text, "failing" integer not null,
    "told" integer not null, "title" text not null, "text" text not null, "failed_at" text,
    "recovered_at" text, constraint "hosting_conditions_pk" primary key ("topic", "subject")`,
  hosting_messages: `
    "id" text not null, "receiver" text not null, "body" text not null,
    "attempt" integer not null, "next_at" text not null,
    constraint "hosting_messages_pk" primary key ("id", "receiver")`,
  hosting_registries: `
    "host" text primary key, "username" text not null, "sealed" text not null,
    "updated_at" text not null`,
  hosting_runs: `
    "id" text primary key, "app_id" text not null, "purpose" text not null, "cron" text,
    "command" text not null, "status" text not null, "exit_code" integer,
    "deployment" integer not null, "timeout_s" double precision not null, "at" text,
    "container" text, "started_at" text not null, "finished_at" text, "log" text`,
  // One row for each schedule: the last time that was taken.
  hosting_crons: `
    "app_id" text not null, "name" text not null, "pattern" text not null,
    "last_at" bigint not null, "skipped" integer default 0 not null,
    constraint "hosting_crons_pk" primary key ("app_id", "name")`,
  hosting_git_hosts: `
    "host" text primary key, "public_key" text not null, "fingerprint" text not null,
    "source" text not null, "created_at" text not null`,
  hosting_backups: `
    "id" text primary key, "app" text, "target" text not null, "object" text not null,
    "attempt" text, "status" text not null, "bytes" bigint, "sha256" text,
    "started_at" text not null, "finished_at" text, "verified_at" text, "error" text`,
  hosting_backup_targets: `
    "name" text primary key, "sealed" text not null`,
  // Which app has a port of the host.
  hosting_ports: `
    "protocol" text not null, "port" integer not null, "app_id" text not null,
    constraint "hosting_ports_pk" primary key ("protocol", "port")`,
} as const;

type Texts = typeof TABLES;

/** What messages can be about. */
export type Topic = 'deploy' | 'app' | 'run' | 'backup' | 'certificate' | 'disk' | 'engine';

/**
 * The status of a run. `lost`: its container is gone, so its end is not known. `stopped`: a
 * call has ended it, or the app was stopped.
 */
export type RunStatus = 'running' | 'done' | 'failed' | 'timeout' | 'stopped' | 'lost';

/** The tables as queries know them. `processes` was added to deployments later. */
export type HostingTables = { readonly [Name in keyof Texts]: Columns<Texts[Name]> } & {
  readonly hosting_apps: Pick<HostedApp, 'status' | 'desired'>;
  readonly hosting_deployments: {
    status: DeploymentStatus;
    trigger: Trigger;
    processes: Generated<string>;
  };
  readonly hosting_conditions: { topic: Topic };
  readonly hosting_certificates: { source: 'own' | 'acme' };
  readonly hosting_runs: { purpose: 'call' | 'cron' | 'release'; status: RunStatus };
  readonly hosting_git_hosts: { source: 'api' | 'clone' };
  readonly hosting_backups: { status: 'running' | 'done' | 'failed' };
};

export type Db = Kysely<HostingTables>;
export type Trx = Transaction<HostingTables>;

/** The store, whose queries know these tables. */
export interface HostingStore extends Store {
  readonly db: Db;
  transaction<T>(
    work: (trx: Trx) => Promise<T>,
    options?: Parameters<Store['transaction']>[1],
  ): Promise<T>;
}

/** A row of one of the tables. */
export type RowOf<Name extends keyof HostingTables> = Selectable<HostingTables[Name]>;
