/** Requests that wait until their app has a route again. */
export interface HoldQueue {
  /**
   * Resolves when the app is released or the time is over, in milliseconds. Resolves at once when too many requests
   * are waiting already.
   */
  wait(appId: string, within?: number): Promise<void>;
  release(appId: string): void;
}

/** How many requests of one app may wait. Further ones are answered at once with an error page. */
const MAX_HELD = 10_000;

export function createHoldQueue(timeout: number): HoldQueue {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wait(appId, within = timeout) {
      const queue = waiting.get(appId) ?? new Set<() => void>();
      if (queue.size >= MAX_HELD) return Promise.resolve();
      waiting.set(appId, queue);
      return new Promise((resolve) => {
        const timer = setTimeout(done, within);
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
