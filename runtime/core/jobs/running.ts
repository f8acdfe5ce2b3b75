import type { Kernel } from '../module.ts';
import type { Definitions } from './definitions.ts';
import { createPresence } from './presence.ts';
import { createQueue } from './queue.ts';
import type { JobRecords } from './records.ts';
import { createRetention } from './retention.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import type { Sender } from './send.ts';
import { jobSettings } from './settings.ts';
import { hearNotices, type Notice, type Telling } from './telling.ts';
import { createWorker, type Worker } from './worker.ts';

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
