import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kernel } from '../module.ts';
import type { ClaimedJob } from './claim.ts';
import type { Definitions } from './definitions.ts';
import type { Queue } from './queue.ts';
import { type Attempt, runJob } from './run-job.ts';

/** Milliseconds between two looks at the queue when no message says that there is a job. */
const POLL = 1_000;

/** Takes jobs and runs them, at most `concurrency` at a time. */
export interface Worker {
  start(): void;
  /** There may be a job in `wait` milliseconds. */
  wake(wait?: number): void;
  /** Aborts the signal of a job, if it runs here. */
  cancel(id: number): void;
  /** Stops taking jobs. */
  leave(): void;
  /** Waits for running jobs for this many milliseconds, and gives back the others. */
  stop(patience: number): Promise<void>;
  /** Gives up all running jobs, because other processes have them now. */
  abandon(): void;
}

export interface WorkerParts {
  readonly kernel: Kernel;
  readonly definitions: Definitions;
  readonly queue: Queue;
  readonly concurrency: number;
  /** Called about once a second. */
  readonly onPoll?: () => void;
}

export function createWorker(parts: WorkerParts): Worker {
  return new QueueWorker(parts);
}

class QueueWorker implements Worker {
  readonly #parts: WorkerParts;
  readonly #queue: Queue;
  readonly #running = new Map<number, Attempt>();
  readonly #finished: ClaimedJob[] = [];
  /** Jobs whose end could not be written, because the database did not answer. */
  readonly #unsettled: ClaimedJob[] = [];
  /** Jobs must not join the transaction of the code that woke this worker. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #taking = false;
  #turning: Promise<void> | undefined;
  #again = false;
  #broken = false;
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;
  #polled = -Infinity;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { queue } = parts;
    this.#queue = {
      ...queue,
      fail: async (taken, outcome) => {
        const kept = await queue.fail(taken, outcome);
        if (outcome.retryIn !== undefined) this.wake(outcome.retryIn + 1);
        return kept;
      },
    };
  }

  start(): void {
    this.#taking = true;
    this.#look();
  }

  wake(wait = 0): void {
    if (!this.#taking) return;
    if (wait <= 0) this.#look();
    else this.#wakeIn(wait);
  }

  cancel(id: number): void {
    this.#running.get(id)?.cancel();
  }

  leave(): void {
    this.#taking = false;
    clearTimeout(this.#timer);
  }

  async stop(patience: number): Promise<void> {
    this.leave();
    const deadline = performance.now() + patience;
    while (this.#running.size > 0 && performance.now() < deadline)
      await Promise.race([this.#oneEnds(), pause(deadline - performance.now())]);
    const left = [...this.#running.values()];
    for (const attempt of left) attempt.leave();
    await Promise.all(left.map(({ ended }) => ended.catch(() => {})));
    await this.#turning;
    if (this.#finished.length > 0) await this.#turnOnce();
    if (left.length > 0) await this.#queue.giveBack(left.map(({ taken }) => taken));
  }

  abandon(): void {
    for (const attempt of this.#running.values()) attempt.leave();
  }

  #oneEnds(): Promise<unknown> {
    return Promise.race([...this.#running.values()].map(({ ended }) => ended.catch(() => {})));
  }

  #wakeIn(wait: number): void {
    const due = performance.now() + Math.min(wait, POLL);
    if (this.#timer && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, due - performance.now());
  }

  /** Looks for jobs. If something happens meanwhile, it looks once more. */
  #look(): void {
    this.#again = true;
    this.#turning ??= this.#outside(() => this.#turns()).finally(() => {
      this.#turning = undefined;
      if (this.#again) this.#look();
    });
  }

  async #turns(): Promise<void> {
    while (this.#again) {
      // Jobs that end in one turn of the event loop are finished together.
      await new Promise(setImmediate);
      this.#again = false;
      await this.#turnOnce();
    }
  }

  async #turnOnce(): Promise<void> {
    const finished = this.#finished.splice(0);
    const free = this.#taking ? this.#parts.concurrency - this.#running.size : 0;
    try {
      this.#poll();
      if (finished.length > 0 || free > 0) await this.#turn(finished, free);
      await this.#settleAgain();
      this.#broken = false;
    } catch (error) {
      this.#report(error);
    }
    if (this.#taking) this.#wakeIn(POLL);
  }

  async #turn(finished: readonly ClaimedJob[], free: number): Promise<void> {
    const { taken, lost } = await this.#queue.turn(finished, free).catch((error: unknown) => {
      this.#finished.unshift(...finished);
      throw error;
    });
    for (const id of lost)
      this.#parts.kernel.log.warn({ job: id }, 'a job ended here that another server has');
    if (this.#taking) for (const each of taken) this.#begin(each);
    else await this.#queue.giveBack(taken);
  }

  async #settleAgain(): Promise<void> {
    for (const taken of this.#unsettled.splice(0))
      await this.#queue
        .fail(taken, { error: 'its end could not be written', retryIn: 0 })
        .catch((error: unknown) => {
          this.#unsettled.push(taken);
          throw error;
        });
  }

  #poll(): void {
    const now = performance.now();
    if (now - this.#polled < POLL) return;
    this.#polled = now;
    this.#parts.onPoll?.();
  }

  /** One line for an outage of the database, not one a second. */
  #report(error: unknown): void {
    if (!this.#broken)
      this.#parts.kernel.log.error(
        { stack: error instanceof Error ? error.stack : String(error) },
        'the queue of jobs does not answer: it is asked again each second',
      );
    this.#broken = true;
  }

  #begin(taken: ClaimedJob): void {
    const { kernel, definitions } = this.#parts;
    const attempt = runJob(kernel, this.#queue, definitions.get(taken.name)!, taken);
    this.#running.set(taken.id, attempt);
    void this.#end(attempt);
  }

  async #end(attempt: Attempt): Promise<void> {
    const { taken, ended } = attempt;
    try {
      if ((await ended) === 'done') this.#finished.push(taken);
    } catch (error) {
      this.#unsettled.push(taken);
      this.#report(error);
    }
    if (this.#running.get(taken.id) === attempt) this.#running.delete(taken.id);
    if (this.#taking || this.#finished.length > 0) this.#look();
  }
}

const pause = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
