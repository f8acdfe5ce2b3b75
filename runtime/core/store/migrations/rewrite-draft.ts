import type { Transaction } from 'kysely';
import { AppError } from '../../errors.ts';
import type { Rewritten } from './follow.ts';
import { noteRewritten } from './ledger.ts';
import { createRun, type MigrationRun, rowsError, withRun } from '../tables/migration-run.ts';
import { recordUndo } from './record-undo.ts';
import type { Rescue } from './rescue.ts';
import type { Store } from '../store.ts';
import type { Transition } from './transitions.ts';
import { rescuingBuilder, undoFailed } from './undo-migrations.ts';

/** A rewritten draft, with the steps to its new text. */
export interface Rewriting extends Rewritten {
  readonly steps: readonly Transition[];
}

interface RewriteContext {
  readonly store: Store;
  readonly trx: Transaction<any>;
  readonly rescue: Rescue | undefined;
  readonly keep: boolean;
}

/**
 * Brings a database from an applied draft to the text that takes its place, and records that one as
 * applied.
 *
 * @throws AppError as applying the new text does.
 */
export async function rewrite(
  { store: { dialect }, trx, rescue, keep }: RewriteContext,
  { row, file, steps }: Rewriting,
): Promise<void> {
  const run: MigrationRun = {
    ...createRun(),
    migration: file.name,
    allowLoss: new Set(file.allowLoss),
    ...(keep && { rescue: async (dropped) => rescue?.save(trx, dropped) }),
  };
  const db = rescuingBuilder({ dialect, db: trx, run });
  try {
    for (const { up } of steps) await withRun(run, () => up(db, { dialect }));
  } catch (error) {
    throw error instanceof AppError ? error : undoFailed(run, error);
  }
  if (run.found.length > 0) throw rowsError(run.found);
  const undo = keep ? await recordUndo({ dialect, trx }, file) : null;
  await noteRewritten(trx, row.name, { migration: file, undo });
}
