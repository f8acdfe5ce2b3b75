/** A limited number of values by text. */
export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  /** @param weight estimated size in bytes. */
  set(key: string, value: Value, weight: number): void;
  /**
   * Adds to the weight of an entry; does nothing when the entry now has another value than `value`.
   */
  grow(key: string, value: Value, more: number): void;
  clear(): void;
  readonly size: number;
  /** Total weight of the entries in bytes. */
  readonly held: number;
}

export interface Bounds {
  readonly entries: number;
  readonly bytes: number;
}

interface CacheEntry<Value> {
  readonly value: Value;
  weight: number;
}

/**
 * A cache with a limit of entries and of bytes: a thousand documents may be a megabyte, or a
 * gigabyte when a hostile client wrote them. The least recently used entry is dropped first; the
 * newest always stays.
 *
 * @example const texts = createBoundedCache<string>({ entries: 1000, bytes: 4_000_000 });
 */
export function createBoundedCache<Value>({ entries, bytes }: Bounds): BoundedCache<Value> {
  const kept = new Map<string, CacheEntry<Value>>();
  let held = 0;
  const drop = (key: string) => {
    held -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  const isFull = () => kept.size > 1 && (kept.size > entries || held > bytes);
  const trim = () => {
    while (isFull()) drop(kept.keys().next().value as string);
  };
  // While there is room, moving an entry on every hit would cost more than it gains.
  const isRoomy = () => kept.size < entries / 2 && held < bytes / 2;
  return {
    get size() {
      return kept.size;
    },
    get held() {
      return held;
    },
    get: (key) => {
      const found = kept.get(key);
      if (found && !isRoomy()) {
        kept.delete(key);
        kept.set(key, found);
      }
      return found?.value;
    },
    set: (key, value, weight) => {
      drop(key);
      kept.set(key, { value, weight });
      held += weight;
      trim();
    },
    grow: (key, value, more) => {
      const found = kept.get(key);
      if (found?.value !== value) return;
      found.weight += more;
      held += more;
      trim();
    },
    clear: () => {
      kept.clear();
      held = 0;
    },
  };
}
