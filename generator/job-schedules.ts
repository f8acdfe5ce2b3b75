import type { SourceText } from '@twofold/schema';

/**
 * The user's files of jobs. They are apart from the checks of jobs, since the playground plans in a
 * browser, where Node is not.
 */
export const jobsOf = (texts: readonly SourceText[]): SourceText[] =>
  texts.filter(({ file }) => file.startsWith('src/jobs/'));

/** A schedule in the text of a job; the second group is its pattern, if it is a literal. */
export const SCHEDULE = /(?<![\w.])schedule\s*:\s*(?:(['"`])((?:(?!\1)[^\\\n])*)\1)?/g;

/** Whether a job has a schedule. Read without running the file. */
export const hasSchedules = (texts: readonly SourceText[]): boolean =>
  jobsOf(texts).some(({ text }) => text.match(SCHEDULE) !== null);
