import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AppError } from '../../errors.ts';
import type { Endpoint, ModelEngine } from './engine/engine.ts';
import type { LocalModel } from './model.ts';

/** What runs now. `endpoint` is there while the model answers. */
export interface RunState {
  readonly state: 'stopped' | 'starting' | 'running' | 'restarting';
  readonly model: LocalModel | null;
  readonly endpoint: Endpoint | null;
}

/** Keeps one model running: starts it, starts it again when it crashes, and gives up on one that always does. */
export interface Supervisor {
  /** Resolves when the model answers; what ran before is stopped first. A start that is going on for another is called off. */
  start(engine: ModelEngine, model: LocalModel): Promise<void>;
  stop(): Promise<void>;
  now(): RunState;
  /** Why a model ended that nobody stopped. */
  problem(id: string): string | undefined;
}

export interface SupervisorOptions {
  readonly log: Logger;
  readonly now: () => number;
  readonly onChange: (state: RunState) => void;
  /** First pause before a crashed model is started again, in milliseconds; doubled each time, up to half a minute. */
  readonly pause: number;
}

const LONGEST = 30_000;
/** So many ends within a minute are no accident. */
const CRASHES = 5;
const WITHIN = 60_000;

const STOPPED: RunState = { state: 'stopped', model: null, endpoint: null };

export function createSupervisor({ log, now, onChange, pause }: SupervisorOptions): Supervisor {
  let current = STOPPED;
  let engine: ModelEngine | undefined;
  let abort = new AbortController();
  let starting: { readonly id: string; readonly done: Promise<void> } | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const problems = new Map<string, string>();

  const set = (state: RunState) => {
    current = state;
    onChange(state);
  };
  /** One after the other: a start and a stop at the same time would leave a process that nobody knows. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work, work);
    turn = result.catch(() => {});
    return result;
  };
  /** Calls off what is being started, and restarts that wait. */
  const callOff = (): AbortSignal => {
    abort.abort();
    abort = new AbortController();
    return abort.signal;
  };

  return {
    start(chosen, model) {
      if (starting?.id === model.id) return starting.done;
      if (current.state === 'running' && current.model?.id === model.id) return Promise.resolve();
      const signal = callOff();
      const done = inTurn(() => begin(chosen, model, signal)).finally(() => {
        if (starting?.done === done) starting = undefined;
      });
      starting = { id: model.id, done };
      return done;
    },
    stop() {
      callOff();
      return inTurn(end);
    },
    now: () => current,
    problem: (id) => problems.get(id),
  };

  async function begin(chosen: ModelEngine, model: LocalModel, signal: AbortSignal): Promise<void> {
    await end();
    if (signal.aborted) throw new AppError(409, 'CONFLICT', `The start of ${model.id} was called off by another call`);
    engine = chosen;
    problems.delete(model.id);
    set({ state: 'starting', model, endpoint: null });
    const crashes: number[] = [];
    try {
      const endpoint = await chosen.start(model, { signal, onExit: (reason) => void onExit({ engine: chosen, model, signal, crashes }, reason) });
      set({ state: 'running', model, endpoint });
    } catch (error) {
      problems.set(model.id, (error as Error).message);
      set(STOPPED);
      throw error;
    }
  }

  async function end(): Promise<void> {
    await engine?.stop();
    engine = undefined;
    if (current !== STOPPED) set(STOPPED);
  }

  interface Run {
    readonly engine: ModelEngine;
    readonly model: LocalModel;
    readonly signal: AbortSignal;
    /** Times of its ends in the last minute. */
    readonly crashes: number[];
  }

  async function onExit(run: Run, reason: string): Promise<void> {
    const { model, signal, crashes } = run;
    if (signal.aborted) return;
    const at = now();
    crashes.push(at);
    while (crashes.length > 0 && (crashes[0] as number) < at - WITHIN) crashes.shift();
    log.warn(`${model.id} has ended: ${reason}`);
    problems.set(model.id, reason);
    if (crashes.length >= CRASHES) {
      log.error(`${model.id} ended ${CRASHES} times within a minute and is not started again`);
      return set(STOPPED);
    }
    set({ state: 'restarting', model, endpoint: null });
    const waited = await sleep(Math.min(pause * 2 ** (crashes.length - 1), LONGEST), true, { signal, ref: false }).catch(() => false);
    if (waited) await inTurn(() => again(run));
  }

  async function again(run: Run): Promise<void> {
    const { engine: chosen, model, signal } = run;
    if (signal.aborted) return;
    try {
      const endpoint = await chosen.start(model, { signal, onExit: (reason) => void onExit(run, reason) });
      set({ state: 'running', model, endpoint });
    } catch (error) {
      // Not awaited: the next try takes a turn of its own.
      void onExit(run, (error as Error).message);
    }
  }
}
