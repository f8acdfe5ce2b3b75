import { readFileSync } from 'node:fs';

/** Counts the open responses and WebSockets of each app, and limits them. */
export interface OpenResponses {
  /**
   * Counts one more response. @returns the function to call when it ends; null when the app has
   * reached its limit.
   */
  enter(appId: string, max: number): (() => void) | null;
}

/**
 * File descriptors that are kept free for everything else: listeners, files, clients that have not
 * sent a request yet.
 */
const RESERVE = 512;
/**
 * Shares of the available descriptors: the most for one app, and the usage above which only apps
 * with few open responses get more.
 */
const MAX_SHARE_OF_APP = 0.75;
const CROWDED_SHARE = 0.9;
const FEW_RESPONSES = 16;

/**
 * @param descriptors How many files and sockets the process may have open. A response needs two:
 * the connection of the client and the connection to the target.
 */
export function createOpenResponses(descriptors = descriptorLimit()): OpenResponses {
  const capacity = Math.max(FEW_RESPONSES, (descriptors - RESERVE) / 2);
  const counts = new Map<string, { open: number }>();
  let total = 0;
  return {
    enter(appId, max) {
      let count = counts.get(appId);
      if (!count) counts.set(appId, (count = { open: 0 }));
      const isFull = count.open >= max || count.open >= capacity * MAX_SHARE_OF_APP;
      if (isFull || (count.open >= FEW_RESPONSES && total >= capacity * CROWDED_SHARE)) return null;
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

/** Node raises the limit at its start as far as allowed. Only Linux shows it in a file. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return line ? Number(line[1]) : Infinity;
  } catch {
    return Infinity;
  }
}
