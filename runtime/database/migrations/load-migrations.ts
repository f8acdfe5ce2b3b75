import { AppError, InternalError } from '@twofold/runtime/errors';
import { hashOf, type Migration, type MigrationFile, migrationFiles } from '@twofold/runtime/store';
import { type IdKind, inverseSteps, type MigrationStep, misfitIn } from '@twofold/schema';
import { applySteps } from '../tables/apply-steps.ts';

/**
 * Imports the migrations of a folder, in order of their names.
 *
 * @example await migrate(store, await loadMigrations(new URL('../../migrations/', import.meta.url)));
 */
export async function loadMigrations(
  folder: URL,
  { unreadable = 'refused' }: { readonly unreadable?: 'refused' | 'listed' } = {},
): Promise<Migration[]> {
  const files = migrationFiles(folder);
  if (unreadable === 'refused') return Promise.all(files.map(load));
  return Promise.all(files.map((file) => load(file).catch(() => unread(file))));
}

/** A migration that cannot be imported has a name and a text all the same, for a list. */
function unread({ name, text }: MigrationFile): Migration {
  const up = async () => {
    throw new InternalError(`migration ${name} cannot be read`);
  };
  return { name, text, up };
}

async function load(file: MigrationFile): Promise<Migration> {
  const { allowLoss, replaces, ...code } = await importMigration(file);
  return {
    name: file.name,
    text: file.text,
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
async function importMigration({
  url,
  name,
  text,
}: MigrationFile): Promise<MigrationModule & Pick<Migration, 'allowLoss' | 'replaces'>> {
  const failed = (why: string, cause?: unknown) =>
    new AppError(500, 'MIGRATION_FAILED', `migration ${name} cannot be read: ${why}`, {
      ...(cause !== undefined && { cause }),
      extensions: { migration: name, line: failedLine(cause, name) },
    });
  // A different URL for each text: otherwise a process that imports a migration again would get the
  // cached first text.
  const version = `?${hashOf({ text })}`;
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

/** Frames of a stack, enough to reach the migration below the query builder. */
const FRAMES = 60;

/** Runs work whose errors have the frame of the migration in their stack. */
export async function withLongStacks<T>(work: () => Promise<T>): Promise<T> {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = Math.max(before, FRAMES);
  try {
    return await work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** The line of a migration's file that an error comes from; null when its stack does not say it. */
export function failedLine(cause: unknown, migration: string): number | null {
  const stack = cause instanceof Error ? (cause.stack ?? '') : '';
  const name = migration.replaceAll(/[^\w-]/g, '.');
  const [, line] = new RegExp(`[/\\\\]${name}\\.[cm]?[jt]s(?:\\?\\w+)?:(\\d+)`).exec(stack) ?? [];
  return line === undefined ? null : Number(line);
}
