import { createBoundedCache } from '../store/bounded-cache.ts';

/** The plans of one operation: one for each class of callers and each set of condition values. */
export interface PlanCache {
  get(key: string): unknown;
  set(key: string, plan: unknown): void;
}

export interface PlanCacheOptions {
  /** Estimated bytes of one plan and its statements. */
  readonly weight: number;
  /** Called with the bytes that the cache has grown by. */
  readonly grow: (bytes: number) => void;
  readonly entries?: number;
  readonly bytes?: number;
}

/**
 * Limits the plans of one operation, because six conditions make 64 plans of one document, and each
 * may be large.
 *
 * @example createPlanCache({ weight: 4000, grow: () => {} }).set('anyone', plan)
 */
export function createPlanCache({
  weight,
  grow,
  entries = 64,
  bytes = 4_000_000,
}: PlanCacheOptions): PlanCache {
  const plans = createBoundedCache<unknown>({ entries, bytes });
  return {
    get: plans.get,
    set: (key, plan) => {
      const before = plans.held;
      plans.set(key, plan, weight);
      grow(plans.held - before);
    },
  };
}
