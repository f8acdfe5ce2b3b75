import type { Kernel } from '../module.ts';
import { readSchedules, type ScheduleTimes } from './cron.ts';
import type { Definition, Definitions } from './definitions.ts';
import { askIn, askStore } from './dialect.ts';
import type { Sender } from './send.ts';

/** Milliseconds that a time may be late before it is missed: a restart takes seconds. */
const LATE = 30_000;
/** Milliseconds between two looks at the clock, because somebody may set it. */
const LOOK = 1_000;

/** Sends jobs at the times of their schedules. For all servers together, each time is sent once. */
export interface Schedules {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ScheduleParts {
  readonly kernel: Kernel;
  readonly definitions: Definitions;
  readonly sender: Sender;
}

interface Scheduled {
  readonly definition: Definition;
  readonly times: ScheduleTimes;
  /** Milliseconds since 1970; null when there is no further time. */
  next: number | null;
}

/** @throws ConfigError `JOB_SCHEDULE_INVALID` */
export function createSchedules(parts: ScheduleParts): Schedules | undefined {
  const { kernel, definitions } = parts;
  const scheduled = [...readSchedules(definitions, kernel.root)].map(
    ([name, times]): Scheduled => ({
      definition: definitions.get(name)!,
      times,
      next: null,
    }),
  );
  if (scheduled.length === 0) return undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = false;
  let seen = 0;
  const look = async () => {
    const now = kernel.now();
    // The clock was set back. Times that were sent are stored, so they are not sent again.
    if (now < seen) for (const each of scheduled) each.next = each.times.after(now);
    seen = now;
    for (const each of scheduled) await sendDue(parts, each, now);
  };
  const plan = () => {
    if (stopped) return;
    const next = Math.min(...scheduled.map((each) => each.next ?? Infinity));
    const wait = Math.min(LOOK, Math.max(0, next - kernel.now()));
    timer = setTimeout(() => {
      running = look()
        .catch((error: unknown) =>
          kernel.log.warn({ error: String(error) }, 'a schedule could not be looked at'),
        )
        .finally(plan);
    }, wait);
  };
  return {
    start: async () => {
      seen = kernel.now();
      for (const each of scheduled) each.next = await firstOf(parts, each, seen);
      plan();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** The schedules of a project, and when each sends its job next. */
export const listSchedules = ({ kernel, definitions }: Omit<ScheduleParts, 'sender'>) =>
  [...readSchedules(definitions, kernel.root)].map(([name, times]) => {
    const { cron, timezone } = definitions.get(name)!.schedule!;
    const next = times.after(kernel.now());
    return { name, cron, timezone, next_at: next === null ? null : new Date(next).toISOString() };
  });

/** Sends the jobs that are due, and finds the next time. */
async function sendDue(parts: ScheduleParts, scheduled: Scheduled, now: number): Promise<void> {
  const { times, definition } = scheduled;
  let { next } = scheduled;
  if (next !== null && next < now - LATE) {
    const missed = times.before(now - LATE);
    if (definition.schedule!.missed === 'once' && missed !== null)
      await sendOnce(parts, definition, missed);
    next = times.after(now - LATE);
  }
  while (next !== null && next <= now) {
    await sendOnce(parts, definition, next);
    next = times.after(next);
    scheduled.next = next;
  }
  scheduled.next = next;
}

/** Each time has one row: who inserts it sends the job, in the same transaction. */
async function sendOnce({ kernel, sender }: ScheduleParts, { name }: Definition, at: number) {
  await kernel.store.transaction(async () => {
    const ask = askStore(kernel.store);
    const added = await ask(
      `insert into twofold_job_times (name, at) values (?, ?) on conflict do nothing returning at`,
      [name, at],
    );
    if (added.length === 0) return;
    await ask(`update twofold_job_schedules set last_at = ? where name = ? and last_at < ?`, [
      at,
      name,
      at,
    ]);
    await sender.send(name, [{}]);
  });
}

/**
 * The first time to look at. Times between the last one that was sent and the start of the server
 * were missed. A new pattern has missed none.
 */
async function firstOf(
  { kernel: { store } }: ScheduleParts,
  { definition: { name, schedule }, times }: Scheduled,
  now: number,
): Promise<number | null> {
  const pattern = `${schedule!.cron} ${schedule!.timezone}`;
  const [row] = await store.transact((query) =>
    askIn(store, query)<{ last_at: number }>(
      `insert into twofold_job_schedules (name, pattern, since, last_at) values (?, ?, ?, ?)
       on conflict (name) do update set
         since = case when twofold_job_schedules.pattern = excluded.pattern
           then twofold_job_schedules.since else excluded.since end,
         last_at = case when twofold_job_schedules.pattern = excluded.pattern
           then twofold_job_schedules.last_at else excluded.last_at end,
         pattern = excluded.pattern
       returning last_at`,
      [name, pattern, now, now],
    ),
  );
  // After the clock was set back, the last time is in the future.
  return times.after(Math.min(row!.last_at, now));
}
