import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { AppError } from '../errors.ts';
import type { Migration } from './migration.ts';
import type { Store } from './store.ts';

const LEDGER = 'twofold_migrations';

/** What is applied and what is not yet, by name, oldest first. */
export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

/**
 * Applies what is pending, oldest first, each in a transaction of its own. Of two servers that start at once one
 * migrates and the other waits.
 *
 * @returns the names that were applied.
 * @throws AppError `MIGRATION_CHANGED` when an applied one has another text now, `MIGRATION_MISSING` when its file is gone.
 */
export async function migrate(store: Store, migrations: readonly Migration[]): Promise<string[]> {
  if (migrations.length === 0) return [];
  return store.lock('migrations', async () => {
    const pending = await pendingOf(store, migrations);
    for (const migration of pending) await apply(store, migration);
    return pending.map(({ name }) => name);
  });
}

/** Compares the ledger with `migrations` and changes nothing. Throws as `migrate` does. */
export async function migrationStatus(
  store: Store,
  migrations: readonly Migration[],
): Promise<MigrationStatus> {
  const pending = new Set((await pendingOf(store, migrations)).map(({ name }) => name));
  const names = migrations.map(({ name }) => name);
  return {
    applied: names.filter((name) => !pending.has(name)),
    pending: names.filter((name) => pending.has(name)),
  };
}

/** Undoes the newest applied one that has a `down`. @returns its name, or null when nothing is applied. */
export async function revert(
  store: Store,
  migrations: readonly Migration[],
): Promise<string | null> {
  return store.lock('migrations', async () => {
    const { applied } = await migrationStatus(store, migrations);
    const last = migrations.findLast(({ name }) => applied.includes(name));
    if (!last) return null;
    const { down } = last;
    if (!down) throw new AppError(500, 'MIGRATION_ONE_WAY', `${last.name} has no down step`);
    await store.structuralTransaction(async (trx) => {
      await down(trx);
      await trx.deleteFrom(LEDGER).where('name', '=', last.name).execute();
    });
    return last.name;
  });
}

/**
 * Reads `NNNN_name.ts` (or `.js`) files of a folder, in order of their names. A folder that is not there is empty.
 *
 * @example await migrate(store, await loadMigrations(new URL('../../migrations/', import.meta.url)));
 */
export async function loadMigrations(folder: URL): Promise<Migration[]> {
  const files = list(folder)
    .filter((file) => /^\d+_[\w-]+\.(ts|js|mjs)$/.test(file))
    .sort();
  return Promise.all(files.map((file) => load(new URL(file, folder))));
}

function list(folder: URL): string[] {
  try {
    return readdirSync(fileURLToPath(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function load(url: URL): Promise<Migration> {
  const module = (await import(url.href)) as { up: Migration['up']; down?: Migration['down'] };
  const name = url.pathname.replace(/^.*\//, '').replace(/\.\w+$/, '');
  return {
    name,
    text: readFileSync(url, 'utf8'),
    up: module.up,
    ...(module.down && { down: module.down }),
  };
}

async function pendingOf(store: Store, migrations: readonly Migration[]): Promise<Migration[]> {
  const applied = await readLedger(store.db);
  for (const migration of migrations) assertUnchanged(migration, applied.get(migration.name));
  assertPresent(migrations, [...applied.keys()]);
  return migrations.filter(({ name }) => !applied.has(name));
}

async function readLedger(db: Kysely<any>): Promise<Map<string, string>> {
  await db.schema
    .createTable(LEDGER)
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
  const rows = await db.selectFrom(LEDGER).select(['name', 'hash']).execute();
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

function assertUnchanged(migration: Migration, hash: string | undefined): void {
  if (hash === undefined || hash === hashOf(migration)) return;
  throw new AppError(
    500,
    'MIGRATION_CHANGED',
    `migration ${migration.name} was changed after it was applied: restore its text, and put the change into a new migration`,
  );
}

/** Modules apply their own lists, so only names of the same owner (the text before the slash) are compared. */
function assertPresent(migrations: readonly Migration[], applied: readonly string[]): void {
  const owner = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '');
  const owners = new Set(migrations.map(({ name }) => owner(name)));
  const names = new Set(migrations.map(({ name }) => name));
  const missing = applied.find((name) => owners.has(owner(name)) && !names.has(name));
  if (missing)
    throw new AppError(
      500,
      'MIGRATION_MISSING',
      `migration ${missing} is applied in the database but its file is not there: restore it`,
    );
}

async function apply(store: Store, migration: Migration): Promise<void> {
  await store.structuralTransaction(async (trx) => {
    await migration.up(trx);
    await trx
      .insertInto(LEDGER)
      .values({
        name: migration.name,
        hash: hashOf(migration),
        applied_at: sql`${new Date().toISOString()}`,
      })
      .execute();
  });
}

/** Line ends do not count: a checkout may change them. */
function hashOf({ text }: Migration): string {
  return text === undefined
    ? ''
    : createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
