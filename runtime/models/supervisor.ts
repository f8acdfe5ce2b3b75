import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@twofold/runtime/kernel';
import { AppError } from '@twofold/runtime/errors';
import type { Endpoint, OneEngine } from './engine/engine.ts';
import type { LocalModel } from './model.ts';

/** The current state. `endpoint` is set while the model answers. */
export interface RunState {
  readonly state: 'stopped' | 'starting' | 'running' | 'restarting';
  readonly model: LocalModel | null;
  readonly endpoint: Endpoint | null;
}

export interface SupervisorOptions {
  readonly log: Logger;
  readonly now: () => number;
  readonly onChange: (state: RunState) => void;
  /** Milliseconds to wait before the first restart. Doubled each time, up to half a minute. */
  readonly pause: number;
}

const MAX_PAUSE = 30_000;
/** After this many crashes within a minute the model is not restarted. */
const MAX_CRASHES = 5;
const CRASH_WINDOW = 60_000;

const STOPPED: RunState = { state: 'stopped', model: null, endpoint: null };

/** One run of a model, including its restarts. */
interface Run {
  readonly engine: OneEngine;
  readonly model: LocalModel;
  readonly signal: AbortSignal;
  /** Times of the crashes in the last minute. */
  readonly crashes: number[];
}

/** Keeps one model running: restarts it after a crash, and gives up after too many. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #problems = new Map<string, string>();
  #current = STOPPED;
  #engine: OneEngine | undefined;
  #abort = new AbortController();
  #starting: { readonly id: string; readonly done: Promise<void> } | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts a model and resolves when it answers. The running model is stopped first, also the same
   * model if it hangs. A running start of another model is cancelled.
   */
  async start(engine: OneEngine, model: LocalModel): Promise<void> {
    if (await this.#answers(engine, model)) return;
    if (this.#starting?.id === model.id) return this.#starting.done;
    const signal = this.#callOff();
    const done = this.#inTurn(() => this.#begin({ engine, model, signal, crashes: [] })).finally(
      () => {
        if (this.#starting?.done === done) this.#starting = undefined;
      },
    );
    this.#starting = { id: model.id, done };
    return done;
  }

  stop(): Promise<void> {
    this.#callOff();
    return this.#inTurn(() => this.#end());
  }

  now(): RunState {
    return this.#current;
  }

  /** The reason why a model ended without `stop`. */
  problem(id: string): string | undefined {
    return this.#problems.get(id);
  }

  /** Whether this model runs and answers. If it does not answer, a start replaces it. */
  async #answers(engine: OneEngine, { id }: LocalModel): Promise<boolean> {
    const runs = () =>
      this.#starting === undefined &&
      this.#current.state === 'running' &&
      this.#current.model?.id === id;
    return runs() && (await engine.health()) && runs();
  }

  #set(state: RunState): void {
    this.#current = state;
    this.#options.onChange(state);
  }

  /** Runs starts and stops in sequence, because a start during a stop could leave a process. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => {});
    return result;
  }

  /** Cancels a running start and a waiting restart. */
  #callOff(): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#starting = undefined;
    return this.#abort.signal;
  }

  async #begin(run: Run): Promise<void> {
    const { engine, model, signal } = run;
    await this.#end();
    if (signal.aborted)
      throw new AppError(
        409,
        'CONFLICT',
        `The start of ${model.id} was called off by another call`,
      );
    this.#engine = engine;
    this.#problems.delete(model.id);
    this.#set({ state: 'starting', model, endpoint: null });
    try {
      await this.#launch(run);
    } catch (error) {
      this.#problems.set(model.id, (error as Error).message);
      this.#set(STOPPED);
      throw error;
    }
  }

  async #launch(run: Run): Promise<void> {
    const { engine, model, signal } = run;
    const endpoint = await engine.start(model, {
      signal,
      onExit: (reason) => void this.#onExit(run, reason),
    });
    this.#set({ state: 'running', model, endpoint });
  }

  async #end(): Promise<void> {
    await this.#engine?.stop();
    this.#engine = undefined;
    if (this.#current !== STOPPED) this.#set(STOPPED);
  }

  async #onExit(run: Run, reason: string): Promise<void> {
    const { log, now, pause } = this.#options;
    const { model, signal, crashes } = run;
    if (signal.aborted) return;
    const at = now();
    crashes.push(at);
    while ((crashes[0] as number) < at - CRASH_WINDOW) crashes.shift();
    log.warn(`${model.id} has ended: ${reason}`);
    this.#problems.set(model.id, reason);
    if (crashes.length >= MAX_CRASHES) {
      log.error(`${model.id} ended ${MAX_CRASHES} times within a minute and is not started again`);
      return this.#set(STOPPED);
    }
    this.#set({ state: 'restarting', model, endpoint: null });
    const waited = await sleep(Math.min(pause * 2 ** (crashes.length - 1), MAX_PAUSE), true, {
      signal,
      ref: false,
    }).catch(() => false);
    if (waited) await this.#inTurn(() => this.#again(run));
  }

  async #again(run: Run): Promise<void> {
    if (run.signal.aborted) return;
    // `#onExit` is not awaited, because it queues the next try itself.
    await this.#launch(run).catch((error: Error) => void this.#onExit(run, error.message));
  }
}
