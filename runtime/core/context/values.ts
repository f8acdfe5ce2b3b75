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

/** An empty set of values, for one request. */
export function createValues(): Values {
  const values = new Map<string, unknown>();
  return {
    get: <T>(key: string) => [values.get(key) as T | undefined, values.has(key)] as const,
    set: (key, value) => void values.set(key, value),
  };
}
