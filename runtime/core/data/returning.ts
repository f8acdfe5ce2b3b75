import type { Get, Call } from './plan.ts';

/** What the answer shows of a new row, when the inserting statement can return it. */
export interface Returning<T> {
  readonly root: Get;
  readonly calls: readonly Call[];
  readonly tree: boolean;
  take(text: string | null): T;
}
