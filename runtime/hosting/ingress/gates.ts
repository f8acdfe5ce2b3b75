import { type AddressMatcher, addressMatcher } from '@twofold/runtime/http';
import type { ClientRequest } from './client.ts';
import type { RequestOrigin } from './origin.ts';
import type { IngressPage } from './pages.ts';
import { createPasswordCheck, type PasswordCheck } from './passwords.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import type { AppRoute } from './route-table.ts';
import type { RouteRules } from './route-rules.ts';

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

/** The rules of one route, with their ranges of addresses parsed. */
interface Gate {
  readonly rules: RouteRules;
  readonly allows: AddressMatcher | null;
  readonly mayPassMaintenance: AddressMatcher;
}

/** Seconds after which a client may ask an app in maintenance again. */
const MAINTENANCE_PAUSE = '60';

export function createGates(now: () => number): Gates {
  const gates = new WeakMap<RouteRules, Gate>();
  const limits = createRateLimits(now);
  const passwords = createPasswordCheck();
  const gateOf = (rules: RouteRules): Gate => {
    let gate = gates.get(rules);
    if (!gate) gates.set(rules, (gate = compile(rules)));
    return gate;
  };
  return {
    check(route, request, origin) {
      const { rules } = route;
      if (!rules || !canRefuse(rules)) return null;
      const refusal = refuse(gateOf(rules), route.appId, { request, origin, limits });
      return refusal ?? (rules.basicAuth ? askPassword(rules, request, passwords) : null);
    },
  };
}

const canRefuse = ({ allow, maintenance, rateLimit, maxBody, basicAuth }: RouteRules): boolean =>
  (allow ?? maintenance ?? rateLimit ?? maxBody ?? basicAuth) !== undefined;

const compile = (rules: RouteRules): Gate => ({
  rules,
  allows: rules.allow ? addressMatcher(rules.allow) : null,
  mayPassMaintenance: addressMatcher(rules.maintenance?.allow ?? []),
});

interface Visitor {
  readonly request: ClientRequest;
  readonly origin: RequestOrigin;
  readonly limits: RateLimits;
}

function refuse(
  { rules, allows, mayPassMaintenance }: Gate,
  appId: string,
  { request, origin: { ip }, limits }: Visitor,
): Refusal | null {
  const { maintenance, rateLimit, maxBody } = rules;
  if (allows && !allows(ip)) return { page: 'forbidden' };
  if (maintenance && !mayPassMaintenance(ip))
    return {
      page: 'maintenance',
      headers: { 'Retry-After': MAINTENANCE_PAUSE },
      ...(maintenance.message !== null && { text: maintenance.message }),
    };
  const wait = rateLimit ? limits.take(appId, rateLimit, ip) : 0;
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
