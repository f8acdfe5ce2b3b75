import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type IdKind, inverseSteps, type MigrationStep, misfitIn } from '@twofold/schema';
import { AppError, InternalError } from '../../errors.ts';
import { failedLine } from './failed-line.ts';
import { hashOf } from './ledger.ts';
import type { Migration } from './migration.ts';
import { applySteps } from '../tables/apply-steps.ts';

/**
 * Reads the `NNNN_name.ts` (or `.js`) files of a folder, in order of their names. A missing folder
 * counts as empty.
 *
 * @example await migrate(store, await loadMigrations(new URL('../../migrations/', import.meta.url)));
 */
export async function loadMigrations(
  folder: URL,
  { unreadable = 'refused' }: { readonly unreadable?: 'refused' | 'listed' } = {},
): Promise<Migration[]> {
  const files = list(folder)
    .filter((file) => /^\d+_[\w-]+\.(ts|js|mjs)$/.test(file))
    .sort();
  const read = (file: string) => load(new URL(file, folder));
  if (unreadable === 'refused') return Promise.all(files.map(read));
  return Promise.all(files.map((file) => read(file).catch(() => unread(new URL(file, folder)))));
}

function list(folder: URL): string[] {
  try {
    return readdirSync(fileURLToPath(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const migrationName = (url: URL) => url.pathname.replace(/^.*\//, '').replace(/\.\w+$/, '');

/** A migration that cannot be imported has a name and a text all the same, for a list. */
function unread(url: URL): Migration {
  const name = migrationName(url);
  const up = async () => {
    throw new InternalError(`migration ${name} cannot be read`);
  };
  return { name, text: readFileSync(url, 'utf8'), up };
}

async function load(url: URL): Promise<Migration> {
  const name = migrationName(url);
  const { allowLoss, replaces, ...code } = await importMigration(url, name);
  return {
    name,
    text: readFileSync(url, 'utf8'),
    ...runnable(code),
    ...(allowLoss && { allowLoss }),
    ...(replaces && { replaces }),
  };
}

/** What a file of `migrations/` exports: steps, code, or code that runs after the steps. */
export interface MigrationModule extends Partial<Pick<Migration, 'up' | 'down'>> {
  readonly steps?: readonly MigrationStep[];
  /** The kind of the keys that the server makes; `integer` when absent. */
  readonly ids?: IdKind;
}

/**
 * The functions that run a migration. Steps undo themselves; code without a `down` makes the whole
 * migration one-way.
 */
export function runnable({
  steps = [],
  ids = 'integer',
  up,
  down,
}: MigrationModule): Pick<Migration, 'up' | 'down'> {
  return {
    up: async (db, context) => {
      await applySteps(db, steps, ids);
      await up?.(db, context);
    },
    ...((down || !up) && {
      down: async (db, context) => {
        await down?.(db, context);
        await applySteps(db, inverseSteps(steps), ids);
      },
    }),
  };
}

/** A file that cannot be imported is a failed migration, reported without a stack trace. */
async function importMigration(
  url: URL,
  name: string,
): Promise<MigrationModule & Pick<Migration, 'allowLoss' | 'replaces'>> {
  const failed = (why: string, cause?: unknown) =>
    new AppError(500, 'MIGRATION_FAILED', `migration ${name} cannot be read: ${why}`, {
      ...(cause !== undefined && { cause }),
      extensions: { migration: name, line: failedLine(cause, name) },
    });
  // A different URL for each text: otherwise a process that imports a migration again would get the
  // cached first text.
  const version = `?${hashOf({ text: readFileSync(url, 'utf8') })}`;
  const module = await import(`${url.href}${version}`).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw failed(/call stack/i.test(why) ? 'it is nested too deeply' : why, error);
  });
  if (typeof module.up !== 'function' && module.steps === undefined)
    throw failed('it exports neither steps nor a function up');
  const misfit = module.steps === undefined ? null : misfitIn(module.steps);
  if (misfit) throw failed(misfit.what);
  return module;
}
