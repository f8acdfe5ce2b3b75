import { AsyncLocalStorage } from 'node:async_hooks';
import type { StepOf, Table } from '@twofold/schema';
import type { Alteration } from '../tables/alteration.ts';

/** One statement of a migration: a step, as far as code tells it, or a text that cannot be read. */
export type RecordedStep =
  | StepOf<'renameTable' | 'renameColumn' | 'createIndex' | 'dropIndex'>
  | { readonly kind: 'dropTable'; readonly table: { readonly name: string } }
  | {
      readonly kind: 'createTable';
      readonly table: Pick<Table, 'name'> & { readonly columns: readonly Pick<Table, 'name'>[] };
      /** Whether a table that is there is left as it is. */
      readonly ifNotExists?: boolean;
    }
  | (Omit<StepOf<'alterTable'>, 'changes'> & { readonly changes: readonly Alteration[] })
  | (Omit<StepOf<'renameValue'>, 'from' | 'to'> & { readonly from: unknown; readonly to: unknown })
  /** `table` is the table that the statement changes; null when it may change any. */
  | { readonly kind: 'unknown'; readonly table: string | null; readonly statement: string };

const recording = new AsyncLocalStorage<RecordedStep[]>();

/** Whether steps are only recorded. The step then counts as made. */
export function isRecorded(step: RecordedStep): boolean {
  const steps = recording.getStore();
  steps?.push(step);
  return steps !== undefined;
}

/** Runs `work`. Its steps are added to `steps` and not made. */
export function recordingTo(steps: RecordedStep[], work: () => Promise<void>): Promise<void> {
  return recording.run(steps, work);
}
