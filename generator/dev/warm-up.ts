import { setTimeout as wait } from 'node:timers/promises';

/** After this number of runs V8 has compiled the hot code. */
const RUNS = 20;

/** Milliseconds of CPU for all trial runs together: a large project gets fewer runs. */
const CPU_BUDGET = 2_000;

/** Milliseconds between two trial runs, so that a save is noticed in time. */
const PAUSE = 20;

/** Idle milliseconds before the first trial run: the starting server needs the processor. */
const IDLE_DELAY = 1_000;

/** Runs the generator in idle time for its speed only: nothing is written. */
export interface WarmUp {
  /** Continues until the number of runs or their CPU time is used up. */
  start(): void;
  /** Starts no more runs: a save waits for the end of at most one run. */
  stop(): void;
}

/**
 * The first run in a process takes four times the CPU of the twentieth, because V8 has not compiled
 * its code yet. So `dev` makes trial runs (`trial-save.ts`) while it is idle, and the first save is
 * as fast as the twentieth.
 */
export function createWarmUp(run: () => Promise<unknown>, spent = cpuTime): WarmUp {
  const state = { left: RUNS, budget: CPU_BUDGET, wanted: false, going: false };
  let timer: NodeJS.Timeout | undefined;
  const go = async () => {
    if (state.going) return;
    state.going = true;
    for (; state.wanted && state.left > 0; state.left--) {
      const before = spent();
      // A real run reports the same failure.
      await run().catch(() => (state.left = 0));
      const took = spent() - before;
      state.budget -= took;
      if (state.budget < took) state.left = 0;
      await wait(PAUSE, undefined, { ref: false });
    }
    state.going = false;
  };
  return {
    start: () => {
      state.wanted = true;
      clearTimeout(timer);
      if (state.left > 0) timer = setTimeout(() => void go(), IDLE_DELAY).unref();
    },
    stop: () => {
      state.wanted = false;
      clearTimeout(timer);
    },
  };
}

/** Milliseconds of CPU that this process has used. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
