import { auditRoutes } from '@twofold/schema';
import { failure } from '../errors.ts';
import { bindRoutes, type Handler, reply } from '../http/route.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { type AuditLog, AUDIT_TABLE } from './audit-log.ts';
import type { Kysely } from 'kysely';
import type { Migration } from '../store/migrations/migration.ts';

const DAY = 86_400_000;

/** The module of the log of changes: its table, its route, and what removes old entries. */
export function createAudit({ log }: Pick<Kernel, 'log'>, audit: AuditLog): ServerModule {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const prune = () => {
    running = audit
      .prune()
      .catch((error: unknown) =>
        log.error({ reason: String(error) }, 'old entries of the audit log could not be removed'),
      );
  };
  return {
    name: 'audit',
    migrations: auditMigrations,
    routes: bindRoutes(auditRoutes, { auditLog: listEntries(audit) }),
    async start() {
      prune();
      timer = setInterval(prune, DAY).unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const listEntries =
  (audit: AuditLog): Handler =>
  async ({ query: { app, since, cursor, ...question } }) => {
    if (cursor !== undefined && !ID.test(cursor))
      throw failure.invalid('cursor must be the next_cursor of another answer');
    const time = since === undefined ? undefined : Date.parse(since);
    if (Number.isNaN(time)) throw failure.invalid('since must be a time as 2030-01-31T08:00:00Z');
    const target = question.target ?? app;
    return reply(200, await audit.list({ ...question, target, since: time, cursor }));
  };

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
