import { existsSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import {
  type App,
  type BootOptions,
  guardOfDatabase,
  rootOf,
  withBooted,
  withDatabase,
} from '@twofold/runtime/kernel';
import {
  assertConfirmed,
  databaseAddress,
  type Migration,
  readLedger,
  type Store,
} from '@twofold/runtime/store';
import { buildTables } from '@twofold/schema';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { migrate } from '../migrations/migrate.ts';
import { tablesOf } from '../migrations/reset.ts';
import { migrationsOf } from '../prepare.ts';
import { CREATE_SEEDS } from '../seed/ledger.ts';
import { createTables } from '../tables/create-tables.ts';
import { type BackupReader, readBackup } from './backup-stream.ts';
import type { RowWriter } from './database.ts';
import { type MovedRows, moveRows, type TableRows } from './move-rows.ts';
import { movedTables, openRowReader, openRowWriter, tableRows } from './open-rows.ts';
import { appliedIn, databaseOf, leftIn, type Owned, ownedBy } from './owned-tables.ts';

export interface MoveOptions extends BootOptions {
  /** Called with the number of rows that were moved so far. */
  readonly progress?: (done: number) => void;
}

export interface RestoreReport {
  /** False when a table differs after writing. The target is then unchanged. */
  readonly ok: boolean;
  readonly tables: readonly MovedRows[];
  /** Migrations of the project that are newer than the rows: they are not applied yet. */
  readonly pending: readonly string[];
}

/** What may become of rows that the target has. */
interface Replacing {
  /** Whether rows that are already in the target are removed first. */
  readonly replace?: boolean;
  /** The name of a guarded database, whose rows may be removed. */
  readonly confirm?: string;
}

/** A database that is to get the rows of another one. */
export interface Target extends Replacing {
  readonly app: App;
  readonly url: string;
  readonly root: string;
  readonly owned: Owned;
  /** The migrations that the rows are of. */
  readonly migrations: readonly string[];
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
  const takeBack = await migrateTarget(target);
  let ok = false;
  try {
    const tables = await writeAll(target, sources());
    ok = tables.every(({ equal }) => equal);
    const used = target.owned.migrations.filter(({ unused }) => !unused).map(({ name }) => name);
    return { ok, tables, pending: used.filter((name) => !target.migrations.includes(name)) };
  } finally {
    if (!ok) await takeBack();
  }
}

function assertKnown({ migrations, owned }: Target): void {
  const unknown = migrations.filter((name) => !owned.migrations.some((one) => one.name === name));
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

/**
 * Newer migrations wait: they may change the rows, so they need them.
 *
 * @returns a function that drops what was made in an empty database, for when no rows come.
 */
async function migrateTarget(target: Target): Promise<() => Promise<void>> {
  const { app, url, options, replace, confirm } = target;
  const env = withDatabase(options.env ?? process.env, url);
  const fresh = !isThere(target);
  return withBooted(app, { ...options, env }, async ({ kernel, modules }) => {
    const { store, project } = kernel;
    if (replace)
      assertConfirmed(await guardOfDatabase(kernel), confirm, 'All its rows would be replaced.');
    if (project.unmanaged) return async () => {};
    const empty = fresh || (await tableNames(store)).length === 0;
    const known = new Set(target.migrations);
    for (const { name } of (await readLedger(store.db)).applied) known.add(name);
    const isKnown = ({ name }: Migration) => known.has(name);
    // Rows of what the project does not use now need its tables too.
    const used = (each: Migration) => (isKnown(each) ? { ...each, unused: false } : each);
    for (const list of await migrationsOf(app, modules))
      await migrate(store, (app.migrations ? list.filter(isKnown) : list).map(used));
    if (!app.migrations) await createTables(store, buildTables(project), project.ids);
    await store.query(CREATE_SEEDS, []);
    return empty ? () => removeAll(target, fresh) : async () => {};
  });
}

const tableNames = async ({ db }: Store): Promise<string[]> =>
  tablesOf(await readCatalog(catalogSource(db)));

async function removeAll({ app, url, root, options }: Target, fresh: boolean): Promise<void> {
  const address = databaseAddress(url, root);
  if (address.dialect === 'sqlite' && fresh) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${address.file}${end}`, { force: true });
    return;
  }
  const env = withDatabase(options.env ?? process.env, url);
  await withBooted(app, { ...options, env }, async ({ kernel: { store } }) => {
    const names = await tableNames(store);
    const cascade = sql.raw(store.dialect === 'postgres' ? ' cascade' : '');
    await store.structuralTransaction(async (trx) => {
      for (const name of names)
        await sql`drop table if exists ${sql.id(name)}${cascade}`.execute(trx);
    });
  });
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

export interface CopyInput extends Replacing {
  readonly from: string;
  readonly to: string;
}

export interface CopyReport extends RestoreReport {
  /** Views, functions and tables that other programs made. They were not copied. */
  readonly left: readonly string[];
}

/** Copies all rows of a server from one database to another. */
export async function copyRows(
  app: App,
  { from, to, ...input }: CopyInput,
  options: MoveOptions,
): Promise<CopyReport> {
  const root = rootOf(app);
  const owned = await ownedBy(app, options);
  const reader = await openRowReader(from, root, owned.schemas);
  try {
    const migrations = await appliedIn(reader);
    const tables = movedTables(reader, owned.tables);
    const target = { app, url: to, root, owned, migrations, ...input, options };
    const report = await intoTarget(target, async function* () {
      for (const table of tables) yield tableRows(reader, table);
    });
    return { ...report, left: leftIn(reader.catalog, owned) };
  } finally {
    await reader.close();
  }
}

export interface RestoreInput extends Replacing {
  /** The database; that of the project's settings when absent. */
  readonly database?: string;
}

export interface RestoreStream extends Pick<MoveOptions, 'progress'> {
  /** The stream from which the rows are read. */
  readonly channel: Readable;
}

/** Writes the rows of a backup into a database. */
export async function restoreRows(
  app: App,
  { database, ...input }: RestoreInput,
  { channel, ...options }: RestoreStream & MoveOptions,
): Promise<RestoreReport> {
  const backup = readBackup(channel);
  const { migrations } = await backup.head();
  const owned = await ownedBy(app, options);
  const url = database ?? databaseOf(app, options);
  return intoTarget({ app, url, root: rootOf(app), owned, migrations, ...input, options }, () =>
    allOf(backup),
  );
}

async function* allOf(backup: BackupReader) {
  for (;;) {
    const table = await backup.next();
    if (!table) return;
    yield table;
  }
}
