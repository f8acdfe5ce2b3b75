import { assertConfirmed, readLedger } from '@twofold/runtime/store';
import { exploreBefore, type ExploredMigration } from '../plan/plan-migrations.ts';
import type { PlanStep } from '../plan/plan-step.ts';
import { type Migrated, migrationSettings } from './migrated.ts';
import { migrate, type MigrateOptions, migrationsToUndo, revert } from './migrate.ts';
import { reset, tablesToReset } from './reset.ts';

export interface Confirmed {
  /** Name of a guarded database, which may lose values. */
  readonly confirm?: string;
}

export interface MigrateInput extends Confirmed, Pick<MigrateOptions, 'allowLoss'> {}

/** Applies all that is pending. @returns the names of the applied migrations, oldest first. */
export async function migrateAll(
  { kernel: { store, root, project }, lists: [own, ...modules], guard }: Migrated,
  { allowLoss = [], confirm }: MigrateInput,
  step?: (done: StepDone | { rescued: string }) => void,
): Promise<string[]> {
  if (allowLoss.length > 0)
    assertConfirmed(guard, confirm, `Values of ${allowLoss.join(', ')} may lose a part.`);
  const note = (_done: string, rescued: string) => step?.({ rescued });
  const follow = { root, newest: false, gone: false, note };
  const drafts = guard.reason === null ? { follow } : { guarded: true };
  const settings = migrationSettings(project);
  const explored = await exploreBefore(store, [own, ...modules], { ...settings, allowLoss });
  const each = { settings, ...(step && reportSteps(explored, step)) };
  const applied = await migrate(store, own, { allowLoss, ...each, ...drafts });
  for (const list of modules) applied.push(...(await migrate(store, list, each)));
  return applied;
}

export interface RevertInput extends Confirmed {
  /** The oldest migration to undo; the newest one when absent. */
  readonly to?: string;
}

/** @returns what was undone, newest first, and the files with the values that this dropped. */
export async function revertTo(
  { kernel: { store, root }, lists: [own], guard }: Migrated,
  { to, confirm }: RevertInput,
) {
  const undo = migrationsToUndo(await readLedger(store.db), to);
  const names = undo.map(({ name }) => name).join(', ');
  if (undo.length > 0) assertConfirmed(guard, confirm, `What ${names} made would go.`);
  const rescued: string[] = [];
  const note = (_done: string, file: string) => void rescued.push(file);
  return {
    reverted: await revert(store, own, { root, ...(to !== undefined && { to }), note }),
    rescued,
  };
}

/** @returns what was applied again, and the files with the earlier rows. */
export async function resetAll(
  { kernel: { store, root }, lists, guard }: Migrated,
  { confirm }: Confirmed,
) {
  if (guard.reason !== null) {
    const tables = await tablesToReset(store, lists);
    assertConfirmed(guard, confirm, `All rows of ${tables.join(', ')} would go.`);
  }
  const rescued: string[] = [];
  const note = (_done: string, file: string) => void rescued.push(file);
  return { applied: await reset(store, lists, { root, note }), rescued };
}

/** A step that has run, with the time of its statement in milliseconds. */
export interface StepDone extends PlanStep {
  readonly migration: string;
  readonly time: number;
}

/** Reports each planned step once, when it has run. */
export function reportSteps(
  explored: readonly ExploredMigration[],
  report: (done: StepDone) => void,
): Pick<MigrateOptions, 'onStep' | 'onPrepared'> {
  const reported = new Set<PlanStep>();
  const tell = (
    each: ExploredMigration,
    time: number,
    isThis: (found: ExploredMigration['found'][number]) => boolean,
  ) =>
    each.steps.forEach((step, at) => {
      if (reported.has(step) || !isThis(each.found[at]!)) return;
      reported.add(step);
      report({ ...step, migration: each.migration.name, time: Math.round(time) });
    });
  return {
    onStep: ({ migration, statement, time }) =>
      explored
        .filter((each) => each.migration.name === migration)
        .forEach((each) => tell(each, time, (found) => found.statement === statement)),
    onPrepared: ({ name }, time) =>
      explored.forEach((each) =>
        tell(each, time, ({ preparations }) => preparations.some((made) => made.name === name)),
      ),
  };
}
