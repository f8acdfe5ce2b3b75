export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** A job, as lists of the API name it. */
export interface Job {
  readonly id: number;
  readonly name: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly attempts: number;
  readonly at: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly error: string | null;
}

/** A job by its id. */
export interface WholeJob extends Job {
  readonly data: unknown;
  readonly errors: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly message: string;
  }[];
}

export interface JobCount {
  readonly name: string;
  readonly state: JobState;
  readonly count: number;
}

/** A job that is sent at set times. */
export interface JobSchedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly next_at: string | null;
}
