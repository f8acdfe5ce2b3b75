import { AppError, failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { LABELS } from '../host/containers.ts';
import type { EngineFollower } from '../engine/connection.ts';
import { createLoop } from '../host/loop.ts';
import { deploymentNumber, type HostedApp } from '../records/app.ts';
import { carryOut, type RunControl } from './carry-out.ts';
import { listRunContainers } from './run-container.ts';
import type { RunRepository } from './run-repository.ts';
import type { AppRuns, Run, RunRequest } from '../records/run.ts';

/** A run that has begun. `done` resolves with its result, whatever it is. */
export interface BegunRun {
  readonly run: Run;
  readonly done: Promise<Run>;
}

/** Starts runs, watches them to their end, and finds those again that another server has begun. */
export interface Runner extends AppRuns, EngineFollower {
  /**
   * @throws AppError 400 for an app that was never deployed, 409 for a stopped one, 429 above the
   * limit, 503 without an engine.
   */
  begin(app: HostedApp, asked: RunRequest): Promise<BegunRun>;
  /** Watches a run whose record has just been inserted, and creates its container. */
  carry(run: Run): BegunRun;
  /** The result of a run; at once when it is finished. */
  result(run: Run): Promise<Run>;
  /** Stops a run and waits for its end. A finished one stays as it is. */
  stop(run: Run): Promise<Run>;
  start(): void;
  /** Ends the watching. The containers run on, for the next leader. */
  end(): Promise<void>;
}

/** How many runs of an app may be going on at once. */
const MAX_RUNS = 20;
/** Milliseconds between two looks for containers that could not be removed. */
const SWEEP = 30_000;

interface Carried {
  readonly run: Run;
  readonly control: RunControl;
  readonly done: Promise<Run>;
}

export function createRunner(core: Core, runs: RunRepository): Runner {
  const carried = new Map<string, Carried>();
  const abort = new AbortController();
  const ofApp = (appId: string) => [...carried.values()].filter(({ run }) => run.app_id === appId);

  const carry = (run: Run): BegunRun => {
    const known = carried.get(run.id);
    if (known) return known;
    const control: RunControl = { stop: false, wake: () => {}, signal: abort.signal };
    const done = carryOut({ core, runs, run, control }).finally(() => carried.delete(run.id));
    done.catch(() => {});
    carried.set(run.id, { run, control, done });
    return { run, done };
  };
  const stopOne = ({ control, done }: Carried): Promise<Run> => {
    control.stop = true;
    control.wake();
    return done;
  };
  const sweep = () => removeLeft(core, runs, carried);
  const loop = createLoop({
    pause: () => SWEEP,
    work: async () => {
      if (core.connection.info() !== null) await sweep();
    },
    onError: (error) => core.log.warn(`runs: ${error.message}`),
  });

  return {
    carry,
    async begin(app, asked) {
      const deployment = deploymentNumber(app);
      if (app.desired === 'stopped') throw failure.conflict('App is stopped: start it first');
      core.connection.engine();
      if (ofApp(app.id).length >= MAX_RUNS) throw tooMany();
      return carry(await runs.insert({ id: app.id, deployment }, asked));
    },
    async release(asked) {
      const of = { id: asked.app.id, deployment: asked.deployment.number };
      const begun = carry(await runs.insert(of, { command: asked.command, purpose: 'release' }));
      const { id } = begun.run;
      const stop = () => void stopOne(carried.get(id)!).catch(() => {});
      const run = await untilAborted(begun, asked.signal, stop);
      return { run, log: (await runs.log(id)) ?? '' };
    },
    result: (run) => carried.get(run.id)?.done ?? runs.get(run.app_id, run.id),
    stop(run) {
      const known = carried.get(run.id);
      return known ? stopOne(known) : runs.get(run.app_id, run.id);
    },
    async stopAll(appId) {
      await Promise.allSettled(ofApp(appId).map(stopOne));
    },
    async recover() {
      for (const run of (await runs.unfinished()).filter(({ id }) => !carried.has(id))) {
        carry(run);
        // The deployment of this release has failed with the server that began it.
        if (run.purpose === 'release') void stopOne(carried.get(run.id)!).catch(() => {});
      }
      await sweep();
    },
    onEvent({ action, labels }) {
      if (action === 'die' || action === 'remove')
        carried.get(labels[LABELS.run] ?? '')?.control.wake();
    },
    start: loop.start,
    async end() {
      abort.abort();
      for (const { control } of carried.values()) control.wake();
      await Promise.all([
        loop.stop(),
        ...[...carried.values()].map(({ done }) => done.catch(() => {})),
      ]);
    },
  };
}

/** Removes the containers of runs that have ended. */
async function removeLeft(
  core: Core,
  runs: RunRepository,
  carried: ReadonlyMap<string, unknown>,
): Promise<void> {
  const present = await listRunContainers(core);
  const going = new Set((await runs.unfinished()).map(({ id }) => id));
  for (const [id, container] of present)
    if (!going.has(id) && !carried.has(id)) await core.connection.engine().remove(container.id);
}

/** Calls `stop` at the abort of the signal, and waits for the run's end in any case. */
async function untilAborted(
  { done }: BegunRun,
  signal: AbortSignal,
  stop: () => void,
): Promise<Run> {
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return done.finally(() => signal.removeEventListener('abort', stop));
}

const tooMany = () =>
  new AppError(
    429,
    'TOO_MANY_RUNS',
    `${MAX_RUNS} runs of this app are going on: wait for their end`,
  );
