import { sql } from 'kysely';
import type { Migration } from '@twofold/runtime/kernel';
import { TABLES } from './tables.ts';

const INDEXES: { readonly [Name in Table]?: string } = {
  runs: '"hosting_runs_app" on "hosting_runs" ("app_id", "id")',
  backups: '"hosting_backups_app" on "hosting_backups" ("app", "started_at")',
};

type Table = keyof typeof TABLES extends `hosting_${infer Name}` ? Name : never;

export const hostingMigrations: readonly Migration[] = [
  creating('0001_init', 'settings', 'apps', 'domains', 'deployments', 'deliveries', 'certificates'),
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

function creating(name: string, ...tables: readonly Table[]): Migration {
  return {
    name: `hosting/${name}`,
    async up(db) {
      for (const table of tables) {
        await run(db, `create table "hosting_${table}" (${TABLES[`hosting_${table}`]})`);
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
