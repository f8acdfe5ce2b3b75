import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigError } from '../errors.ts';
import { isTimeZone } from '../config/time-zone.ts';
import type { Definition, Definitions } from './definitions.ts';

/** The times of a schedule, in milliseconds since 1970. */
export interface ScheduleTimes {
  /** The first time after `time`; null when there is none. */
  after(time: number): number | null;
  /** The last time before `time`; null when there is none. */
  before(time: number): number | null;
}

/** The part of croner's class that we use. */
interface CronPattern {
  nextRun(after: Date): Date | null;
  previousRuns(count: number, before: Date): Date[];
}

type MakePattern = new (
  pattern: string,
  options: { readonly timezone: string; readonly mode: '5-or-6-parts'; readonly paused: true },
) => CronPattern;

/**
 * Croner is a package of the project, and only of one with a schedule. It is no optional peer of
 * this package: npm would install it for every project, because the generator depends on it.
 */
function croner(root: string): MakePattern {
  for (const from of [join(root, 'package.json'), import.meta.url])
    try {
      return (createRequire(from)('croner') as { Cron: MakePattern }).Cron;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  throw new ConfigError([
    'a job has a schedule, and the package croner is not installed: npm run generate, then npm install',
  ]);
}

/**
 * The times of all jobs that have a schedule.
 *
 * @throws ConfigError `JOB_SCHEDULE_INVALID`, with every problem.
 */
export function readSchedules(
  definitions: Definitions,
  root: string,
): ReadonlyMap<string, ScheduleTimes> {
  const scheduled = [...definitions.values()].filter(({ schedule }) => schedule !== undefined);
  if (scheduled.length === 0) return new Map();
  const make = croner(root);
  const problems: string[] = [];
  const times = scheduled.flatMap((definition) => {
    const read = timesOf(make, definition);
    if (typeof read !== 'string') return [[definition.name, read] as const];
    problems.push(`src/jobs/${definition.name}.ts: JOB_SCHEDULE_INVALID ${read}`);
    return [];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return new Map(times);
}

/** The times of a schedule, or the problem with its pattern. */
function timesOf(make: MakePattern, { schedule }: Definition): ScheduleTimes | string {
  const { cron, timezone } = schedule!;
  const shown = JSON.stringify(cron);
  if (![5, 6].includes(cron.trim().split(/\s+/).length))
    return `${shown} must have 5 fields (minute, hour, day, month, weekday), or 6 with seconds first`;
  try {
    const pattern = new make(cron, { timezone, mode: '5-or-6-parts', paused: true });
    const at = (date: Date | null | undefined) => date?.getTime() ?? null;
    const times: ScheduleTimes = {
      after: (time) => at(pattern.nextRun(new Date(time))),
      before: (time) => at(pattern.previousRuns(1, new Date(time))[0]),
    };
    return times.after(Date.now()) === null ? `${shown} has no time in the future` : times;
  } catch (error) {
    const zone = isTimeZone(timezone)
      ? ''
      : `timezone ${JSON.stringify(timezone)} is no IANA name: `;
    return `${zone}${shown}: ${(error as Error).message}`;
  }
}
