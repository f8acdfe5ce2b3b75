import ipaddr from 'ipaddr.js';
import type { RateRule } from './route-rules.ts';

/** Counts the requests of apps and clients. */
export interface RateLimits {
  /** The limit of one app. A limit with the same rule goes on with the same counts. */
  of(appId: string, rule: RateRule): RateLimit;
}

/** @returns 0 if a request from this address may pass, else the seconds after which one may. */
export type RateLimit = (ip: string) => number;

/** Clients that are remembered, of all apps together: about 10 MB. */
const MAX_CLIENTS = 100_000;

/**
 * The generic cell rate algorithm: for each client one time, at which it will have used nothing. It
 * moves on by `window / count` with each request.
 */
export function createRateLimits(now: () => number): RateLimits {
  const times = new Map<string, number>();
  return {
    of(appId, { count, window, burst, by }) {
      const all = `${appId} ${count}/${window} `;
      const step = window / count;
      return (ip) => {
        const key = by === 'app' ? all : all + clientOf(ip);
        const time = now();
        const known = times.get(key);
        const next = Math.max(known ?? 0, time);
        const wait = next + step - (time + burst * step);
        // A tolerance for sums of fractions of a millisecond.
        if (wait > 0.001) return Math.max(1, Math.ceil(wait / 1000));
        if (known === undefined && times.size >= MAX_CLIENTS) forgetSome(times, time);
        times.set(key, next + step);
        return 0;
      };
    },
  };
}

/** A client over IPv6 can choose among all addresses of its network, so the network is counted. */
function clientOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip;
  const parsed = ipaddr.parse(ip);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : ip;
}

/** Forgets clients that have used nothing for a while. If all are busy, it forgets the oldest. */
function forgetSome(times: Map<string, number>, now: number): void {
  for (const [key, time] of times) if (time <= now) times.delete(key);
  for (const key of times.keys()) {
    if (times.size < MAX_CLIENTS * 0.9) return;
    times.delete(key);
  }
}
