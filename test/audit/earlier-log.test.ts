import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuditLog } from '../../runtime/core/audit/audit-log.ts';
import { auditMigrations } from '../../runtime/core/audit/index.ts';
import { sqliteStore } from '../../runtime/core/store/sqlite/sqlite-store.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { uuid7 } from '../../runtime/core/store/uuid7.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { databases, type TestDatabase } from '../store/databases.ts';

const EARLIER = {
  id: uuid7(Date.parse('2026-10-01T10:00:00Z')),
  at: '2026-10-01T10:00:00.000Z',
  actor: 'host',
  ip: '192.0.2.1',
  action: 'createApp',
  target: 'shop',
  detail: '{"fields":["image"]}',
};

describe.each(databases)('the log of an earlier version of hosting on $name', ({ create }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database?.drop());

  it('moves to the log of the server, and its table is gone', async () => {
    const { store } = database;
    await migrate(store, hostingMigrations.slice(0, 1));
    let table = store.db.schema.createTable('hosting_audit');
    for (const name of Object.keys(EARLIER)) table = table.addColumn(name, 'text');
    await table.execute();
    await store.db.insertInto('hosting_audit').values(EARLIER).execute();
    for (const migrations of [auditMigrations, hostingMigrations]) await migrate(store, migrations);
    const audit = createAuditLog({ store, now: () => Date.parse('2026-11-01T00:00:00Z') });
    expect(await audit.list({ limit: 10 })).toEqual({
      entries: [{ ...EARLIER, detail: { fields: ['image'] }, via: 'api', request_id: '' }],
      next_cursor: null,
    });
    const tables = (await store.db.introspection.getTables()).map(({ name }) => name);
    expect(tables).not.toContain('hosting_audit');
    expect(await audit.prune()).toBe(0);
    const later = createAuditLog({ store, now: () => Date.parse('2027-10-05T00:00:00Z') });
    expect(await later.prune()).toBe(1);
  });
});

it('asks SQLite for no lock where nothing is old: another program may hold it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  const file = join(folder, 'app.db');
  const store = sqliteStore(file);
  const other = new DatabaseSync(file);
  try {
    await migrate(store, auditMigrations);
    other.exec('begin immediate');
    expect(await createAuditLog({ store, now: Date.now }).prune()).toBe(0);
  } finally {
    other.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
});
