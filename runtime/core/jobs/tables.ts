import { sql, type Kysely } from 'kysely';
import { dialectOf } from '../store/tables/column-types.ts';
import type { Migration } from '../store/migrations/migration.ts';

/**
 * The tables of the queue. Times are milliseconds since 1970 by the clock of the database, so that
 * servers whose clocks differ agree on them.
 */
export const jobMigrations: readonly Migration[] = [
  { name: 'jobs/0001', up: createTables },
  // The span that sent the job, as `traceparent`; only set while traces are on.
  {
    name: 'jobs/0002',
    up: async (db) => {
      await sql`alter table twofold_jobs add column trace text`.execute(db);
    },
  },
];

async function createTables(db: Kysely<any>): Promise<void> {
  const key =
    dialectOf(db) === 'postgres'
      ? 'bigint generated always as identity primary key'
      : // `autoincrement`: the id of a removed job is not used for another one.
        'integer primary key autoincrement';
  for (const statement of statements(key)) await sql.raw(statement).execute(db);
}

/**
 * `fence` grows each time a process takes the job: a process that took it earlier cannot finish it.
 * `slot` is the key of `concurrency`. `stop` is set when a running job is cancelled.
 */
const statements = (key: string): readonly string[] => [
  `create table twofold_jobs (
    id ${key},
    name text not null,
    key text,
    slot text,
    state text not null default 'waiting',
    priority integer not null default 0,
    data text not null,
    attempt integer not null default 0,
    attempts integer not null,
    fence integer not null default 0,
    stop integer not null default 0,
    owner text,
    at bigint not null,
    created_at bigint not null,
    started_at bigint,
    finished_at bigint,
    errors text
  )`,
  `create index twofold_jobs_due on twofold_jobs (priority desc, at, id) where state = 'waiting'`,
  `create index twofold_jobs_key on twofold_jobs (name, key) where state = 'waiting' and key is not null`,
  `create index twofold_jobs_running on twofold_jobs (owner) where state = 'running'`,
  `create index twofold_jobs_finished on twofold_jobs (state, finished_at) where finished_at is not null`,
  // The processes that run jobs. \`slot\` is a lock that one holds until it ends, on SQLite.
  `create table twofold_job_workers (
    id text primary key,
    slot integer,
    names text not null,
    seen_at bigint not null
  )`,
  // For each schedule: from when its times count, and the latest time that was sent.
  `create table twofold_job_schedules (
    name text primary key,
    pattern text not null,
    since bigint not null,
    last_at bigint not null
  )`,
  // Each time that was sent, so that no server sends it again, even if a clock is set back.
  `create table twofold_job_times (
    name text not null,
    at bigint not null,
    primary key (name, at)
  )`,
];
