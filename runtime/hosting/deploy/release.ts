import { AppError } from '@twofold/runtime/errors';
import type { Deployment, HostedApp } from '../records/app.ts';
import type { AppRuns } from '../records/run.ts';

/** The release command of a deployment failed. The old containers were not touched. */
export class ReleaseError extends AppError {
  readonly lines: readonly string[];

  constructor(reason: string, lines: readonly string[]) {
    const last = lines.at(-1);
    const line = last ? `. Last line: ${last.slice(0, 300)}` : '';
    super(502, 'RELEASE_FAILED', `The release command ${reason}${line}`);
    this.lines = lines;
  }
}

const LAST_LINES = 100;

/**
 * Runs the app's release command in the new image, for example to migrate a database, and waits for
 * its end. It is listed among the runs of the app.
 *
 * @throws ReleaseError for another exit code than 0.
 */
export async function runRelease(
  runs: AppRuns,
  app: HostedApp,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<void> {
  const command = app.spec.release;
  if (!command) return;
  const { run, log } = await runs.release({ app, deployment, command, signal });
  if (run.status === 'done') return;
  const reason =
    run.status === 'failed' ? `ended with exit code ${run.exit_code}` : WORDS[run.status];
  throw new ReleaseError(reason, log.split('\n').filter(Boolean).slice(-LAST_LINES));
}

const WORDS = {
  running: 'goes on',
  timeout: 'took too long and was stopped',
  stopped: 'was stopped',
  lost: 'was removed by another program',
} as const;
