/**
 * Values that middleware passes on to later middleware and resolvers, by key. `get` returns the
 * value and whether it was set, so that a stored `undefined` differs from an absent key.
 *
 * @example
 * ctx.values.set('company_id', 7);
 * const [companyId, exists] = ctx.values.get<number>('company_id');
 */
export interface Values {
  get<T = unknown>(key: string): readonly [value: T | undefined, exists: boolean];
  set(key: string, value: unknown): void;
}

const KEPT = new WeakMap<Values, Map<string, unknown>>();

/** An empty set of values, for one request. */
export function createValues(): Values {
  const values = new Map<string, unknown>();
  const made: Values = {
    get: <T>(key: string) => [values.get(key) as T | undefined, values.has(key)] as const,
    set: (key, value) => void values.set(key, value),
  };
  KEPT.set(made, values);
  return made;
}

/** @returns a function that brings back the values of now. */
export function valuesAsNow(values: Values): () => void {
  const map = KEPT.get(values);
  const before = [...(map ?? [])];
  return () => {
    map?.clear();
    for (const [key, value] of before) map?.set(key, value);
  };
}
