import { setTimeout as wait } from 'node:timers/promises';

/** After so many runs V8 has compiled what it is going to compile. */
const RUNS = 20;

/** Milliseconds of CPU that all of them may take: a large project has fewer. */
const BUDGET = 2_000;

/** Between two of them, so that a save is seen in time; milliseconds. */
const PAUSE = 20;

/** How long nothing was saved before they begin, in milliseconds: until then the server that starts needs the processor. */
const IDLE = 1_000;

/** Runs that nobody waits for. */
export interface Rehearsal {
  /** Goes on where it was stopped, until there were enough of them or they took long enough. */
  start(): void;
  /** Begins no more of them: what is wanted next waits for one at most. */
  stop(): void;
}

/**
 * The first run in a process takes four times the CPU of the twentieth, because its code is not compiled yet. So `dev` goes
 * through some saves that nobody made (`rehearsed-save.ts`), while nothing else is to be done; a save is then as fast as the twentieth.
 */
export function createRehearsal(run: () => Promise<unknown>, spent = cpuTime): Rehearsal {
  const state = { left: RUNS, budget: BUDGET, wanted: false, going: false };
  let timer: NodeJS.Timeout | undefined;
  const go = async () => {
    if (state.going) return;
    state.going = true;
    for (; state.wanted && state.left > 0; state.left--) {
      const before = spent();
      // What is wrong with a run is said when it is a real one.
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
