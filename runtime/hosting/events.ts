/** Something that a caller of `GET /api/events` may want to know. */
export interface HostingEvent {
  readonly id: number;
  /** `app`, `deployment`, `removed`. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Passes events on to those who listen now, and keeps the last ones for those who come back. */
export interface EventHub {
  emit(type: string, data: HostingEvent['data']): void;
  /** Every event from now on; first those after `lastId` that are still kept. */
  listen(listener: (event: HostingEvent) => void, lastId?: number): () => void;
}

const KEPT = 500;

/** Ids count from the time of the start, so that those of an earlier run are always smaller. */
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
