import { pathToFileURL } from 'node:url';
import { AppError } from '@twofold/runtime/errors';
import { commandUrl, guardOfDatabase, type Kernel, settingsIn } from '@twofold/runtime/kernel';
import { type Migration, openStore } from '@twofold/runtime/store';
import { loadMigrations } from './migrations/load-migrations.ts';
import { migrate, migrationStatus } from './migrations/migrate.ts';
import type { RowsAtRisk } from './tables/migration-run.ts';
import { EMPTY_STATE, type LedgerState } from './migrations/ledger-state.ts';

/** The project's migrations, one of which may be added, replaced or left out. */
export interface Foreseen {
  /** Folder of the project. */
  readonly root: string;
  /** Folder with a draft of a migration, which replaces one of the same name. */
  readonly drafts?: string;
  /** Names of migrations to leave out. */
  readonly without?: readonly string[];
  /** Folder with the steps from the draft that is applied to its new text. */
  readonly transitions?: string;
}

/** The result of trying out migrations on the database. */
export interface Foresight {
  readonly state: LedgerState;
  /** Why they cannot be applied; null when they can. */
  readonly refusal: {
    readonly code: string;
    readonly message: string;
    readonly migration: string | null;
    /** The line of its file that failed. */
    readonly line: number | null;
    readonly found: readonly RowsAtRisk[];
  } | null;
}

/**
 * Applies the pending migrations and rolls them back. `dev` calls this before it writes a
 * migration.
 *
 * @returns null when the database cannot be reached; the server then reports why.
 */
export async function foresee(foreseen: Foreseen): Promise<Foresight | null> {
  const { root } = foreseen;
  let opened: Opened;
  try {
    const settings = settingsIn(root);
    opened = { store: openStore(commandUrl(settings), root), settings, root };
  } catch {
    return null;
  }
  try {
    return await ask(opened, foreseen);
  } catch (error) {
    return refused(error, EMPTY_STATE);
  } finally {
    await opened.store.close();
  }
}

type Opened = Pick<Kernel, 'store' | 'settings' | 'root'>;

async function ask(opened: Opened, foreseen: Foreseen): Promise<Foresight | null> {
  const { store } = opened;
  const { root, transitions } = foreseen;
  const migrations = await migrationsOf(foreseen);
  const state = await migrationStatus(store, migrations);
  const guard = await guardOfDatabase(opened);
  const follow = {
    root,
    newest: true,
    gone: true,
    ...(transitions !== undefined && { transitions }),
  };
  try {
    await migrate(store, migrations, {
      keep: false,
      ...(guard.reason === null ? { follow } : { guarded: true }),
    });
    return { state, refusal: null };
  } catch (error) {
    return refused(error, state);
  }
}

function refused(error: unknown, state: LedgerState): Foresight | null {
  if (!(error instanceof AppError)) return null;
  const { code, message, extensions } = error;
  const found = (extensions['found'] ?? []) as readonly RowsAtRisk[];
  const migration = typeof extensions['migration'] === 'string' ? extensions['migration'] : null;
  const line = typeof extensions['line'] === 'number' ? extensions['line'] : null;
  return { state, refusal: { code, message, migration, line, found } };
}

async function migrationsOf({ root, drafts, without = [] }: Foreseen): Promise<Migration[]> {
  const folder = (path: string) => pathToFileURL(`${path}/`);
  const saved = await loadMigrations(folder(`${root}/migrations`));
  const drafted = drafts === undefined ? [] : await loadMigrations(folder(drafts));
  const replaced = new Set([...without, ...drafted.map(({ name }) => name)]);
  return [...saved.filter(({ name }) => !replaced.has(name)), ...drafted].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}
