import type { Deployment, HostedApp } from './app.ts';

/**
 * The status of a run. `lost`: its container is gone, so its end is not known. `stopped`: a
 * call has ended it, or the app was stopped.
 */
export const RUN_STATUSES = ['running', 'done', 'failed', 'timeout', 'stopped', 'lost'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A command in a container of its own. Times are ISO 8601 text in UTC. */
export interface Run {
  /** A UUID of version 7: ids sort by the time of the run. */
  readonly id: string;
  readonly app_id: string;
  /** What it is for. A `release` belongs to a deployment and ends with it. */
  readonly purpose: 'call' | 'cron' | 'release';
  /** The name of the schedule that started it; null for any other run. */
  readonly cron: string | null;
  readonly command: readonly string[];
  readonly status: RunStatus;
  readonly exit_code: number | null;
  /** The number of the deployment whose image it runs. */
  readonly deployment: number;
  readonly timeout_s: number;
  /** The time of the schedule that this run is for. */
  readonly at: string | null;
  /** The container's id. Null until the container has been created. */
  readonly container: string | null;
  readonly started_at: string;
  readonly finished_at: string | null;
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
