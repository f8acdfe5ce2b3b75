import { existsSync, rmSync } from 'node:fs';
import { buildTables } from '@twofold/schema';
import { sql } from 'kysely';
import type { App } from './app.ts';
import { boot, guardOfDatabase, migrationsOf } from './boot.ts';
import { AppError } from './errors.ts';
import type { MoveOptions, RestoreReport } from './move-report.ts';
import type { Owned } from './owned-tables.ts';
import { CREATE_SEEDS } from './seed/ledger.ts';
import { databaseAddress } from './store/address.ts';
import { catalogSource, readCatalog } from './store/catalog/read-catalog.ts';
import { createTables } from './store/tables/create-tables.ts';
import { assertConfirmed } from './store/migrations/guard.ts';
import { readLedger } from './store/migrations/ledger.ts';
import { migrate } from './store/migrations/migrate.ts';
import type { Store } from './store/store.ts';
import type { RowWriter } from './store/transfer/database.ts';
import { type MovedRows, moveRows, type TableRows } from './store/transfer/move-rows.ts';
import { isOfSearch } from './store/search/search-index.ts';
import { movedTables, openRowReader, openRowWriter } from './store/transfer/open-rows.ts';

/** A database that is to get the rows of another one. */
export interface Target {
  readonly app: App;
  readonly url: string;
  readonly root: string;
  readonly owned: Owned;
  /** The migrations that the rows are of. */
  readonly migrations: readonly string[];
  readonly replace?: boolean;
  readonly confirm?: string;
  readonly options: MoveOptions;
}

/**
 * Brings the target to the migrations of the rows, writes them, compares both sides and commits.
 * Everything that can be refused is refused before the first write.
 */
export async function intoTarget(
  target: Target,
  sources: () => AsyncIterable<TableRows>,
): Promise<RestoreReport> {
  assertKnown(target);
  await assertEmpty(target);
  const made = await migrateTarget(target);
  let ok = false;
  try {
    const tables = await writeAll(target, sources());
    ok = tables.every(({ equal }) => equal);
    const pending = target.owned.migrations.filter((name) => !target.migrations.includes(name));
    return { ok, tables, pending };
  } finally {
    if (!ok) await made.remove();
  }
}

function assertKnown({ migrations, owned }: Target): void {
  const unknown = migrations.filter((name) => !owned.migrations.includes(name));
  if (unknown.length === 0) return;
  throw new AppError(
    500,
    'BACKUP_AHEAD',
    `the rows are of migrations that this project does not have: ${unknown.join(', ')}; nothing was written.\n   fix  take the commit of the project that has them`,
    { extensions: { migrations: unknown } },
  );
}

const isThere = ({ url, root }: Target): boolean => {
  const address = databaseAddress(url, root);
  return address.dialect === 'postgres' || existsSync(address.file);
};

async function assertEmpty(target: Target): Promise<void> {
  const { url, root, owned, replace } = target;
  if (replace || !isThere(target)) return;
  const reader = await openRowReader(url, root, owned.schemas);
  try {
    refuseRows(await reader.filled(movedTables(reader, owned.tables)));
  } finally {
    await reader.close();
  }
}

function refuseRows(filled: readonly string[]): void {
  if (filled.length === 0) return;
  throw new AppError(
    409,
    'TARGET_HAS_ROWS',
    `the target has rows in ${filled.join(', ')}; nothing was done.\n   fix  take an empty database, or remove these rows with --replace`,
    { extensions: { tables: filled } },
  );
}

/** Objects that were made in an empty database. They are dropped again when no rows come. */
interface MadeObjects {
  remove(): Promise<void>;
}

const NOTHING: MadeObjects = { remove: async () => {} };

/** Newer migrations wait: they may change the rows, so they need them. */
async function migrateTarget(target: Target): Promise<MadeObjects> {
  const { app, url, options, replace, confirm } = target;
  const env = { ...(options.env ?? process.env), DATABASE_URL: url };
  const fresh = !isThere(target);
  const { kernel, modules } = await boot(app, { ...options, env });
  const { store, project } = kernel;
  try {
    if (replace)
      assertConfirmed(await guardOfDatabase(kernel), confirm, 'All its rows would be replaced.');
    if (project.unmanaged) return NOTHING;
    const empty = fresh || (await tableNames(store)).length === 0;
    const known = new Set(target.migrations);
    for (const { name } of (await readLedger(store.db)).applied) known.add(name);
    for (const list of await migrationsOf(app, modules))
      await migrate(store, app.migrations ? list.filter(({ name }) => known.has(name)) : list);
    if (!app.migrations) await createTables(store, buildTables(project), project.ids);
    await store.query(CREATE_SEEDS, []);
    return empty ? { remove: () => removeAll(target, fresh) } : NOTHING;
  } finally {
    await store.close();
  }
}

const tableNames = async ({ db }: Store): Promise<string[]> =>
  (await readCatalog(catalogSource(db))).tables
    .filter(({ kind, name }) => kind === 'table' || (kind === 'virtual table' && isOfSearch(name)))
    .map(({ name }) => name);

async function removeAll({ app, url, root, options }: Target, fresh: boolean): Promise<void> {
  const address = databaseAddress(url, root);
  if (address.dialect === 'sqlite' && fresh) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${address.file}${end}`, { force: true });
    return;
  }
  const env = { ...(options.env ?? process.env), DATABASE_URL: url };
  const { store } = (await boot(app, { ...options, env })).kernel;
  try {
    const names = await tableNames(store);
    const cascade = sql.raw(store.dialect === 'postgres' ? ' cascade' : '');
    await store.structuralTransaction(async (trx) => {
      for (const name of names)
        await sql`drop table if exists ${sql.id(name)}${cascade}`.execute(trx);
    });
  } finally {
    await store.close();
  }
}

async function writeAll(
  target: Target,
  sources: AsyncIterable<TableRows>,
): Promise<readonly MovedRows[]> {
  const writer = await openRowWriter(target.url, target.root, {
    managed: !target.app.project.unmanaged,
    schemas: target.owned.schemas,
  });
  try {
    const tables = await write(writer, target, sources);
    await (tables.every(({ equal }) => equal) ? writer.commit() : writer.rollback());
    return tables;
  } catch (error) {
    await writer.rollback().catch(() => {});
    throw error;
  } finally {
    await writer.close();
  }
}

async function write(
  writer: RowWriter,
  { owned, replace, options: { progress } }: Target,
  sources: AsyncIterable<TableRows>,
): Promise<MovedRows[]> {
  const targets = movedTables(writer, owned.tables);
  const filled = await writer.filled(targets);
  if (!replace) refuseRows(filled);
  if (filled.length > 0) await writer.clear(targets);
  return moveRows(writer, { sources, targets, progress });
}
