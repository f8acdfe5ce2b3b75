import type { Deployment, HostedApp } from './app.ts';
import type { RowOf, RunStatus } from './tables.ts';

export const RUN_STATUSES = [
  'running',
  'done',
  'failed',
  'timeout',
  'stopped',
  'lost',
] as const satisfies readonly RunStatus[];

/**
 * A command in a container of its own, which has no id until it was created. A `release` belongs to
 * a deployment and ends with it. `at` is the time of the schedule `cron` that the run is for.
 */
export interface Run extends Readonly<Omit<RowOf<'hosting_runs'>, 'command' | 'log'>> {
  readonly command: readonly string[];
}

/** What a caller, a schedule or a deployment asks for. */
export interface RunRequest {
  readonly command: readonly string[];
  readonly timeout_s?: number;
  readonly purpose?: Run['purpose'];
  readonly cron?: string;
  readonly at?: string;
}

/** Runs the command of a deployment before its containers start. */
type RunRelease = (asked: {
  readonly app: HostedApp;
  readonly deployment: Pick<Deployment, 'number'>;
  readonly command: readonly string[];
  readonly signal: AbortSignal;
}) => Promise<{ readonly run: Run; readonly log: string }>;

/** What deployments and stops ask of the runs of an app. */
export interface AppRuns {
  /** Runs the release command of a deployment to its end. An abort stops it. */
  readonly release: RunRelease;
  /** Stops all runs of an app, because it is stopped or deleted. */
  stopAll(appId: string): Promise<void>;
}

/** The seconds of a run that names no other limit. */
export const DEFAULT_TIMEOUT_S = 3600;

/** A run as the API shows it. */
export function showRun(run: Run, app: string): Record<string, unknown> {
  const { id, cron, command, status, exit_code, started_at, finished_at } = run;
  return { id, app, cron, command, status, exit_code, started_at, finished_at };
}
