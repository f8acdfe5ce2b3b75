import type { Core } from '../host/core.ts';
import { createLoop, type Loop } from '../host/loop.ts';
import type { HostedApp } from '../records/app.ts';
import { type AppCron, type CronTimes, timesOf } from '../records/cron.ts';
import type { CronClaims } from './cron-claims.ts';
import type { Runner } from './runner.ts';

/** Milliseconds that a time may be late before it is missed: a restart takes seconds. */
const LATE = 30_000;
/** Milliseconds between two looks at the clock, because somebody may set it. */
const LOOK = 1000;

interface Scheduled {
  readonly times: CronTimes;
  /** Milliseconds since 1970; null when there is no further time. */
  next: number | null;
}

interface ScheduleParts {
  readonly core: Core;
  readonly claims: CronClaims;
  readonly runner: Runner;
}

/** Starts the runs of all schedules at their times. */
export function createCronSchedules(parts: ScheduleParts): Loop {
  const { core } = parts;
  const scheduled = new Map<string, Scheduled>();
  let seen = core.now();
  /** Whether this server has just begun: another one may have ended a moment ago. */
  let first = true;
  const next = () =>
    Math.min(LOOK, ...[...scheduled.values()].map((each) => (each.next ?? Infinity) - core.now()));
  return createLoop({
    pause: () => Math.max(0, next()),
    async work() {
      const now = core.now();
      // The clock was set back. Times that were taken are stored, so they are not taken again.
      if (now < seen) scheduled.clear();
      seen = now;
      if (core.connection.info() === null) return;
      const present = new Set<string>();
      for (const { app, cron } of activeCrons(core)) {
        const key = keyOf(app, cron);
        present.add(key);
        const known = scheduled.get(key) ?? (await schedule(parts, { app, cron, first }));
        scheduled.set(key, known);
        await startDue(parts, { app, cron, scheduled: known }).catch((error: Error) =>
          core.log.warn(`${app.name}: cron ${cron.name}: ${error.message}`),
        );
      }
      first = false;
      for (const key of scheduled.keys()) if (!present.has(key)) scheduled.delete(key);
    },
    onError: (error) => core.log.warn(`cron: ${error.message}`),
  });
}

/** Nothing runs while an app is stopped, or before its first deployment. */
function* activeCrons({ apps }: Core): Generator<{ app: HostedApp; cron: AppCron }> {
  for (const app of apps.all())
    if (app.deployment !== null && app.desired === 'running')
      for (const cron of app.spec.cron ?? []) yield { app, cron };
}

const keyOf = (app: HostedApp, { name, schedule, timezone }: AppCron) =>
  [app.id, name, schedule, timezone].join(' ');

async function schedule(
  { core, claims }: ScheduleParts,
  { app, cron, first }: { app: HostedApp; cron: AppCron; first: boolean },
): Promise<Scheduled> {
  const times = timesOf(cron);
  const last = await claims.note(app, cron);
  const now = core.now();
  // Of the times while no server ran, only the last one counts, if it is recent.
  const recent = first ? times.before(now + 1) : null;
  const isLeft = recent !== null && recent > Math.max(last, now - LATE);
  return { times, next: isLeft ? recent : times.after(now) };
}

async function startDue(
  { core, claims, runner }: ScheduleParts,
  { app, cron, scheduled }: { app: HostedApp; cron: AppCron; scheduled: Scheduled },
): Promise<void> {
  const now = core.now();
  for (let at = scheduled.next; at !== null && at <= now; at = scheduled.next) {
    scheduled.next = scheduled.times.after(at);
    if (at < now - LATE) continue;
    const run = await claims.take(app, cron, at);
    if (run) runner.carry(run);
  }
}
