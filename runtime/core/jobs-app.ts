import type { App } from './app.ts';
import { boot, type BootOptions, hasJobs, reachingDatabase } from './boot.ts';
import { prepareDatabase } from './database-at-start.ts';
import { AppError, ConfigError } from './errors.ts';
import type { JobsAnswer, JobsQuestion } from './jobs/command.ts';

/**
 * What `generator jobs` does: lists jobs, sends, retries and cancels them, without starting the
 * server. Migrations are applied as at a start: in production only with `MIGRATE=on`.
 *
 * @returns the answer, or what was refused because there is no such job.
 * @throws ConfigError for invalid settings or pending migrations.
 */
export async function jobsApp(
  app: App,
  question: JobsQuestion,
  options: BootOptions = {},
): Promise<JobsAnswer> {
  if (!hasJobs(app))
    return { ok: false, refused: 'the project has no jobs: add a file to src/jobs' };
  const { answerJobs } = await import('./jobs/command.ts');
  const booted = await boot(app, options);
  const { kernel } = booted;
  try {
    await reachingDatabase(kernel, () => prepareDatabase(app, booted));
    return await answerJobs(booted, question);
  } catch (error) {
    if (error instanceof AppError && !(error instanceof ConfigError))
      return { ok: false, refused: error.message };
    throw error;
  } finally {
    for (const module of booted.modules.toReversed()) await module.stop?.();
    await kernel.store.close();
  }
}
