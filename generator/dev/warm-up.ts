import { setTimeout as wait } from 'node:timers/promises';

/** After so many runs V8 has compiled what it is going to compile. */
const RUNS = 20;

/** Milliseconds of CPU that all of them may take: a large project has fewer. */
const BUDGET = 2_000;

/** Between two of them, so that a save is seen in time; milliseconds. */
const PAUSE = 20;

/** Idle milliseconds before they begin: until then the server that starts needs the processor. */
const IDLE = 1_000;

/** Trial runs in idle time. */
export interface WarmUp {
  /** Goes on where it was stopped, until the number of runs or their CPU time is used up. */
  start(): void;
  /** Begins no more runs: a save waits for the end of one run at most. */
  stop(): void;
}

/**
 * The first run in a process takes four times the CPU of the twentieth, because V8 has not compiled its code yet. So `dev` makes
 * trial runs (`trial-save.ts`) while it is idle: the first save is then as fast as the twentieth.
 */
export function createWarmUp(run: () => Promise<unknown>, spent = cpuTime): WarmUp {
  const state = { left: RUNS, budget: BUDGET, wanted: false, going: false };
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
      if (state.left > 0) timer = setTimeout(() => void go(), IDLE).unref();
    },
    stop: () => {
      state.wanted = false;
      clearTimeout(timer);
    },
  };
}

/** Milliseconds of CPU that this process has taken. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
