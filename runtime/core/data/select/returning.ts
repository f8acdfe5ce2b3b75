import type { Get, Call } from '../plan.ts';

/** Reads the answer from the inserting statement, when that statement can return it. */
export interface Returning<T> {
  readonly root: Get;
  readonly calls: readonly Call[];
  readonly tree: boolean;
  take(text: string | null): T;
}
