import { createLoop, type Loop } from '../host/loop.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { createDepartures, type Departures } from './departures.ts';
import type { MoveParts } from './parts.ts';

/** The moves of apps from this server and to it. */
export interface Moves extends Loop {
  readonly departures: Departures;
  readonly arrivals: Arrivals;
  /** Called when the apps are loaded, before anything is started. */
  recover(): Promise<void>;
}

const TICK = 1000;

export function createMoves(parts: MoveParts): Moves {
  const departures = createDepartures(parts);
  const arrivals = createArrivals(parts);
  const loop = createLoop({
    pause: () => TICK,
    async work() {
      if (parts.connection.info() === null) return;
      await departures.look();
      await arrivals.look();
    },
    onError: (error) => parts.log.warn(`moves: ${error.message}`),
  });
  return {
    departures,
    arrivals,
    async recover() {
      await departures.recover();
      await arrivals.recover();
    },
    start: loop.start,
    async stop() {
      arrivals.stop();
      await loop.stop();
    },
  };
}
