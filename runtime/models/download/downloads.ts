import { once } from 'node:events';
import { createSemaphore, type Logger } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Model } from '../model.ts';
import { fetchFiles } from './fetch-files.ts';
import { type Hub, HubError } from './hub.ts';
import { makePlan, type Plan } from './plan.ts';
import type { ModelStore } from './model-store.ts';

/** How far a download has come, in bytes. */
export interface Progress {
  readonly bytes: number;
  readonly total: number;
}

export interface DownloadsOptions {
  readonly hub: Hub;
  readonly modelStore: ModelStore;
  readonly log: Logger;
  /** Bytes of the disk that downloads must leave free. */
  readonly floor: number;
  /** The most bytes of one model. */
  readonly maxSize: number;
  /** Free bytes of the disk; in a server, those of the model store's disk. */
  readonly free: () => Promise<number>;
  readonly pause: number;
  readonly onChange: (
    id: string,
    status: 'downloading' | 'downloaded' | 'cancelled' | 'failed' | 'stopped',
  ) => void;
}

interface Job {
  readonly plan: Plan;
  readonly abort: AbortController;
  bytes: number;
  done: Promise<void>;
}

const MAX_PARALLEL = 2;
const META_TIMEOUT = 20_000;
const REPORT_INTERVAL = 250;
const CANCELLED = new AppError(409, 'CANCELLED', 'The download was cancelled');
const STOPPED = new AppError(503, 'STOPPED', 'The server stops');

