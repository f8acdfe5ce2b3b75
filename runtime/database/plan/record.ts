import type { RootOperationNode } from 'kysely';
import type { Dialect, Migration } from '@twofold/runtime/store';
import type { RecordedStep } from '../tables/alteration.ts';
import { createRun, withRun } from '../tables/migration-run.ts';
import { kyselyOver } from '../tables/recording.ts';
import { readNode } from './read-node.ts';

/** Ends a recording at a statement whose answer the migration waits for. */
const ASKS = Symbol('asks the database');

/**
 * Reads the steps of a migration: runs its `up` over a connection that executes nothing. What comes
 * after a statement that asks the database for rows cannot be read, and is one unknown step.
 */
export async function recordMigration(
  migration: Pick<Migration, 'up'>,
  dialect: Dialect,
): Promise<readonly RecordedStep[]> {
  const steps: RecordedStep[] = [];
  const db = kyselyOver(dialect, async ({ query, sql }) => {
    if (answersRows(query, sql)) throw ASKS;
    steps.push(...readNode(query, sql));
    return { rows: [] };
  });
  try {
    await withRun({ ...createRun(), told: steps }, () => migration.up(db, { dialect }));
  } catch (error) {
    const said = error instanceof Error ? error.message : 'reads rows, and goes on from them';
    steps.push({ kind: 'unknown', table: null, statement: said });
  }
  return steps;
}

/** Whether a migration may go on from what this statement answers. */
function answersRows(node: RootOperationNode, text: string): boolean {
  if (node.kind === 'SelectQueryNode') return true;
  if ('returning' in node && node.returning !== undefined) return true;
  return node.kind === 'RawNode' && /^\s*(select|with|values|pragma|show|explain)\b/i.test(text);
}
