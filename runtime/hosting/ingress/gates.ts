import { type AddressMatcher, addressMatcher } from '@twofold/runtime/http';
import type { ClientRequest } from './client.ts';
import type { RequestOrigin } from './origin.ts';
import type { IngressPage } from './pages.ts';
import { createPasswordCheck, type PasswordCheck } from './passwords.ts';
import type { AppRoute, RouteRules, RateRule } from './route-table.ts';
import ipaddr from 'ipaddr.js';

/** The page for a request that a rule refuses, with its own text and header fields. */
export interface Refusal {
  readonly page: IngressPage;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The rules of apps that can refuse a request before the app sees it. */
export interface Gates {
  /** @returns null if the request may pass. */
  check(
    route: AppRoute,
    request: ClientRequest,
    origin: RequestOrigin,
  ): Refusal | null | Promise<Refusal | null>;
}

/** The rules of one route, with their ranges of addresses parsed and its limit found. */
interface Gate {
  readonly rules: RouteRules;
  readonly allows: AddressMatcher | null;
  readonly mayPassMaintenance: AddressMatcher;
  readonly limit: RateLimit | null;
}

/** Seconds after which a client may ask an app in maintenance again. */
const MAINTENANCE_PAUSE = '60';

export function createGates(now: () => number): Gates {
  const gates = new WeakMap<AppRoute, Gate>();
  const limits = createRateLimits(now);
  const passwords = createPasswordCheck();
  const gateOf = (route: AppRoute, rules: RouteRules): Gate => {
    let gate = gates.get(route);
    if (!gate) gates.set(route, (gate = compile(route.appId, rules, limits)));
    return gate;
  };
  return {
    check(route, request, origin) {
      const { rules } = route;
      if (!rules || !canRefuse(rules)) return null;
      const refusal = refuse(gateOf(route, rules), request, origin);
      return refusal ?? (rules.basicAuth ? askPassword(rules, request, passwords) : null);
    },
  };
}

const canRefuse = ({ allow, maintenance, rateLimit, maxBody, basicAuth }: RouteRules): boolean =>
  (allow ?? maintenance ?? rateLimit ?? maxBody ?? basicAuth) !== undefined;

const compile = (appId: string, rules: RouteRules, limits: RateLimits): Gate => ({
  rules,
  allows: rules.allow ? addressMatcher(rules.allow) : null,
  mayPassMaintenance: addressMatcher(rules.maintenance?.allow ?? []),
  limit: rules.rateLimit ? limits.of(appId, rules.rateLimit) : null,
});

function refuse(
  { rules, allows, mayPassMaintenance, limit }: Gate,
  request: ClientRequest,
  { ip }: RequestOrigin,
): Refusal | null {
  const { maintenance, maxBody } = rules;
  if (allows && !allows(ip)) return { page: 'forbidden' };
  if (maintenance && !mayPassMaintenance(ip))
    return {
      page: 'maintenance',
      headers: { 'Retry-After': MAINTENANCE_PAUSE },
      ...(maintenance.message !== null && { text: maintenance.message }),
    };
  const wait = limit?.(ip) ?? 0;
  if (wait > 0) return { page: 'tooMany', headers: { 'Retry-After': String(wait) } };
  if (maxBody !== undefined && Number(request.headers['content-length'] ?? 0) > maxBody)
    return { page: 'tooLarge' };
  return null;
}

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="app", charset="UTF-8"' };

function askPassword(
  { basicAuth = [] }: RouteRules,
  { headers }: ClientRequest,
  passwords: PasswordCheck,
): Refusal | null | Promise<Refusal | null> {
  const verdict = passwords.check(headers.authorization, basicAuth);
  const refusalOf = (is: boolean | 'busy'): Refusal | null =>
    is === true
      ? null
      : is === 'busy'
        ? { page: 'tooMany', headers: { 'Retry-After': '1' } }
        : { page: 'unauthorized', headers: CHALLENGE };
  return typeof verdict === 'boolean' ? refusalOf(verdict) : verdict.then(refusalOf);
}

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
