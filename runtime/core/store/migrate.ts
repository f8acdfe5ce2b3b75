import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors.ts';
import { applyAll } from './apply-migrations.ts';
import {
  assertSound,
  compareLedger,
  hashOf,
  LEDGER,
  type LedgerState,
  readLedger,
} from './ledger.ts';
import type { Migration } from './migration.ts';
import type { Store } from './store.ts';

export type MigrationStatus = LedgerState;

export interface MigrateOptions {
  /** Columns that may lose part of their values in this run: `posts.rating`. */
  readonly allowLoss?: readonly string[];
}

/**
 * Applies pending migrations, oldest first, in one transaction: all of them or none. Rows that
 * prevent any of them are found before anything is kept. When two servers start at once, one
 * migrates and the other waits.
 *
 * @returns the names of the applied migrations.
 * @throws AppError `MIGRATION_CHANGED` when an applied one has another text now,
 * `MIGRATION_MISSING` when its file is gone, `ROWS_IN_THE_WAY`, `MIGRATION_NEEDS_CONSENT`,
 * `MIGRATION_FAILED`. The database is unchanged then.
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  return migrateOrForesee(store, migrations, { ...options, keep: true });
}

/** Tries `migrate` out and rolls back. @throws as `migrate` does. */
export async function foreseeMigrations(
  store: Store,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  return migrateOrForesee(store, migrations, { ...options, keep: false });
}

async function migrateOrForesee(
  store: Store,
  migrations: readonly Migration[],
  { allowLoss = [], keep }: MigrateOptions & { readonly keep: boolean },
): Promise<string[]> {
  if (migrations.length === 0) return [];
  return store.lock('migrations', async () => {
    const { pending } = assertSound(await migrationStatus(store, migrations));
    const waiting = migrations.filter(({ name }) => pending.includes(name));
    if (waiting.length > 0) await applyAll(store, waiting, { allowLoss, keep });
    return [...pending];
  });
}

/** Compares the ledger with `migrations` without changing or refusing anything. */
export async function migrationStatus(
  store: Store,
  migrations: readonly Migration[],
): Promise<MigrationStatus> {
  return compareLedger(await readLedger(store.db), migrations);
}

/**
 * Undoes the newest applied migration that has a `down`. @returns its name, or null when none is
 * applied.
 */
export async function revert(
  store: Store,
  migrations: readonly Migration[],
): Promise<string | null> {
  return store.lock('migrations', async () => {
    const { applied } = assertSound(await migrationStatus(store, migrations));
    const last = migrations.findLast(({ name }) => applied.includes(name));
    if (!last) return null;
    const { down } = last;
    if (!down) throw new AppError(500, 'MIGRATION_ONE_WAY', `${last.name} has no down step`);
    await store.structuralTransaction(async (trx) => {
      await down(trx, { dialect: store.dialect });
      await trx.deleteFrom(LEDGER).where('name', '=', last.name).execute();
    });
    return last.name;
  });
}

/**
 * Reads the `NNNN_name.ts` (or `.js`) files of a folder, in order of their names. A missing folder
 * counts as empty.
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
  const name = url.pathname.replace(/^.*\//, '').replace(/\.\w+$/, '');
  const { up, down, allowLoss } = await importMigration(url, name);
  return {
    name,
    text: readFileSync(url, 'utf8'),
    up,
    ...(down && { down }),
    ...(allowLoss && { allowLoss }),
  };
}

/** A file that cannot be imported is a failed migration, reported without a stack trace. */
async function importMigration(
  url: URL,
  name: string,
): Promise<Pick<Migration, 'up' | 'down' | 'allowLoss'>> {
  const failed = (why: string, cause?: unknown) =>
    new AppError(500, 'MIGRATION_FAILED', `migration ${name} cannot be read: ${why}`, {
      ...(cause !== undefined && { cause }),
      extensions: { migration: name },
    });
  // A different URL for each text: otherwise a process that imports a migration again would get the
  // cached first text.
  const version = `?${hashOf({ text: readFileSync(url, 'utf8') })}`;
  const module = await import(`${url.href}${version}`).catch((error: unknown) => {
    throw failed(error instanceof Error ? error.message : String(error), error);
  });
  if (typeof module.up !== 'function') throw failed('it exports no function up');
  return module;
}
