import type { Context as KoaContext } from 'koa';

/** A hit that counts against a rate limit of its own. `window` is in milliseconds. */
export interface RatedHit {
  readonly policy: string;
  readonly subject: string;
  readonly count: number;
  readonly window: number;
}

/** Counts a hit. @throws AppError 429 */
export type EnforceRate = (ctx: KoaContext, hit: RatedHit) => unknown;
