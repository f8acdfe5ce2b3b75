import type { CompiledQuery, RootOperationNode } from 'kysely';
import type { Dialect, Migration } from '@twofold/runtime/store';
import { kyselyOver } from '../tables/recording.ts';
import { readNode } from './read-node.ts';
import { isRecorded, recordingTo, type RecordedStep } from './recording.ts';

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
  try {
    await recordingTo(steps, () => migration.up(kyselyOver(dialect, noted), { dialect }));
  } catch (error) {
    const said = error instanceof Error ? error.message : 'reads rows, and goes on from them';
    steps.push({ kind: 'unknown', table: null, statement: said });
  }
  return steps;
}

async function noted({ query, sql }: CompiledQuery): Promise<{ rows: never[] }> {
  if (answersRows(query, sql)) throw ASKS;
  readNode(query, sql).forEach(isRecorded);
  return { rows: [] };
}

/** Whether a migration may go on from what this statement answers. */
function answersRows(node: RootOperationNode, text: string): boolean {
  if (node.kind === 'SelectQueryNode') return true;
  if ('returning' in node && node.returning !== undefined) return true;
  return node.kind === 'RawNode' && /^\s*(select|with|values|pragma|show|explain)\b/i.test(text);
}
