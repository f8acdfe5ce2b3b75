import type { HostingStore } from '../records/tables.ts';
import { deploymentNumber, type HostedApp } from '../records/app.ts';
import type { AppCron } from '../records/cron.ts';
import type { RunRepository } from './run-repository.ts';
import type { Run } from '../records/run.ts';

/** Which times of the schedules were taken. For all servers together, each time is taken once. */
export interface CronClaims {
  /**
   * Notes a schedule that is new or was changed: its times count from now on.
   * @returns the last time that was taken, in milliseconds.
   */
  note(app: HostedApp, cron: AppCron): Promise<number>;
  /**
   * Takes a time. @returns the record of its run; null when the time was taken already, or when the
   * last run still goes on, which is counted.
   */
  take(app: HostedApp, cron: AppCron, at: number): Promise<Run | null>;
  /** How many times of each schedule were skipped because the last run still went on. */
  skipped(appId: string): Promise<Readonly<Record<string, number>>>;
}

const TABLE = 'hosting_crons';

export function createCronClaims(
  store: HostingStore,
  runs: RunRepository,
  now: () => number,
): CronClaims {
  const rows = (appId: string) => store.db.selectFrom(TABLE).where('app_id', '=', appId);
  return {
    note: (app, cron) =>
      store.transaction(async (trx) => {
        const pattern = patternOf(cron);
        const values = { app_id: app.id, name: cron.name, pattern, last_at: now() };
        await trx
          .insertInto(TABLE)
          .values(values)
          .onConflict((conflict) => conflict.columns(['app_id', 'name']).doNothing())
          .execute();
        const row = trx
          .updateTable(TABLE)
          .where('app_id', '=', app.id)
          .where('name', '=', cron.name);
        await row.where('pattern', '!=', pattern).set({ pattern, last_at: now() }).execute();
        const { last_at } = await trx
          .selectFrom(TABLE)
          .select('last_at')
          .where('app_id', '=', app.id)
          .where('name', '=', cron.name)
          .executeTakeFirstOrThrow();
        return last_at;
      }),

    take: (app, cron, at) =>
      store.transaction(async (trx) => {
        const row = trx
          .updateTable(TABLE)
          .where('app_id', '=', app.id)
          .where('name', '=', cron.name);
        const taken = await row.where('last_at', '<', at).set({ last_at: at }).executeTakeFirst();
        if (taken.numUpdatedRows === 0n) return null;
        const going = await runs.list(app.id, { cron: cron.name, status: 'running' });
        if (going.length === 0) return insertRun(runs, app, { cron, at });
        await row.set((column) => ({ skipped: column('skipped', '+', 1) })).execute();
        return null;
      }),

    async skipped(appId) {
      const all = await rows(appId).select(['name', 'skipped']).execute();
      return Object.fromEntries(all.map(({ name, skipped }) => [name, skipped]));
    },
  };
}

function insertRun(
  runs: RunRepository,
  app: HostedApp,
  { cron, at }: { readonly cron: AppCron; readonly at: number },
): Promise<Run> {
  return runs.insert(
    { id: app.id, deployment: deploymentNumber(app) },
    {
      command: cron.command,
      purpose: 'cron',
      cron: cron.name,
      at: new Date(at).toISOString(),
      ...(cron.timeout_s !== undefined && { timeout_s: cron.timeout_s }),
    },
  );
}

const patternOf = ({ schedule, timezone = 'UTC' }: AppCron) => `${schedule} ${timezone}`;
