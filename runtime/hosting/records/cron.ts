import { Cron } from 'croner';
import { failure } from '@twofold/runtime/errors';
import { isTimeZone } from '@twofold/runtime/kernel';

/** A command that an app runs at the times of a schedule. */
export interface AppCron {
  readonly name: string;
  /** Five fields (minute, hour, day, month, weekday), or six with seconds first. */
  readonly schedule: string;
  readonly command: readonly string[];
  /** An IANA name. UTC if it is not set. */
  readonly timezone?: string;
  readonly timeout_s?: number;
}

/** The times of a schedule, in milliseconds since 1970. */
export interface CronTimes {
  /** The first time after `time`; null when there is none. */
  after(time: number): number | null;
  /** The last time before `time`; null when there is none. */
  before(time: number): number | null;
}

/**
 * The times of a schedule that was checked.
 *
 * @throws Error for one that is wrong.
 * @example timesOf({ schedule: '0 3 * * *', timezone: 'Europe/Berlin' }).after(Date.now())
 */
export function timesOf({
  schedule,
  timezone = 'UTC',
}: Pick<AppCron, 'schedule' | 'timezone'>): CronTimes {
  const pattern = new Cron(schedule, { timezone, mode: '5-or-6-parts', paused: true });
  return {
    after: (time) => pattern.nextRun(new Date(time))?.getTime() ?? null,
    before: (time) => pattern.previousRuns(1, new Date(time))[0]?.getTime() ?? null,
  };
}

/** @throws AppError 400 */
export function assertCrons(crons: readonly AppCron[]): void {
  if (new Set(crons.map(({ name }) => name)).size < crons.length)
    throw failure.badRequest('cron must not use one name twice');
  for (const cron of crons) assertCron(cron);
}

function assertCron({ name, schedule, timezone = 'UTC', command }: AppCron): void {
  if (command.some((word) => word.includes('\0')))
    throw failure.badRequest(`cron ${name}: command must not contain a NUL byte`);
  if (!isTimeZone(timezone))
    throw failure.badRequest(`cron ${name}: ${JSON.stringify(timezone)} is no IANA time zone`);
  nextTime({ schedule, timezone }, Date.now(), `cron ${name}`);
}

/**
 * The first time of a schedule after a moment, in milliseconds since 1970.
 *
 * @param field names the schedule in the error.
 * @throws AppError 400 for a schedule that is none, and for one without such a time.
 * @example nextTime({ schedule: '0 3 * * *' }, Date.now(), 'backup.schedule') // the next 03:00 UTC
 */
export function nextTime(
  { schedule, timezone = 'UTC' }: Pick<AppCron, 'schedule' | 'timezone'>,
  after: number,
  field: string,
): number {
  const shown = `${field}: ${JSON.stringify(schedule.slice(0, 100))}`;
  if (![5, 6].includes(schedule.trim().split(/\s+/).length))
    throw failure.badRequest(
      `${shown} must have 5 fields (minute, hour, day, month, weekday), or 6 with seconds first`,
    );
  let next: number | null;
  try {
    next = timesOf({ schedule, timezone }).after(after);
  } catch (error) {
    throw failure.badRequest(`${shown} is no schedule: ${(error as Error).message}`);
  }
  if (next !== null) return next;
  throw failure.badRequest(`${shown} has no time in the future`);
}
