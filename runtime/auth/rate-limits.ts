import type { Context as KoaContext } from 'koa';
import type { RateLimit } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';
import { failure } from '../errors.ts';
import { recordAttempt } from './attempts.ts';
import { callerOf } from './caller.ts';
import { DEFAULT_LIMITS } from './defaults.ts';
import type { Events } from './events.ts';
import { type Keys, mac } from './keys.ts';
import type { Charge, Windows, WindowState } from './sliding-window.ts';
import { MINUTE, retryAfter } from './time.ts';

/** A policy and whom it counts. */
export interface Limit {
  readonly policy: string;
  readonly subject: string;
  readonly peek?: boolean;
  /** Instead of the policy's own numbers: an API key has its own. */
  readonly rate?: RateLimit;
}

export interface RateLimits {
  readonly enabled: boolean;
  /** Charges all or none, and what this request was charged before with them. @throws AppError 429 */
  enforce(koa: KoaContext, limits: readonly Limit[]): Promise<void>;
  /** Charges one without a word: for limits whose answer would tell whether somebody exists. */
  allows(limit: Limit): Promise<boolean>;
  policy(name: string): RateLimit | undefined;
}

interface Charged {
  readonly entries: { readonly limit: Limit; readonly rate: RateLimit; readonly state: WindowState }[];
  readonly taken: { readonly charges: readonly Charge[]; readonly at: number }[];
}

/**
 * Rate limits by policy name, with the fields of draft-ietf-httpapi-ratelimit-headers: every policy that applied is
 * listed, and the tightest one is the one whose numbers are given.
 */
export function createRateLimits(parts: {
  readonly enabled: boolean;
  readonly limits: Readonly<Record<string, RateLimit>>;
  readonly windows: Windows;
  readonly keys: Keys;
  readonly events: Events;
  readonly now: () => number;
}): RateLimits {
  const { windows, keys, now } = parts;
  const policies = new Map<string, RateLimit>(Object.entries({ ...DEFAULT_LIMITS, ...parts.limits }));
  const requests = new WeakMap<object, Charged>();
  const report = createReporter(parts.events, now);
  const rated = (limits: readonly Limit[]) =>
    limits.flatMap((limit) => {
      const rate = limit.rate ?? policies.get(limit.policy);
      return rate ? [{ limit, rate, charge: toCharge(keys, limit, rate) }] : [];
    });

  return {
    enabled: parts.enabled,
    policy: (name) => policies.get(name),
    allows: async (limit) => {
      if (!parts.enabled) return true;
      const charges = rated([limit]).map(({ charge }) => charge);
      return (await windows.consume(charges, now())).every(({ accepted }) => accepted);
    },
    enforce: async (koa, limits) => {
      const asked = parts.enabled ? rated(limits) : [];
      if (asked.length === 0) return;
      const at = now();
      const states = await windows.consume(asked.map(({ charge }) => charge), at);
      const charged = requests.get(koa) ?? { entries: [], taken: [] };
      requests.set(koa, charged);
      charged.entries.push(...asked.map(({ limit, rate }, index) => ({ limit, rate, state: states[index]! })));
      koa.set(headersOf(charged));
      const refused = asked.findIndex((_, index) => !states[index]!.accepted);
      if (refused < 0) return void charged.taken.push({ charges: asked.flatMap(({ charge }) => (charge.peek ? [] : [charge])), at });
      for (const { charges, at: then } of charged.taken.splice(0)) await windows.refund(charges, then);
      await report(koa.state['context'] as RequestContext, asked[refused]!.limit.policy, asked[refused]!.charge.key);
      const wait = Math.max(...states.filter(({ accepted }) => !accepted).map(({ resetIn }) => resetIn));
      throw failure.tooMany(undefined, { headers: { ...headersOf(charged), 'Retry-After': retryAfter(wait) } });
    },
  };
}

function toCharge(keys: Keys, { policy, subject, peek }: Limit, rate: RateLimit): Charge {
  return { key: mac(keys.derived('identifier'), `${policy}|${subject}`), limit: rate.count, window: rate.window, ...(peek && { peek }) };
}

function headersOf({ entries }: Charged): Record<string, string> {
  const tightest = entries.reduce((least, entry) => (share(entry) < share(least) ? entry : least));
  return {
    'RateLimit-Policy': entries.map(({ limit, rate }) => `"${limit.policy}";q=${rate.count};w=${Math.ceil(rate.window / 1000)}`).join(', '),
    RateLimit: `"${tightest.limit.policy}";r=${Math.max(0, tightest.state.remaining)};t=${Math.ceil(tightest.state.resetIn / 1000)}`,
  };
}

const share = ({ state, rate }: Charged['entries'][number]) => (state.accepted ? state.remaining / rate.count : -1);

/** Says that a limit was met, at most once a minute for each key. */
function createReporter(events: Events, now: () => number) {
  const told = new Map<string, number>();
  return async (context: RequestContext | undefined, policy: string, key: string) => {
    const last = told.get(key);
    if (!context || (last !== undefined && now() - last < MINUTE)) return;
    told.delete(key);
    told.set(key, now());
    if (told.size > 10_000) told.delete(told.keys().next().value as string);
    const userId = context.principal.kind === 'user' ? context.principal.id : null;
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      emit('rate_limit.exceeded', userId, { policy });
      if (policy.startsWith('login-')) await recordAttempt(trx, now(), caller, { kind: 'password', outcome: 'blocked', reason: 'rate_limited', identifierHash: null, identifier: null, userId, sessionId: null });
    });
  };
}
