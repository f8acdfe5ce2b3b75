/**
 * Values that the page keeps in the browser. In a private window, where storage may fail, only
 * convenience is lost.
 */
export interface Memory {
  get<Value>(name: string, fallback: Value): Value;
  set(name: string, value: unknown): void;
}

/** Stores values under a prefix, so that two servers on one origin do not share them. */
export function createMemory(storageOf: () => Storage, prefix: string): Memory {
  return {
    get<Value>(name: string, fallback: Value): Value {
      try {
        const text = storageOf().getItem(prefix + name);
        return text === null ? fallback : ((JSON.parse(text) as Value | null) ?? fallback);
      } catch {
        return fallback;
      }
    },
    set(name, value) {
      try {
        storageOf().setItem(prefix + name, JSON.stringify(value));
      } catch {
        // Storage is full or not allowed.
      }
    },
  };
}
