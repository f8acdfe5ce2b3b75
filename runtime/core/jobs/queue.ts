import type { Store } from '../store/store.ts';
import { claimJobs, type ClaimedJob } from './claim.ts';
import type { Definitions } from './definitions.ts';
import { type Ask, askIn, askStore } from './dialect.ts';

/** The jobs that one process runs. Only the process that took a job last can finish it. */
export interface Queue {
  /**
   * Finishes some jobs and takes others, in one transaction.
   *
   * @returns the taken ones, first those that run first, and the ids of finished ones that this
   * process has lost.
   */
  turn(finished: readonly ClaimedJob[], free: number): Promise<TickBatch>;
  /** Finishes a job in the running transaction. @returns false when this process has lost it. */
  complete(taken: ClaimedJob): Promise<boolean>;
  /** Ends a failed attempt. Without `retryIn` (milliseconds) it was the last one. */
  fail(taken: ClaimedJob, outcome: Failed): Promise<boolean>;
  /** Gives jobs back. Their attempt does not count. */
  giveBack(taken: readonly ClaimedJob[]): Promise<void>;
  /** The ids of this process's running jobs that were cancelled. */
  cancelled(): Promise<number[]>;
}

export interface TickBatch {
  readonly taken: readonly ClaimedJob[];
  readonly lost: readonly number[];
}

export interface Failed {
  readonly error: string;
  readonly retryIn: number | undefined;
}

export interface QueueParts {
  readonly store: Store;
  readonly definitions: Definitions;
  /** The id of this process. */
  readonly owner: string;
  /** If set, only this job is taken. */
  readonly only?: number | undefined;
}

export function createQueue(parts: QueueParts): Queue {
  const { store, owner } = parts;
  const claiming = claimJobs(parts);
  const ask = askStore(store);
  return {
    turn: async (finished, free) => {
      if (claiming.single && finished.length === 0)
        return { taken: free > 0 ? await claiming(ask, free) : [], lost: [] };
      return store.transact(async (query) => {
        const asking = askIn(store, query);
        const lost = await finish(asking, finished);
        return { taken: free > 0 ? await claiming(asking, free) : [], lost };
      });
    },
    complete: async (taken) => (await finish(ask, [taken])).length === 0,
    fail: (taken, outcome) => fail(ask, taken, outcome),
    giveBack: (taken) => giveBack(ask, owner, taken),
    cancelled: async () => {
      const rows = await ask(
        `select id from twofold_jobs where state = 'running' and owner = ? and stop = 1`,
        [owner],
      );
      return rows.map(({ id }) => id as number);
    },
  };
}

/** @returns the ids of those that another process has taken, or that were given back. */
async function finish(ask: Ask, finished: readonly ClaimedJob[]): Promise<number[]> {
  if (finished.length === 0) return [];
  const rows = await ask(
    `update twofold_jobs set state = 'done', finished_at = $now, owner = null
     where state = 'running' and (id, fence) in $pairs returning id`,
    [JSON.stringify(finished.map(({ id, fence }) => [id, fence]))],
  );
  if (rows.length === finished.length) return [];
  const done = new Set(rows.map(({ id }) => id));
  return finished.flatMap(({ id }) => (done.has(id) ? [] : [id]));
}

/** How many errors of a job are kept, and how many characters of each. */
const ERRORS = 20;
const ERROR_LENGTH = 2_000;

/** A job that was cancelled while it ran is not tried again. */
async function fail(ask: Ask, taken: ClaimedJob, { error, retryIn }: Failed): Promise<boolean> {
  const { id, fence, attempt, errors } = taken;
  const message = error.slice(0, ERROR_LENGTH);
  const all = [...errors, { attempt, at: new Date().toISOString(), message }].slice(-ERRORS);
  const next = retryIn === undefined ? 'failed' : 'waiting';
  const rows = await ask(
    `update twofold_jobs set owner = null, errors = ?, stop = 0, at = $now + ?,
       state = case stop when 1 then 'cancelled' else '${next}' end,
       finished_at = ${retryIn === undefined ? '$now' : 'case stop when 1 then $now end'}
     where state = 'running' and id = ? and fence = ? returning id`,
    [JSON.stringify(all), retryIn ?? 0, id, fence],
  );
  return rows.length === 1;
}

/** The end of a job's run by this process: it waits again, or was cancelled meanwhile. */
export const RELEASE = `owner = null, stop = 0, at = $now,
  state = case stop when 1 then 'cancelled' else 'waiting' end,
  finished_at = case stop when 1 then $now end`;

async function giveBack(ask: Ask, owner: string, taken: readonly ClaimedJob[]): Promise<void> {
  for (const counted of [true, false]) {
    const ids = taken.flatMap(({ id, exhausted }) => (exhausted === counted ? [] : [id]));
    if (ids.length === 0) continue;
    await ask(
      `update twofold_jobs set ${counted ? 'attempt = attempt - 1, ' : ''}${RELEASE}
       where state = 'running' and owner = ? and id in $numbers`,
      [owner, JSON.stringify(ids)],
    );
  }
}