/** Downloads, one for each model. They outlive the call that began them, and a restart. */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #jobs = new Map<string, Job>();
  readonly #beginning = new Map<string, Promise<void>>();
  readonly #problems = new Map<string, string>();
  readonly #places = createSemaphore(MAX_PARALLEL);

  constructor(options: DownloadsOptions) {
    this.#options = options;
  }

  /**
   * Begins a download, or joins the running one. Resolves when the download is known to be
   * possible.
   *
   * @throws AppError 404 when the hub has no such model, 502 when the hub is unavailable, 507 when
   * the disk has too little space.
   */
  begin(model: Model): Promise<void> {
    if (this.#jobs.has(model.id)) return Promise.resolve();
    const joined = this.#beginning.get(model.id);
    if (joined) return joined;
    const begun = this.#begin(model).finally(() => this.#beginning.delete(model.id));
    this.#beginning.set(model.id, begun);
    return begun;
  }

  /** Cancels a download and deletes its files. Returns false when there is none. */
  async cancel(id: string): Promise<boolean> {
    await this.#beginning.get(id)?.catch(() => {});
    const job = this.#jobs.get(id);
    if (job) {
      job.abort.abort(CANCELLED);
      await job.done;
      return true;
    }
    if (!(await this.#options.modelStore.plan(id))) return false;
    await this.#options.modelStore.discard(id);
    this.#problems.delete(id);
    return true;
  }

  progress(id: string): Progress | undefined {
    const job = this.#jobs.get(id);
    return job && { bytes: job.bytes, total: job.plan.size };
  }

  /** The plans of the running downloads. */
  running(): readonly Plan[] {
    return [...this.#jobs.values()].map(({ plan }) => plan);
  }

  /** The reason why the last download of this model failed. */
  problem(id: string): string | undefined {
    return this.#problems.get(id);
  }

  /** Continues the downloads that an earlier process did not finish. */
  async resume(): Promise<void> {
    const { modelStore } = this.#options;
    for (const plan of await modelStore.unfinished())
      if (!this.#jobs.has(plan.id)) this.#run(plan, await modelStore.arrived(plan));
  }

  /** Stops all downloads and keeps their files. */
  async stop(): Promise<void> {
    const running = [...this.#jobs.values()];
    for (const { abort } of running) abort.abort(STOPPED);
    await Promise.all(running.map(({ done }) => done));
  }

  async #begin(model: Model): Promise<void> {
    const { modelStore } = this.#options;
    const known = await modelStore.plan(model.id);
    const plan = known ?? (await this.#planOf(model));
    this.#assertSize(plan);
    const arrived = await modelStore.arrived(plan);
    await this.#assertRoom(plan.size - arrived);
    if (!known) await modelStore.savePlan(plan);
    this.#problems.delete(model.id);
    this.#run(plan, arrived);
  }

  async #planOf(model: Model): Promise<Plan> {
    try {
      return makePlan(
        model,
        await this.#options.hub.describe(
          model.id,
          model.revision,
          AbortSignal.timeout(META_TIMEOUT),
        ),
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = error instanceof HubError ? error.message : 'it does not answer in time';
      throw new AppError(
        502,
        'HUB_UNREACHABLE',
        `The hub cannot be asked for ${model.id}: ${reason}`,
        { cause: error },
      );
    }
  }

  #assertSize({ id, size }: Plan): void {
    const { maxSize } = this.#options;
    if (size <= maxSize) return;
    throw failure.tooLarge(
      `${id} has ${megabytes(size)}, and hosting.models.max_size is ${megabytes(maxSize)}`,
    );
  }

  /** Throws when the disk is too full. Bytes that other downloads will write are not free. */
  async #assertRoom(left: number, except?: Job): Promise<void> {
    const promised = [...this.#jobs.values()]
      .filter((job) => job !== except)
      .reduce((sum, { plan, bytes }) => sum + plan.size - bytes, 0);
    const room = (await this.#options.free()) - promised - this.#options.floor;
    if (left <= room) return;
    throw new AppError(
      507,
      'DISK_FULL',
      'Not enough disk: ' +
        `${megabytes(left)} more are needed and ${megabytes(Math.max(0, room))} may be used: ` +
        'make room, or lower hosting.disk_floor',
    );
  }

  #run(plan: Plan, arrived: number): void {
    const { onChange } = this.#options;
    const job: Job = {
      plan,
      abort: new AbortController(),
      bytes: arrived,
      done: Promise.resolve(),
    };
    this.#jobs.set(plan.id, job);
    const ended = this.#work(job).then(
      () => 'downloaded' as const,
      (error: unknown) => this.#fail(job, error),
    );
    job.done = ended.then((status) => {
      this.#jobs.delete(plan.id);
      onChange(plan.id, status);
    });
    onChange(plan.id, 'downloading');
  }

  async #work(job: Job): Promise<void> {
    const { hub, modelStore, log, pause, onChange } = this.#options;
    const {
      plan,
      abort: { signal },
    } = job;
    let reported = 0;
    const onProgress = (bytes: number) => {
      job.bytes = bytes;
      if (Date.now() - reported < REPORT_INTERVAL) return;
      reported = Date.now();
      onChange(plan.id, 'downloading');
    };
    const assertRoom = () => this.#assertRoom(plan.size - job.bytes, job);
    const release = await takeSlot(this.#places, signal);
    await fetchFiles({ hub, modelStore, plan, signal, onProgress, pause, assertRoom }).finally(
      release,
    );
    signal.throwIfAborted();
    await modelStore.place(plan);
    log.info(`the model ${plan.id} is here`);
  }

  /** Handles a failure. The files are kept if a later try can succeed, and deleted otherwise. */
  async #fail(
    { plan, abort: { signal } }: Job,
    error: unknown,
  ): Promise<'cancelled' | 'failed' | 'stopped'> {
    if (signal.reason === STOPPED) return 'stopped';
    if (signal.reason === CANCELLED) {
      await this.#discard(plan);
      return 'cancelled';
    }
    if (!(error instanceof AppError))
      this.#options.log.error(
        { stack: (error as Error).stack },
        `the download of ${plan.id} failed`,
      );
    this.#problems.set(
      plan.id,
      error instanceof AppError ? error.message : 'The download cannot be written to the disk',
    );
    const mayGoOn = error instanceof AppError && error.code === 'HUB_UNREACHABLE';
    if (!mayGoOn) await this.#discard(plan);
    return 'failed';
  }

  async #discard({ id }: Plan): Promise<void> {
    const { modelStore, log } = this.#options;
    await modelStore
      .discard(id)
      .catch((error: Error) =>
        log.error({ stack: error.stack }, `what the download of ${id} left cannot be removed`),
      );
  }
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;

/** Waits for a download slot, and releases it at once if the download was cancelled meanwhile. */
async function takeSlot(
  places: ReturnType<typeof createSemaphore>,
  signal: AbortSignal,
): Promise<() => void> {
  signal.throwIfAborted();
  const place = places.acquire();
  const cancelled = once(signal, 'abort').then(() => Promise.reject(signal.reason as Error));
  return Promise.race([place, cancelled]).catch((error: unknown) => {
    void place.then((release) => release());
    throw error;
  });
}

/** The error of an operation that needs a downloaded model. */
export const notDownloaded = (id: string) =>
  failure.conflict(`${id} is not downloaded: POST /api/mlx/models/${id}/download`);
