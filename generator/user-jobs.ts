import { last } from '@twofold/schema';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { Diagnostic, SourceText } from '@twofold/schema';
import type { Cron } from 'croner';
import { jobsOf, SCHEDULE } from './job-schedules.ts';

const NAME = /^[a-z][a-z0-9-]{0,62}$/;

const TIMEZONE = /(?<![\w.])timezone\s*:\s*(['"`])([^'"`\\\n]*)\1/;

/**
 * JOB_NAME_INVALID, JOB_SCHEDULE_INVALID: files of jobs with which the server would not start. A
 * schedule that is no literal is checked at the start.
 */
export function findJobProblems(texts: readonly SourceText[]): Diagnostic[] {
  return jobsOf(texts).flatMap((source) => [...wrongName(source), ...wrongSchedule(source)]);
}

function wrongName({ file }: SourceText): Diagnostic[] {
  const name = basename(file, '.ts');
  if (NAME.test(name)) return [];
  const meant = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 63);
  return [
    {
      code: 'JOB_NAME_INVALID',
      severity: 'error',
      summary: `${file}: the name of a job is that of its file, and ${name} is none`,
      why: 'a name has lower case letters, digits and dashes, begins with a letter and has at most 63 characters',
      fix:
        meant === ''
          ? 'rename the file'
          : `Did you mean "${meant}"? Rename the file to src/jobs/${meant}.ts`,
      at: { file, line: 1, column: 1, length: 1 },
    },
  ];
}

function wrongSchedule({ file, text }: SourceText): Diagnostic[] {
  const timezone = TIMEZONE.exec(text)?.[2];
  return [...text.matchAll(SCHEDULE)].flatMap(({ index, 0: found, 2: pattern }) => {
    const problem = pattern === undefined ? null : problemOf(pattern, timezone);
    if (problem === null) return [];
    const before = text.slice(0, index).split('\n');
    return [
      {
        code: 'JOB_SCHEDULE_INVALID' as const,
        severity: 'error' as const,
        summary: `${file}: the schedule cannot be read: ${problem}`,
        why: 'the job would never be sent, so the server does not start',
        fix: "5 fields (minute, hour, day, month, weekday), or 6 with seconds first: '*/5 * * * *'",
        at: {
          file,
          line: before.length,
          column: last(before).length + 1,
          length: found.length,
        },
      },
    ];
  });
}

/** Loaded only for a project with a schedule. */
const load = createRequire(import.meta.url);

/** The problem with a pattern or its time zone. The runtime makes the same check (`cron.ts`). */
function problemOf(pattern: string, timezone = 'UTC'): string | null {
  if (![5, 6].includes(pattern.trim().split(/\s+/).length))
    return `${JSON.stringify(pattern)} has neither 5 nor 6 fields`;
  try {
    const { Cron: Pattern } = load('croner') as { Cron: typeof Cron };
    const next = new Pattern(pattern, { timezone, mode: '5-or-6-parts', paused: true }).nextRun();
    return next === null ? `${JSON.stringify(pattern)} has no time in the future` : null;
  } catch (error) {
    return (error as Error).message;
  }
}
