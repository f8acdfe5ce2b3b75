import { lookUp } from '@twofold/schema';
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import {
  type AppliedMigration,
  columnTypes,
  type Dialect,
  type Migration,
  noteUndone,
  type RowCheck,
  type Undo,
} from '@twofold/runtime/store';
import type { ColumnDescription } from '../tables/alteration.ts';
import {
  createRun,
  type MigrationRun,
  placeOf,
  rowsError,
  withRun,
} from '../tables/migration-run.ts';
import { checkRows } from '../tables/row-checks.ts';
import { isUndoneByFile } from './follow.ts';
import { recordUndo } from './record-undo.ts';
import type { Rescue } from './rescue.ts';
import { watchedBuilder } from './watched.ts';

export interface UndoContext {
  readonly dialect: Dialect;
  readonly trx: Transaction<any>;
  readonly files: ReadonlyMap<string, Migration>;
  /** Absent when the undo is only a trial. */
  readonly rescue: Rescue | undefined;
}

/**
 * Undoes applied migrations, in the given order, and takes them out of the ledger.
 *
 * @throws AppError `MIGRATION_ONE_WAY`, `ROWS_IN_THE_WAY`, `MIGRATION_FAILED`
 */
export async function undoAll(
  context: UndoContext,
  applied: readonly AppliedMigration[],
): Promise<void> {
  for (const row of applied) {
    const run: MigrationRun = {
      ...createRun(),
      migration: row.name,
      rescue: async (dropped) => context.rescue?.save(context.trx, dropped),
    };
    try {
      await undoOne(context, row, run);
    } catch (error) {
      throw error instanceof AppError ? error : undoFailed(run, error);
    }
    if (run.found.length > 0) throw rowsError(run.found);
    await noteUndone(context.trx, row.name);
  }
}

async function undoOne(
  { dialect, trx, files }: UndoContext,
  row: AppliedMigration,
  run: MigrationRun,
): Promise<void> {
  const file = isUndoneByFile(row, files) ? lookUp(files, row.name) : null;
  const undo: Undo | null = row.undo ?? (file && (await recordUndo({ dialect, trx }, file)));
  if (undo) return runUndo({ db: trx, run }, undo);
  if (!file)
    throw new AppError(
      500,
      'MIGRATION_ONE_WAY',
      `${row.name} cannot be undone: it has no down step, or one that depends on rows; nothing was done.\n   fix  write a migration that changes it back`,
      { extensions: { migration: row.name } },
    );
  await withRun(run, () => file.down!(watchedBuilder({ dialect, db: trx, run }), { dialect }));
}

export function undoFailed(run: MigrationRun, cause: unknown): AppError {
  const { migration, step } = run;
  const said = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    500,
    'MIGRATION_FAILED',
    `taking back ${placeOf(run)} failed: ${said}\nThe database is as it was.`,
    { cause, extensions: { migration, step, object: null, rows: null, keys: [] } },
  );
}

interface Undoing {
  readonly db: Kysely<any>;
  readonly run: MigrationRun;
}

/**
 * Runs the statements of an undo.
 *
 * @throws AppError `ROWS_IN_THE_WAY` when rows do not fit the former definition of a column.
 */
async function runUndo({ db, run }: Undoing, undo: Undo): Promise<void> {
  for (const { sql: text, parameters = [], drops = [], checks = [] } of undo) {
    run.step += 1;
    for (const check of checks) await withRun(allowingLoss(run, check), () => runCheck(db, check));
    if (run.found.length > 0) throw rowsError(run.found);
    for (const dropped of drops) await run.rescue?.(dropped);
    await db.executeQuery(CompiledQuery.raw(text, [...parameters]));
  }
}

/** Values that an undo shortens are saved to files, so that it needs no consent. */
function allowingLoss(run: MigrationRun, { table, name }: RowCheck): MigrationRun {
  return { ...run, allowLoss: new Set([`${table}.${name}`]) };
}

function runCheck(db: Kysely<any>, { kind, table, ...column }: RowCheck): Promise<boolean> {
  const types = columnTypes(db);
  const { type, from, check, references, ...rest } = column;
  const [target = '', key = ''] = references?.split('.') ?? [];
  const description: ColumnDescription = {
    ...rest,
    type: types[type],
    definition: '',
    ...(from && { from: types[from] }),
    ...(check !== undefined && { check: sql.raw(check) as never }),
    ...(references !== undefined && {
      references: { columns: [rest.name], table: target, references: [key], onDelete: 'no action' },
    }),
  };
  return checkRows(db, table, { kind, column: description });
}
