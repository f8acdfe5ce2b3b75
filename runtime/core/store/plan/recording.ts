import { AsyncLocalStorage } from 'node:async_hooks';
import type { Fold } from '@twofold/schema';
import type { Alteration } from '../tables/alteration.ts';

/** One statement of a migration as data, in the order in which the migration has them. */
export type RecordedStep =
  | {
      readonly kind: 'createTable';
      readonly table: string;
      readonly columns: readonly string[];
      /** Whether a table that is there is left as it is. */
      readonly ifNotExists?: boolean;
    }
  | { readonly kind: 'dropTable'; readonly table: string }
  | { readonly kind: 'renameTable'; readonly table: string; readonly to: string }
  | {
      readonly kind: 'renameColumn';
      readonly table: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'alterTable';
      readonly table: string;
      readonly changes: readonly Alteration[];
    }
  | {
      readonly kind: 'createIndex';
      readonly table: string;
      readonly name: string;
      readonly columns: readonly string[];
      readonly unique: boolean;
      readonly fold?: Fold;
      /** For full-text search: the language, and the key of the table. */
      readonly search?: { readonly language: string; readonly key: readonly string[] };
    }
  | { readonly kind: 'dropIndex'; readonly name: string }
  /** Every row with one value of a column, or with none, gets another one. */
  | {
      readonly kind: 'renameValue';
      readonly table: string;
      readonly column: string;
      readonly from: unknown;
      readonly to: unknown;
    }
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
