import type { Kernel } from '../module.ts';
import type { Definitions } from './definitions.ts';
import { createPresence } from './presence.ts';
import { createQueue } from './queue.ts';
import type { JobRecords } from './records.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import type { Sender } from './send.ts';
import { jobSettings } from './settings.ts';
import { hearNotices, type Notice, type Telling } from './telling.ts';
import { createWorker, type Worker } from './worker.ts';
import type { JobSettings } from '@twofold/schema';
import { askStore } from './dialect.ts';

/** Milliseconds that running jobs have when the server stops. */
const PATIENCE = 10_000;

interface WorkingParts {
  readonly kernel: Kernel;
  readonly definitions: Definitions;
  readonly telling: Telling;
  readonly concurrency: number;
  /** If set, only this job is taken. */
  readonly only?: number;
}

/** A worker, and what it needs to run beside those of other processes. */
interface Working {
  readonly worker: Worker;
  start(): Promise<void>;
  stop(patience: number): Promise<void>;
}

function createWorking({ kernel, definitions, telling, concurrency, only }: WorkingParts): Working {
  const { store } = kernel;
  const owner = telling.from;
  const queue = createQueue({ store, definitions, owner, only });
  const onPoll = () =>
    void queue.cancelled().then(
      (ids) => ids.forEach((id) => worker.cancel(id)),
      // The error is ignored here: if the database does not answer, the next turn reports it.
      () => {},
    );
  const worker: Worker = createWorker({
    kernel,
    definitions,
    queue,
    concurrency,
    ...(store.dialect === 'sqlite' && { onPoll }),
  });
  const hear = (notice: Notice) =>
    'due' in notice ? worker.wake(notice.due) : worker.cancel(notice.cancel);
  telling.onNotice(hear);
  let stopHearing: (() => void) | undefined;
  const presence = createPresence({
    kernel,
    definitions,
    owner,
    onReturned: () => telling.due(0),
    onLost: () => worker.abandon(),
  });
  return {
    worker,
    start: async () => {
      stopHearing = await hearNotices(kernel, owner, hear);
      await presence.start();
      worker.start();
    },
    stop: async (patience) => {
      await worker.stop(patience);
      await presence.stop();
      stopHearing?.();
    },
  };
}

export interface RunningParts {
  readonly kernel: Kernel;
  readonly definitions: Definitions;
  readonly sender: Sender;
  readonly telling: Telling;
}

/**
 * Runs the jobs of a server while it is up.
 *
 * @throws ConfigError `JOB_SCHEDULE_INVALID`
 */
export function createRunning(parts: RunningParts) {
  const { kernel, definitions } = parts;
  const settings = jobSettings(kernel);
  const working = createWorking({ ...parts, concurrency: settings.concurrency });
  const schedules: Schedules | undefined = createSchedules(parts);
  const retention = createRetention(kernel, settings, definitions);
  let deadline: number | undefined;
  let started = false;
  const leave = () => {
    deadline ??= performance.now() + PATIENCE;
    working.worker.leave();
  };
  return {
    start: async () => {
      started = true;
      await working.start();
      await schedules?.start();
      retention.start();
    },
    leave,
    stop: async () => {
      if (!started) return;
      started = false;
      leave();
      await schedules?.stop();
      await retention.stop();
      await working.stop(deadline! - performance.now());
    },
  };
}

/** Milliseconds between two looks at the state of a job that somebody waits for. */
const LOOK = 200;

export interface WaitParts extends Omit<RunningParts, 'sender'> {
  readonly records: JobRecords;
}

/** Runs one job in this process, with all its attempts, until it has ended. */
export async function runHere(parts: WaitParts, id: number, once: boolean): Promise<void> {
  const working = createWorking({ ...parts, concurrency: 1, only: id });
  await working.start();
  try {
    await untilEnded(parts.records, id, once);
  } finally {
    await working.stop(PATIENCE);
  }
}

/** @param once whether one attempt is enough. */
export async function untilEnded(records: JobRecords, id: number, once = false): Promise<void> {
  for (;;) {
    const job = await records.get(id);
    const waits = job?.state === 'waiting' && (!once || job.attempt === 0);
    if (!waits && job?.state !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

/** Milliseconds between two rounds. */
const EVERY = 60_000;
/** Rows that one statement removes, so that other writes do not wait long. */
const BATCH = 1_000;
/** Milliseconds for which the times of schedules are known: a clock may be set back this far. */
const TIMES = 86_400_000;

/** Deletes jobs that were kept long enough, and reports jobs whose file is missing. */
interface Retention {
  start(): void;
  stop(): Promise<void>;
}

function createRetention(
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
