import type { RequestContext } from '../context/request-context.ts';
import type { StandardSchema } from '../routes/standard-schema.ts';

/** The parameters of a job's function. */
export interface JobCall<Data = any, Context = RequestContext> {
  readonly data: Data;
  /** No rules apply. Its signal is aborted at the timeout, and when the job is cancelled. */
  readonly ctx: Context;
  readonly job: RunningJob;
}

export interface RunningJob {
  readonly id: number;
  readonly name: string;
  /** 1 for the first one. */
  readonly attempt: number;
}

/** The parameters of `failed`. */
export interface FailedCall<Data = any, Context = RequestContext> extends JobCall<Data, Context> {
  /** What the last attempt threw. */
  readonly error: unknown;
}

/**
 * A file of `src/jobs/`. The emitted `types.Job` is narrower. Functions return `void` here, which
 * every function is assignable to, so that the type of a job never depends on what it returns: it
 * may send itself.
 */
export interface JobOf<Context = RequestContext, Data = any> {
  /** An input type by its name, or a Standard Schema: data is checked when it is sent. */
  readonly input?: string | StandardSchema;
  /** 5 when absent. */
  readonly attempts?: number;
  /** Waits between attempts: 1s, doubled each time, at most 1h when absent. */
  readonly backoff?: {
    readonly initial?: string;
    readonly factor?: number;
    readonly max?: string;
  };
  /** How long an attempt may take: 60s when absent. */
  readonly timeout?: string;
  /** How many may run at once over all servers: for the job, or for each key. */
  readonly concurrency?:
    | number
    | { readonly limit: number; readonly key: (data: Data) => string | number };
  /** Whether the job's writes and its completion are committed together. */
  readonly transaction?: boolean;
  /** A cron pattern of 5 or 6 fields: the job is sent at each of its times. */
  readonly schedule?: string;
  /** Of `schedule`: an IANA name. UTC when absent. */
  readonly timezone?: string;
  /** What happens with the times of `schedule` at which no server ran; `skip` when absent. */
  readonly missed?: 'skip' | 'once';
  run(call: JobCall<Data, Context>): void;
  /** Called after the last attempt has failed. */
  failed?(call: FailedCall<Data, Context>): void;
}

/** The data of each job, by the type of its file. */
export type JobsOf<Files> = { readonly [Name in keyof Files]: DataOf<Files[Name]> };

type DataOf<File> = File extends { run(call: infer Call): any }
  ? Call extends { readonly data: infer Data }
    ? Data
    : unknown
  : unknown;

export interface SendOptions {
  /** Not before this time: a Date or ISO 8601 text. */
  readonly at?: Date | string;
  /** A time to wait before the job may run: `10m`. */
  readonly delay?: string;
  /** Jobs with a higher number run first; 0 when absent. */
  readonly priority?: number;
  /** Instead of the job's own. */
  readonly attempts?: number;
  /** While a job of this name and key waits, none is added, and its id is the answer. */
  readonly key?: string;
  /** With `key`: whether the waiting job gets the new data and time. */
  readonly replace?: boolean;
}

export const JOB_STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;

export type JobState = (typeof JOB_STATES)[number];

/** A job as the API shows it. Times are ISO 8601. */
export interface JobRecord<Data = unknown> {
  readonly id: number;
  readonly name: string;
  readonly state: JobState;
  /** Attempts that have begun. */
  readonly attempt: number;
  readonly attempts: number;
  readonly at: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** The error of the last failed attempt. */
  readonly error: string | null;
  readonly data: Data;
}

/** The argument for the data of a job. It may be left out for a job without data. */
type DataArgument<Data> = unknown extends Data
  ? [data?: Data]
  : undefined extends Data
    ? [data?: Data]
    : [data: Data];

/** `ctx.jobs`. `Jobs` has the data of each job by its name. */
export interface JobsApi<Jobs = any> {
  /**
   * Sends a job. Inside a transaction it exists if and only if that commits.
   *
   * @returns its id.
   * @throws AppError `BAD_USER_INPUT` when the data does not pass the check of `input`
   */
  send<Name extends keyof Jobs & string>(
    name: Name,
    ...given: [...DataArgument<Jobs[Name]>, options?: SendOptions]
  ): Promise<number>;
  /**
   * Sends a job for each element of the list, all or none. @returns their ids, in the same order.
   */
  sendMany<Name extends keyof Jobs & string>(
    name: Name,
    list: readonly Jobs[Name][],
    options?: SendOptions,
  ): Promise<number[]>;
  /** The job, or null when there is none with this id. */
  get(id: number): Promise<JobRecord | null>;
  /**
   * Cancels a waiting job; the signal of a running one is aborted. @returns whether it was waiting
   * or running.
   */
  cancel(id: number): Promise<boolean>;
}
