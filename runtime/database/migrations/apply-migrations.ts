import { first } from '@twofold/schema';
import { type Kysely, sql, type Transaction } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import {
  type Dialect,
  type Migration,
  noteApplied,
  ownerOf,
  prepareLedger,
  type Store,
} from '@twofold/runtime/store';
import { isLockTimeout } from '../online/lock-attempts.ts';
import type { Preparation } from '../online/preparation.ts';
import {
  createRun,
  type DoneStatement,
  type FailedAt,
  finishStep,
  type MigrationRun,
  placeOf,
  rowsError,
  withRun,
} from '../tables/migration-run.ts';
import { failedLine, withLongStacks } from './load-migrations.ts';
import { recordUndo } from './record-undo.ts';
import type { Rescue } from './rescue.ts';
import { watchedBuilder } from './watched.ts';

export interface ApplyOptions {
  readonly allowLoss: readonly string[];
  /** Whether to commit; if not, the migrations are only tried out. */
  readonly keep: boolean;
  /** Runs first, in the same transaction. */
  readonly before?: (trx: Transaction<any>) => Promise<void>;
  /** Milliseconds that a statement may wait for a lock, on PostgreSQL. */
  readonly lockTimeout?: number;
  /** Indexes that exist already, because they were prepared without blocking. */
  readonly prepared?: ReadonlySet<string>;
  /** Called after each statement of a migration, with its number and its time in milliseconds. */
  readonly onStep?: ((done: DoneStatement) => void) | undefined;
  /** Called after each preparation that ran without blocking, with its time in milliseconds. */
  readonly onPrepared?: ((preparation: Preparation, time: number) => void) | undefined;
  /** Saves what the migrations drop. */
  readonly rescue?: Rescue | undefined;
}

/** Thrown to roll back migrations that were only tried out. */
const DRY_RUN_DONE = Symbol('seen');

/**
 * Runs migrations in one transaction, so that the database has afterwards either all of them or
 * none.
 *
 * @throws AppError `ROWS_IN_THE_WAY` or `MIGRATION_NEEDS_CONSENT` with the rows that any of them
 * found, `MIGRATION_FAILED` with the step and the database's own message.
 */
export async function applyAll(
  store: Store,
  migrations: readonly Migration[],
  options: ApplyOptions,
): Promise<void> {
  const { allowLoss, keep, before, rescue, lockTimeout, prepared, onStep } = options;
  const run: MigrationRun = { ...createRun(), onStep };
  try {
    await store.structuralTransaction(async (trx) => {
      const { dialect } = store;
      if (dialect === 'postgres' && lockTimeout !== undefined)
        await sql.raw(`set local lock_timeout = ${Math.ceil(lockTimeout)}`).execute(trx);
      await prepareLedger(trx);
      await before?.(trx);
      if (rescue) Object.assign(run, { rescue: (dropped: never) => rescue.save(trx, dropped) });
      const watched = watchedBuilder({ dialect, db: trx, run, prepared });
      for (const migration of migrations)
        await applyOne({ dialect, trx, watched, run, keep }, migration, allowLoss);
      if (run.found.length > 0) throw rowsError(run.found, migrations);
      if (!keep) throw DRY_RUN_DONE;
    });
  } catch (error) {
    if (error === DRY_RUN_DONE) return;
    if (run.found.length > 0) throw rowsError(run.found, migrations);
    if (isOurs(error) || isLockTimeout(error)) throw error;
    throw await migrationFailed(store, run, error);
  }
}

interface Applying {
  readonly dialect: Dialect;
  readonly trx: Transaction<any>;
  readonly watched: Kysely<any>;
  readonly run: MigrationRun;
  readonly keep: boolean;
}

async function applyOne(
  { dialect, trx, watched, run, keep }: Applying,
  migration: Migration,
  allowLoss: readonly string[],
): Promise<void> {
  Object.assign(run, {
    migration: migration.name,
    step: 0,
    object: null,
    allowLoss: new Set([...allowLoss, ...(migration.allowLoss ?? [])]),
  });
  await withLongStacks(() => withRun(run, () => migration.up(watched, { dialect })));
  finishStep(run);
  const undoes = keep && ownerOf(migration.name) === '';
  await noteApplied(trx, migration, undoes ? await recordUndo({ dialect, trx }, migration) : null);
}

const isOurs = (error: unknown) =>
  error instanceof AppError && /^(MIGRATION_|ROWS_IN_THE_WAY)/.test(error.code);

/** The error of a statement that failed, with the number of rows of its table. */
export async function migrationFailed(
  { db }: Store,
  { migration, step, object }: FailedAt,
  cause: unknown,
): Promise<AppError> {
  const said = cause instanceof Error ? cause.message : String(cause);
  const line = failedLine(cause, migration);
  const place = placeOf({ migration, step, object });
  const detail = (cause as { detail?: unknown } | null)?.detail;
  const text = `${said}${typeof detail === 'string' ? ` (${detail})` : ''}`;
  return new AppError(
    500,
    'MIGRATION_FAILED',
    `${place} failed${line === null ? '' : ` at line ${line}`}: ${text}\nThe database is as it was.`,
    {
      cause,
      extensions: {
        migration,
        step,
        object,
        line,
        rows: await countRows(db, object),
        keys: [],
        cause: text,
      },
    },
  );
}

/** The rows of the table that an object names; null when it names none. */
async function countRows(db: Kysely<any>, object: string | null): Promise<number | null> {
  if (object === null) return null;
  const [table = ''] = object.split('.');
  return sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`
    .execute(db)
    .then(({ rows }) => Number(first(rows).count))
    .catch(() => null);
}
