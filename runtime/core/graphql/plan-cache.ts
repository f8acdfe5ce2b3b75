/** Plans of one operation, one for each class of callers and each value of its conditions. What a plan is, is the engine's matter. */
export interface PlanCache {
  get(key: string): unknown;
  set(key: string, plan: unknown): void;
}

export interface PlanCacheOptions {
  /** Bytes that one plan is taken to hold, with its statements. */
  readonly weight: number;
  /** Told how many bytes more are held, or fewer. */
  readonly grow: (bytes: number) => void;
  readonly entries?: number;
  readonly bytes?: number;
}

/**
 * Keeps the newest plans: six conditions make 64 of one document, and each may be large.
 *
 * @example createPlanCache({ weight: 4000, grow: () => {} }).set('anyone', plan)
 */
export function createPlanCache({
  weight,
  grow,
  entries = 64,
  bytes = 4_000_000,
}: PlanCacheOptions): PlanCache {
  const plans = new Map<string, unknown>();
  const most = Math.max(1, Math.min(entries, Math.floor(bytes / weight)));
  return {
    get: (key) => plans.get(key),
    set: (key, plan) => {
      if (plans.size >= most) plans.delete(plans.keys().next().value as string);
      else grow(weight);
      plans.set(key, plan);
    },
  };
}
