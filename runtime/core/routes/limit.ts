import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { ConfigError, failure } from '../errors.ts';
import type { EnforceRate } from '../http/rate.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import type { RouteParts } from './parts.ts';
import { parseRate } from './quantities.ts';

/**
 * Makes the rate limit of one route. The module that has rate limits counts it, for all processes;
 * without one it is counted in the memory of this process.
 *
 * @throws ConfigError for a text that is no rate.
 */
export function createLimit(
  { enforceRate, now }: RouteParts,
  route: string,
  text: string,
): (ctx: KoaContext) => unknown {
  const rate = parseRate(text);
  if (!rate)
    throw new ConfigError([`${route}: limit must be of the form 20/1m or 20/1m/user, not ${text}`]);
  const policy = route
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
  const enforce = enforceRate ?? inMemory(now);
  return (ctx) => {
    const { user, ip } = ctx.state['context'] as RequestContext;
    const subject = rate.by === 'user' && user ? `user:${user.id}` : `ip:${ip}`;
    return enforce(ctx, { policy, subject, count: rate.count, window: rate.window });
  };
}

/** The hits of one subject in the current window and in the one before. */
interface Hits {
  readonly window: number;
  current: number;
  previous: number;
}

/**
 * A sliding window. Hits of the previous window count by the share of that window that is still
 * covered.
 */
function inMemory(now: () => number): EnforceRate {
  const kept = createBoundedCache<Hits>({ entries: 100_000, bytes: Infinity });
  return (_ctx, { subject, count, window }) => {
    const at = now();
    const number = Math.floor(at / window);
    const last = kept.get(subject);
    const hits: Hits =
      last?.window === number
        ? last
        : {
            window: number,
            current: 0,
            previous: last?.window === number - 1 ? last.current : 0,
          };
    const passed = (at % window) / window;
    if (hits.current + hits.previous * (1 - passed) >= count)
      throw failure.tooMany(undefined, {
        headers: { 'Retry-After': String(Math.ceil((window * (1 - passed)) / 1000)) },
      });
    hits.current += 1;
    kept.set(subject, hits, 0);
  };
}
