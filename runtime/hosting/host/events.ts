/** One event of `GET /api/events`. */
export interface HostingEvent {
  readonly id: number;
  /** One of `app`, `deployment`, `run` and `removed`. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Sends events to the current listeners, and keeps the latest ones for clients that reconnect. */
export interface EventHub {
  emit(type: string, data: HostingEvent['data']): void;
  /**
   * Calls the listener for each kept event after `lastId`, then for each new event. @returns a
   * function that ends this.
   */
  listen(listener: (event: HostingEvent) => void, lastId?: number): () => void;
}

const KEPT = 500;

/** Ids start from the current time, so that the ids of an earlier run are always smaller. */
export function createEventHub(now: () => number): EventHub {
  const kept: HostingEvent[] = [];
  const listeners = new Set<(event: HostingEvent) => void>();
  let last = now() * 1000;
  return {
    emit(type, data) {
      const event = { id: (last += 1), type, data };
      kept.push(event);
      if (kept.length > KEPT) kept.shift();
      for (const listener of listeners) listener(event);
    },
    listen(listener, lastId) {
      if (lastId !== undefined) for (const event of kept) if (event.id > lastId) listener(event);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
