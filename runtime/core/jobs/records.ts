import { failure } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { type Ask, askStore } from './dialect.ts';
import type { JobError } from './claim.ts';
import type { JobRecord, JobState } from './types.ts';

/** Jobs as people see them, and actions on jobs. */
export interface JobRecords {
  /** Newest first. */
  list(asked: JobFilter): Promise<Listed>;
  get(id: number): Promise<StoredJob | null>;
  stats(): Promise<JobCount[]>;
  /** @returns whether it was waiting, which ends it, or running, which is up to its process. */
  cancel(id: number): Promise<'cancelled' | 'asked' | false>;
  /** Starts a failed job again, with all its attempts. @returns whether it was failed. */
  retry(id: number): Promise<boolean>;
  /** All failed jobs, or those of a name. @returns how many */
  retryAll(name?: string): Promise<number>;
}

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly name?: string | undefined;
  readonly limit: number;
  /** The id after which the page begins. */
  readonly cursor?: number | undefined;
}

export type ListedJob = Omit<JobRecord, 'data'>;

export interface Listed {
  readonly jobs: readonly ListedJob[];
  readonly total: number;
  readonly next_cursor: string | null;
}

/** A job with all its stored data. */
export interface StoredJob extends JobRecord {
  readonly errors: readonly JobError[];
}

export interface JobCount {
  readonly name: string;
  readonly state: JobState;
  readonly count: number;
}

const COLUMNS =
  'id, name, state, attempt, attempts, at, created_at, started_at, finished_at, errors';

export function createRecords(store: Store): JobRecords {
  const ask = askStore(store);
  return {
    list: (asked) => list(ask, asked),
    get: async (id) => {
      if (!Number.isSafeInteger(id)) return null;
      const [row] = await ask<Row>(`select ${COLUMNS}, data from twofold_jobs where id = ?`, [id]);
      return row ? { ...show(row), data: JSON.parse(row.data), errors: errorsOf(row) } : null;
    },
    stats: async () => {
      const rows = await ask<JobCount>(
        'select name, state, count(*) as count from twofold_jobs group by name, state order by name, state',
      );
      return rows.map((row) => ({ ...row, count: Number(row.count) }));
    },
    cancel: (id) => cancel(ask, id),
    retry: async (id) => (await retry(ask, 'id = ?', id)) === 1,
    retryAll: (name) => (name === undefined ? retry(ask) : retry(ask, 'name = ?', name)),
  };
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly attempts: number;
  readonly at: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly errors: string | null;
  readonly data: string;
}

async function list(ask: Ask, { state, name, limit, cursor }: JobFilter): Promise<Listed> {
  const conditions: [string, unknown][] = [];
  if (state !== undefined) conditions.push(['state = ?', state]);
  if (name !== undefined) conditions.push(['name = ?', name]);
  const where = (all: typeof conditions) =>
    all.length === 0 ? '' : `where ${all.map(([text]) => text).join(' and ')}`;
  const values = (all: typeof conditions) => all.map(([, value]) => value);
  const [counted] = await ask(
    `select count(*) as total from twofold_jobs ${where(conditions)}`,
    values(conditions),
  );
  const after =
    cursor === undefined ? conditions : [...conditions, ['id < ?', cursor] as [string, unknown]];
  const rows = await ask<Row>(
    `select ${COLUMNS} from twofold_jobs ${where(after)} order by id desc limit ?`,
    [...values(after), limit + 1],
  );
  const jobs = rows.slice(0, limit).map(show);
  return {
    jobs,
    total: Number(counted?.['total']),
    next_cursor: rows.length > limit ? String(jobs.at(-1)!.id) : null,
  };
}

function show(row: Row): ListedJob {
  const { id, name, state, attempt, attempts } = row;
  return {
    id,
    name,
    state,
    attempt,
    attempts,
    at: timeOf(row.at),
    created_at: timeOf(row.created_at),
    started_at: row.started_at === null ? null : timeOf(row.started_at),
    finished_at: row.finished_at === null ? null : timeOf(row.finished_at),
    error: state === 'done' ? null : (errorsOf(row).at(-1)?.message ?? null),
  };
}

const timeOf = (milliseconds: number) => new Date(milliseconds).toISOString();

const errorsOf = ({ errors }: Row): JobError[] =>
  errors === null ? [] : (JSON.parse(errors) as JobError[]);

async function cancel(ask: Ask, id: number): Promise<'cancelled' | 'asked' | false> {
  if (!Number.isSafeInteger(id)) return false;
  const [row] = await ask(
    `update twofold_jobs set
       stop = case state when 'running' then 1 else 0 end,
       finished_at = case state when 'running' then null else $now end,
       state = case state when 'running' then 'running' else 'cancelled' end
     where id = ? and state in ('waiting', 'running') returning state`,
    [id],
  );
  if (!row) return false;
  return row['state'] === 'running' ? 'asked' : 'cancelled';
}

async function retry(ask: Ask, condition = '1 = 1', ...values: unknown[]): Promise<number> {
  const rows = await ask(
    `update twofold_jobs set state = 'waiting', attempt = 0, at = $now, finished_at = null, stop = 0
     where state = 'failed' and ${condition} returning id`,
    values,
  );
  return rows.length;
}

/** @throws AppError 404 */
export function found<T>(record: T | null): T {
  if (record === null) throw failure.notFound('Job not found');
  return record;
}
