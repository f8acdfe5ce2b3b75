import type { Kysely } from 'kysely';
import type { Migration } from '../store/migrations/migration.ts';
import { AUDIT_TABLE } from './audit-log.ts';

/** The table of the log: `detail` is JSON, and `id` sorts by time. */
export const auditMigrations: readonly Migration[] = [{ name: 'audit/0001', up: createTable }];

const COLUMNS = ['at', 'actor', 'via', 'ip', 'action', 'target', 'detail', 'request_id'];

async function createTable(db: Kysely<any>): Promise<void> {
  let table = db.schema
    .createTable(AUDIT_TABLE)
    .addColumn('id', 'text', (column) => column.primaryKey());
  for (const name of COLUMNS) table = table.addColumn(name, 'text', (column) => column.notNull());
  await table.execute();
  for (const name of ['target', 'actor', 'action'])
    await db.schema
      .createIndex(`${AUDIT_TABLE}_${name}`)
      .on(AUDIT_TABLE)
      .columns([name, 'id'])
      .execute();
}
