import type { Context as KoaContext } from 'koa';
import type { RateLimit } from '@twofold/schema';
import { createBoundedCache, type Kernel, type RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { andThen, type NowOrLater } from '../base/and-then.ts';
import { recordAttempt } from '../events/attempts.ts';
import { callerOf } from '../base/caller.ts';
import { DEFAULT_LIMITS } from '../base/defaults.ts';
import type { Events } from '../events/events.ts';
import { MINUTE, retryAfter } from '../base/time.ts';
import type { Charge, Windows, WindowState } from './windows.ts';

/** A policy and the subject that it counts, such as an address or a user. */
export interface Limit {
  readonly policy: string;
  readonly subject: string;
  readonly peek?: boolean;
  /** Replaces the policy's rate, for an API key with a rate of its own. */
  readonly rate?: RateLimit;
  /** Whether hits may be leased in advance. False for limits that protect a secret. */
  readonly leased?: boolean;
}

export interface RateLimits {
  readonly enabled: boolean;
  /**
   * Charges all limits or none. If it refuses, it also refunds the earlier charges of this request.
   *
   * @throws AppError 429
   */
  enforce(koa: KoaContext, limits: readonly Limit[]): NowOrLater<void>;
  /** Charges all limits or none, without headers, which would show whether an account exists. */
  allows(...limits: readonly Limit[]): Promise<boolean>;
  policy(name: string): RateLimit | undefined;
  /** Gives the leases of this process back. */
  close(): Promise<void>;
}

/** The charges of one request so far. */
interface RequestCharges {
  /** The field `RateLimit-Policy`. */
  policies: string;
  /** The field `RateLimit` of the policy with the smallest share left, and that share. */
  tightest: string;
  share: number;
  readonly taken: { readonly charges: readonly Charge[]; readonly at: number }[];
}

/** A rate with its item in the field `RateLimit-Policy`. */
interface Policy extends RateLimit {
  readonly name: string;
  readonly field: string;
}

/** A policy with the charge for one subject. */
interface RatedCharge {
  readonly policy: Policy;
  readonly charge: Charge;
}

/**
 * Rate limits by policy name. It sets the fields of draft-ietf-httpapi-ratelimit-headers:
 * `RateLimit-Policy` lists every policy that applied, and `RateLimit` has the numbers of the
 * tightest one.
 */
export function createRateLimits(parts: {
  readonly enabled: boolean;
  readonly limits: Readonly<Record<string, RateLimit>>;
  readonly windows: Windows;
  readonly events: Events;
  readonly kernel: Pick<Kernel, 'now' | 'metrics' | 'store'>;
}): RateLimits {
  const { windows, kernel } = parts;
  const { now } = kernel;
  const policies = new Map(
    Object.entries<RateLimit>({ ...DEFAULT_LIMITS, ...parts.limits }).map(([name, rate]) => [
      name,
      toPolicy(name, rate),
    ]),
  );
  const report = createReporter(parts.events, kernel);
  const rated = (limits: readonly Limit[]): RatedCharge[] =>
    limits.flatMap((limit) =>
      toRated(limit, limit.rate ? toPolicy(limit.policy, limit.rate) : policies.get(limit.policy)),
    );
  return {
    enabled: parts.enabled,
    policy: (name) => policies.get(name),
    close: () => windows.close(),
    allows: async (...limits) => {
      if (!parts.enabled) return true;
      const charges = rated(limits).map(({ charge }) => charge);
      return (await windows.consume(charges, now())).every(({ accepted }) => accepted);
    },
    enforce: (koa, limits) => {
      const asked = parts.enabled ? rated(limits) : [];
      if (asked.length === 0) return;
      const at = now();
      const charges = asked.map(({ charge }) => charge);
      return andThen(windows.consume(charges, at), (states) => {
        const charged = requestCharges(koa);
        asked.forEach((each, index) => addToFields(charged, each, states[index]!));
        setFields(koa, charged);
        const refused = states.findIndex(({ accepted }) => !accepted);
        if (refused < 0) return void charged.taken.push({ charges, at });
        const { policy, charge } = asked[refused]!;
        const wait = Math.max(...states.map((each) => (each.accepted ? 0 : each.resetIn)));
        return refund(windows, charged)
          .then(() => report(koa.state['context'], policy.name, charge.key))
          .then(() => {
            throw tooMany(charged, wait);
          });
      });
    },
  };
}

/** Gives back what the request was charged before it was refused. */
async function refund(windows: Windows, { taken }: RequestCharges): Promise<void> {
  for (const { charges, at } of taken.splice(0))
    await windows.refund(
      charges.filter(({ peek }) => !peek),
      at,
    );
}

const tooMany = (charged: RequestCharges, wait: number) =>
  failure.tooMany(undefined, {
    headers: { ...rateLimitFields(charged), 'Retry-After': retryAfter(wait) },
  });

const REQUEST_CHARGES = Symbol('what this request was charged');

function requestCharges({ state }: KoaContext): RequestCharges {
  return ((state as { [REQUEST_CHARGES]?: RequestCharges })[REQUEST_CHARGES] ??= {
    policies: '',
    tightest: '',
    share: Infinity,
    taken: [],
  });
}

function toPolicy(name: string, { count, window }: RateLimit): Policy {
  return { count, window, name, field: `"${name}";q=${count};w=${Math.ceil(window / 1000)}` };
}

function toRated(
  { subject, peek = false, leased = false }: Limit,
  policy: Policy | undefined,
): RatedCharge[] {
  if (!policy) return [];
  const { name, count: limit, window } = policy;
  return [{ policy, charge: { key: `${name}|${subject}`, limit, window, peek, leased } }];
}

function addToFields(
  charged: RequestCharges,
  { policy }: RatedCharge,
  { accepted, remaining, resetIn }: WindowState,
): void {
  const share = accepted ? remaining / policy.count : -1;
  charged.policies = charged.policies ? `${charged.policies}, ${policy.field}` : policy.field;
  if (share >= charged.share) return;
  charged.share = share;
  charged.tightest = `"${policy.name}";r=${Math.max(0, remaining)};t=${Math.ceil(resetIn / 1000)}`;
}

function setFields({ res }: KoaContext, { policies, tightest }: RequestCharges): void {
  res.setHeader('RateLimit-Policy', policies);
  res.setHeader('RateLimit', tightest);
}

const rateLimitFields = ({ policies, tightest }: RequestCharges) => ({
  'RateLimit-Policy': policies,
  RateLimit: tightest,
});

/**
 * Emits an event when a limit is exceeded, at most once a minute for each key. The event outlives a
 * rollback of the transaction around the refused call.
 */
function createReporter(events: Events, kernel: Pick<Kernel, 'now' | 'metrics' | 'store'>) {
  const { now } = kernel;
  const reported = createBoundedCache<number>({ entries: 10_000, bytes: Infinity });
  return async (context: RequestContext | undefined, policy: string, key: string) => {
    const last = reported.get(key);
    if (!context || (last !== undefined && now() - last < MINUTE)) return;
    reported.set(key, now(), 0);
    const userId = context.principal.kind === 'user' ? context.principal.id : null;
    const caller = callerOf(context);
    await kernel.store.keep(() =>
      events.transact(caller, async ({ trx, emit }) => {
        emit('rate_limit.exceeded', userId, { policy });
        if (policy.startsWith('login-'))
          await recordAttempt(trx, kernel, caller, {
            kind: 'password',
            outcome: 'blocked',
            reason: 'rate_limited',
            userId,
          });
      }),
    );
  };
}
