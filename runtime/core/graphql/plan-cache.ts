import { createBoundedCache } from '../store/bounded-cache.ts';

/** Plans of one operation, one for each class of callers and each value of its conditions. */
export interface PlanCache {
  get(key: string): unknown;
  set(key: string, plan: unknown): void;
}

export interface PlanCacheOptions {
  /** Bytes that one plan is taken to hold, with its statements. */
  readonly weight: number;
  /** Is called with the bytes that are held more than before. */
  readonly grow: (bytes: number) => void;
  readonly entries?: number;
  readonly bytes?: number;
}

/**
 * Six conditions make 64 plans of one document, and each may be large: so the plans of one operation are bounded too.
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
