import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';

/** A database of its own for one test, and its address for a second server. */
export interface TestDatabase {
  readonly url: string;
  readonly store: Store;
  drop(): Promise<void>;
}

/** Where a suite runs: an embedded file, and a PostgreSQL server when `TEST_POSTGRES_URL` names one. */
export const databases: readonly {
  readonly name: string;
  readonly missing: string | null;
  /** A file is below `root`, where a project's own database is. */
  readonly create: (root?: string) => Promise<TestDatabase>;
}[] = [
  { name: 'SQLite', missing: null, create: sqlite },
  { name: 'PostgreSQL', missing: missingPostgres(), create: postgres },
];

function missingPostgres(): string | null {
  if (process.env['TEST_POSTGRES_URL'] || process.env['CI']) return null;
  return 'skipped: no PostgreSQL; start one with: eval "$(npx node test/engines/start.ts)"';
}

async function sqlite(root = tmpdir()): Promise<TestDatabase> {
  const folder = mkdtempSync(join(root, 'twofold-store-'));
  const url = `file:${join(folder, 'test.db')}`;
  const store = openStore(url, folder);
  return {
    url,
    store,
    drop: async () => (await store.close(), rmSync(folder, { recursive: true, force: true })),
  };
}

async function postgres(): Promise<TestDatabase> {
  const admin = process.env['TEST_POSTGRES_URL'];
  if (!admin)
    throw new Error(
      'TEST_POSTGRES_URL is not set: start PostgreSQL with: eval "$(npx node test/engines/start.ts)"',
    );
  const name = `t_${randomBytes(8).toString('hex')}`;
  await command(admin, `create database ${name}`);
  const host = process.env['TEST_POOLER'] ?? new URL(admin).host;
  const url = Object.assign(new URL(admin), { pathname: `/${name}`, host }).href;
  const store = openStore(url, '.');
  return {
    url,
    store,
    drop: async () => (await store.close(), command(admin, `drop database ${name} with (force)`)),
  };
}

async function command(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
