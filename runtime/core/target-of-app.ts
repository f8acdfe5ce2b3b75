import { buildTables } from '@twofold/schema';
import type { App } from './app.ts';
import type { MoveOptions } from './backup-app.ts';
import { boot, migrationsOf } from './boot.ts';
import { AppError } from './errors.ts';
import type { Owned } from './owned-tables.ts';
import type { RestoreReport } from './restore-app.ts';
import { CREATE_SEEDS } from './seed/ledger.ts';
import { databaseAddress } from './store/address.ts';
import { createTables } from './store/create-tables.ts';
import { migrate } from './store/migrate.ts';
import { type MovedRows, moveRows, type TableRows } from './store/transfer/move-rows.ts';
import { movedTables, openRowReader, openRowWriter } from './store/transfer/open-rows.ts';
import type { RowWriter } from './store/transfer/database.ts';
import { existsSync } from 'node:fs';

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
  await migrateTarget(target);
  const writer = await openRowWriter(target.url, target.root, { managed: true });
  try {
    const tables = await write(writer, target, sources());
    const ok = tables.every(({ equal }) => equal);
    await (ok ? writer.commit() : writer.rollback());
    const pending = target.owned.migrations.filter((name) => !target.migrations.includes(name));
    return { ok, tables, pending };
  } catch (error) {
    await writer.rollback().catch(() => {});
    throw error;
  } finally {
    await writer.close();
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

async function assertEmpty({ url, root, owned, replace }: Target): Promise<void> {
  const address = databaseAddress(url, root);
  if (replace || (address.dialect === 'sqlite' && !existsSync(address.file))) return;
  const reader = await openRowReader(url, root);
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

/** Newer migrations wait: they may change the rows, so they need them. */
async function migrateTarget({ app, url, migrations, options }: Target): Promise<void> {
  const env = { ...(options.env ?? process.env), DATABASE_URL: url };
  const { kernel, modules } = await boot(app, { ...options, env });
  const { store, project } = kernel;
  try {
    for (const list of await migrationsOf(app, modules))
      await migrate(
        store,
        app.migrations ? list.filter(({ name }) => migrations.includes(name)) : list,
      );
    if (!app.migrations) await createTables(store, buildTables(project), project.ids);
    await store.query(CREATE_SEEDS, []);
  } finally {
    await store.close();
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
