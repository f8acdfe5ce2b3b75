/** What the page keeps in the browser. A browser that keeps nothing, as a private window may, loses only convenience. */
export interface Memory {
  get<Value>(name: string, fallback: Value): Value;
  set(name: string, value: unknown): void;
}

/** Values by name below a prefix: two servers on one origin keep theirs apart. */
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
        // Full or forbidden.
      }
    },
  };
}
