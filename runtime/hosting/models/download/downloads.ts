import type { Logger } from 'pino';
import { AppError, failure } from '../../../errors.ts';
import type { Model } from '../model.ts';
import { fetchFiles } from './fetch-files.ts';
import { type Hub, HubError } from './hub.ts';
import { makePlan, type Plan } from './plan.ts';
import type { Shelf } from './shelf.ts';

/** How far a download has come, in bytes. */
export interface Progress {
  readonly bytes: number;
  readonly total: number;
}

/** Downloads that run, one for each model. They outlive the call that began them, and a restart of the server. */
export interface Downloads {
  /**
   * Begins one, or joins the one that runs. Resolves when it is known to be possible.
   *
   * @throws AppError 404 when the hub has no such model, 502 when the hub is away, 507 when the disk has no room.
   */
  begin(model: Model): Promise<void>;
  /** Ends a download and removes what it brought; false when there is none. */
  cancel(id: string): Promise<boolean>;
  progress(id: string): Progress | undefined;
  /** Why the last one ended without a model. */
  problem(id: string): string | undefined;
  /** Goes on with what an earlier run left unfinished. */
  resume(): Promise<void>;
  /** Stops all and keeps what is here. */
  stop(): Promise<void>;
}

export interface DownloadsOptions {
  readonly hub: Hub;
  readonly shelf: Shelf;
  readonly log: Logger;
  /** Bytes that stay free on the disk. */
  readonly floor: number;
  /** Free bytes of the disk; the shelf's own in a server. */
  readonly free: () => Promise<number>;
  readonly pause: number;
  readonly onChange: (id: string) => void;
}

interface Job {
  readonly plan: Plan;
  readonly abort: AbortController;
  bytes: number;
  done: Promise<void>;
}

const AT_ONCE = 2;
const META_TIMEOUT = 20_000;
const REPORT_EVERY = 250;
const CANCELLED = new AppError(409, 'CANCELLED', 'The download was cancelled');
const STOPPED = new AppError(503, 'STOPPED', 'The server stops');

export function createDownloads({ hub, shelf, log, floor, free, pause, onChange }: DownloadsOptions): Downloads {
  const jobs = new Map<string, Job>();
  const beginning = new Map<string, Promise<void>>();
  const problems = new Map<string, string>();
  const turns = createTurns(AT_ONCE);

  return {
    begin(model) {
      if (jobs.has(model.id)) return Promise.resolve();
      const joined = beginning.get(model.id);
      if (joined) return joined;
      const begun = begin(model).finally(() => beginning.delete(model.id));
      beginning.set(model.id, begun);
      return begun;
    },
    async cancel(id) {
      await beginning.get(id)?.catch(() => {});
      const job = jobs.get(id);
      if (job) {
        job.abort.abort(CANCELLED);
        await job.done;
        return true;
      }
      if (!(await shelf.plan(id))) return false;
      await shelf.discard(id);
      problems.delete(id);
      return true;
    },
    progress(id) {
      const job = jobs.get(id);
      return job && { bytes: job.bytes, total: job.plan.size };
    },
    problem: (id) => problems.get(id),
    async resume() {
      for (const plan of await shelf.unfinished()) if (!jobs.has(plan.id)) run(plan, await shelf.arrived(plan));
    },
    async stop() {
      const running = [...jobs.values()];
      for (const { abort } of running) abort.abort(STOPPED);
      await Promise.all(running.map(({ done }) => done));
    },
  };

  async function begin(model: Model): Promise<void> {
    const known = await shelf.plan(model.id);
    const plan = known ?? (await planOf(model));
    const arrived = await shelf.arrived(plan);
    await assertRoom(plan.size - arrived);
    if (!known) await shelf.savePlan(plan);
    problems.delete(model.id);
    run(plan, arrived);
  }

  async function planOf(model: Model): Promise<Plan> {
    try {
      return makePlan(model, await hub.describe(model.id, model.revision, AbortSignal.timeout(META_TIMEOUT)));
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = error instanceof HubError ? error.message : 'it does not answer in time';
      throw new AppError(502, 'HUB_UNREACHABLE', `The hub cannot be asked for ${model.id}: ${reason}`, { cause: error });
    }
  }

  /** What others have begun and not written yet is not free. */
  async function assertRoom(left: number, except?: Job): Promise<void> {
    const promised = [...jobs.values()].filter((job) => job !== except).reduce((sum, { plan, bytes }) => sum + plan.size - bytes, 0);
    const room = (await free()) - promised - floor;
    if (left <= room) return;
    throw new AppError(507, 'DISK_FULL', `Not enough disk: ${megabytes(left)} more are needed and ${megabytes(Math.max(0, room))} may be used`);
  }

  function run(plan: Plan, arrived: number): void {
    const job: Job = { plan, abort: new AbortController(), bytes: arrived, done: Promise.resolve() };
    jobs.set(plan.id, job);
    job.done = work(job).catch((error: unknown) => fail(job, error)).finally(() => {
      jobs.delete(plan.id);
      onChange(plan.id);
    });
    onChange(plan.id);
  }

  async function work(job: Job): Promise<void> {
    const { plan, abort: { signal } } = job;
    let reported = 0;
    const onProgress = (bytes: number) => {
      job.bytes = bytes;
      if (Date.now() - reported < REPORT_EVERY) return;
      reported = Date.now();
      onChange(plan.id);
    };
    await turns(signal, () => fetchFiles({ hub, shelf, plan, signal, onProgress, pause, assertRoom: () => assertRoom(plan.size - job.bytes, job) }));
    signal.throwIfAborted();
    await shelf.place(plan);
    log.info(`the model ${plan.id} is here`);
  }

  /** What may still come is kept; what never will is removed. */
  async function fail({ plan, abort: { signal } }: Job, error: unknown): Promise<void> {
    if (signal.reason === STOPPED) return;
    if (!(error instanceof AppError)) log.error({ stack: (error as Error).stack }, `the download of ${plan.id} failed`);
    if (signal.reason !== CANCELLED) problems.set(plan.id, error instanceof AppError ? error.message : 'The download cannot be written to the disk');
    const mayGoOn = error instanceof AppError && error.code === 'HUB_UNREACHABLE' && signal.reason !== CANCELLED;
    if (!mayGoOn) await shelf.discard(plan.id).catch((reason: Error) => log.error({ stack: reason.stack }, `what the download of ${plan.id} left cannot be removed`));
  }
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;

/** Lets so many work at a time; the others wait in line. */
function createTurns(count: number) {
  let free = count;
  const line: (() => void)[] = [];
  return async (signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
    if (free > 0) free -= 1;
    else await waitInLine(line, signal);
    try {
      await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else free += 1;
    }
  };
}

function waitInLine(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.splice(line.indexOf(go), 1);
      reject(signal.reason as Error);
    };
    const go = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    line.push(go);
  });
}

/** A refusal in words for an operation that needs a model to be here. */
export const notHere = (id: string) => failure.conflict(`${id} is not downloaded: POST /api/mlx/models/${id}/download`);
