import type { Core } from '../host/core.ts';
import type { HostingStore } from '../records/tables.ts';
import { createCronClaims } from './cron-claims.ts';
import { createCronSchedules } from './cron-schedules.ts';
import { createRunRepository } from './run-repository.ts';
import { createRunner } from './runner.ts';

/** The parts of runs, while this process is the leader. */
export function createRuns(core: Core, store: HostingStore) {
  const runs = createRunRepository(store, core.now);
  const claims = createCronClaims(store, runs, core.now);
  const runner = createRunner(core, runs);
  return { runs, claims, runner, schedules: createCronSchedules({ core, claims, runner }) };
}
