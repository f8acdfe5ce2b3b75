import { CompiledQuery, type Kysely, sql } from 'kysely';
import type { ColumnDescription } from '../tables/alteration.ts';
import { columnTypes } from '../tables/column-types.ts';
import { rowsError, type MigrationRun, withRun } from '../tables/migration-run.ts';
import { checkRows } from '../tables/row-checks.ts';
import type { RowCheck, Undo } from '../tables/undo-statement.ts';

export interface Undoing {
  readonly db: Kysely<any>;
  readonly run: MigrationRun;
}

/**
 * Runs the statements of an undo.
 *
 * @throws AppError `ROWS_IN_THE_WAY` when rows do not fit the former definition of a column.
 */
export async function runUndo({ db, run }: Undoing, undo: Undo): Promise<void> {
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
  const { type, from, check, ...rest } = column;
  const description: ColumnDescription = {
    ...rest,
    type: types[type],
    definition: '',
    ...(from && { from: types[from] }),
    ...(check !== undefined && { check: sql.raw(check) as never }),
  };
  return checkRows(db, table, { kind, column: description });
}
