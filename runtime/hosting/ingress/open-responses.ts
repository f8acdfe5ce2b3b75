import { readFileSync } from 'node:fs';

/** Counts the responses and sockets that are open, for each app, and says when there are too many. */
export interface OpenResponses {
  /** Takes a place for one more. @returns how to give it back; null when the app has as many as it may have. */
  enter(appId: string, max: number): (() => void) | null;
}

/** Descriptors that the process needs for everything else: listeners, files, clients that have not asked yet. */
const RESERVE = 512;
/** Of all descriptors, this part is one app's at most, and from the second part on only apps with few open get more. */
const ONE_APP = 0.75;
const ALL_APPS = 0.9;
const FEW = 16;

/**
 * @param descriptors How many files and sockets the process may have open. A response takes two: the client's and the
 * target's connection.
 */
export function createOpenResponses(descriptors = descriptorLimit()): OpenResponses {
  const capacity = Math.max(FEW, (descriptors - RESERVE) / 2);
  const counts = new Map<string, { open: number }>();
  let total = 0;
  return {
    enter(appId, max) {
      let count = counts.get(appId);
      if (!count) counts.set(appId, (count = { open: 0 }));
      const isFull = count.open >= max || count.open >= capacity * ONE_APP;
      if (isFull || (count.open >= FEW && total >= capacity * ALL_APPS)) return null;
      count.open += 1;
      total += 1;
      return leaveOnce(count);
    },
  };

  function leaveOnce(count: { open: number }): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      count.open -= 1;
      total -= 1;
    };
  }
}

/** Node has raised its limit as far as the system lets it when it started. Elsewhere than on Linux it is not known. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return line ? Number(line[1]) : Infinity;
  } catch {
    return Infinity;
  }
}
