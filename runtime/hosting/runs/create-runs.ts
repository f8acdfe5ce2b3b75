import type { HostingStore } from '../records/tables.ts';
import type { Core } from '../core.ts';
import { createCronClaims, type CronClaims } from './cron-claims.ts';
import { createCronSchedules, type CronSchedules } from './cron-schedules.ts';
import { createRunRepository, type RunRepository } from './run-repository.ts';
import { createRunner, type Runner } from './runner.ts';

/** The parts of runs, while this process is the leader. */
export interface Runs {
  readonly runs: RunRepository;
  readonly claims: CronClaims;
  readonly runner: Runner;
  readonly schedules: CronSchedules;
  /** What other parts ask of runs. */
  readonly hooks: Pick<Core, 'stopRuns' | 'release'>;
}

export function createRuns(core: Core, store: HostingStore): Runs {
  const runs = createRunRepository(store, core.now);
  const claims = createCronClaims(store, runs, core.now);
  const runner = createRunner(core, runs);
  const schedules = createCronSchedules({ core, claims, runner });
  const hooks = { stopRuns: runner.stopAll, release: runner.release };
  return { runs, claims, runner, schedules, hooks };
}
