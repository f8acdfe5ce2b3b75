import type { JobSettings } from '@twofold/schema';
import type { Kernel } from '../module.ts';
import type { Definitions } from './definitions.ts';
import { askStore } from './dialect.ts';

/** Milliseconds between two rounds. */
const EVERY = 60_000;
/** Rows that one statement removes, so that other writes do not wait long. */
const BATCH = 1_000;
/** Milliseconds for which the times of schedules are known: a clock may be set back this far. */
const TIMES = 86_400_000;

/** Deletes jobs that were kept long enough, and reports jobs whose file is missing. */
export interface Retention {
  start(): void;
  stop(): Promise<void>;
}

export function createRetention(
  { store, log }: Kernel,
  { keep, keepFailed }: JobSettings,
  definitions: Definitions,
): Retention {
  const ask = askStore(store);
  const named = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const remove = async (states: string, kept: number) => {
    for (;;) {
      const rows = await ask(
        `delete from twofold_jobs where id in (
           select id from twofold_jobs where state in (${states}) and finished_at <= $now - ?
           limit ${BATCH}
         ) returning id`,
        [kept],
      );
      if (rows.length < BATCH) return;
    }
  };
  const nameUnknown = async () => {
    const names = [...definitions.keys()];
    const rows = await ask<{ name: string; count: number }>(
      `select name, count(*) as count from twofold_jobs
       where state = 'waiting' and name not in $texts group by name`,
      [JSON.stringify(names)],
    );
    for (const { name, count } of rows)
      if (!named.has(name)) {
        named.add(name);
        log.warn(
          `${count} jobs ${name} wait, and this server has no src/jobs/${name}.ts: another version may run them; cancel them by "generator jobs cancel" if none does`,
        );
      }
  };
  const round = async () => {
    await nameUnknown();
    await remove(`'done'`, keep);
    await remove(`'failed', 'cancelled'`, keepFailed);
    await ask(`delete from twofold_job_times where at <= $now - ${TIMES}`);
  };
  const run = () => {
    running ??= round()
      .catch((error: unknown) => log.warn({ error: String(error) }, 'old jobs were not removed'))
      .finally(() => (running = undefined));
  };
  return {
    start: () => {
      run();
      timer = setInterval(run, EVERY);
    },
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
