/** Requests that wait for an app's next route. */
export interface HoldQueue {
  /** Until the app is released, or the time is over; at once when too many wait already. */
  wait(appId: string): Promise<void>;
  release(appId: string): void;
}

/** More than this many waiting requests of one app go on at once, to be told that it is not there. */
const MAX_HELD = 10_000;

export function createHoldQueue(timeout: number): HoldQueue {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wait(appId) {
      const queue = waiting.get(appId) ?? new Set<() => void>();
      if (queue.size >= MAX_HELD) return Promise.resolve();
      waiting.set(appId, queue);
      return new Promise((resolve) => {
        const timer = setTimeout(done, timeout);
        function done(): void {
          clearTimeout(timer);
          queue.delete(done);
          resolve();
        }
        queue.add(done);
      });
    },
    release(appId) {
      for (const done of [...(waiting.get(appId) ?? [])]) done();
      waiting.delete(appId);
    },
  };
}
