import type { MigrateOptions } from '../migrations/migrate.ts';
import type { ExploredMigration } from './plan-migrations.ts';
import type { PlanStep } from './plan-step.ts';

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
