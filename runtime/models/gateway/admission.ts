import { randomUUID } from 'node:crypto';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Logger, RequestContext } from '@twofold/runtime/kernel';
import { type Budget, leftOf, type Left, reserve, settle } from '../keys/budget.ts';
import type { BudgetStore } from '../keys/budget-store.ts';
import { isNamed, type ModelKeys } from '../keys/model-keys.ts';
import type { Prices, UsageTable } from '../keys/usage-table.ts';
import type { Usage } from './dialect.ts';

/** Who asks a model, and what they may use. */
export interface Caller {
  /** The id of their key, `user:7` or `operator`: in the table of usage, and in figures. */
  readonly id: string;
  readonly budget: Budget;
  /** Whether they may use a model, by its id or by the name that they asked for. */
  may(...names: readonly string[]): boolean;
}

/** A request that may go to its model. */
export interface Admitted {
  /** What is left of the budget, for the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Records what the request did cost. A request that failed costs no tokens. */
  settle(used: Usage, failed: boolean): Promise<void>;
}

export interface Admission {
  /** @throws AppError 401 when the key was removed meanwhile, or has expired */
  callerOf(context: Pick<RequestContext, 'principal'>): Promise<Caller>;
  /** Reserves the most that a request may cost. @throws AppError 429 */
  admit(caller: Caller, model: string, most: Usage): Promise<Admitted>;
}

export interface AdmissionParts {
  readonly keys: ModelKeys;
  readonly budgets: BudgetStore;
  readonly usage: UsageTable;
  readonly prices: Prices;
  readonly log: Logger;
  readonly now: () => number;
}

/** Whether tokens have to be counted before a request is admitted. */
export const countsTokens = ({ budget }: Caller): boolean =>
  Object.keys(budget).some((limit) => limit !== 'requests_per_minute');

export function createAdmission(parts: AdmissionParts): Admission {
  return {
    callerOf: ({ principal }) => callerOf(principal, parts.keys),
    async admit(caller, model, most) {
      const reserved = await reserveFor(parts, caller, { model, most });
      let settled = false;
      return {
        headers: reserved.headers,
        async settle(used, failed) {
          if (settled) return;
          settled = true;
          await record(parts, caller, { model, used, failed, id: reserved.id }).catch(
            (error: Error) => parts.log.error({ stack: error.stack }, 'usage cannot be recorded'),
          );
        },
      };
    },
  };
}

const EVERY: Pick<Caller, 'budget' | 'may'> = { budget: {}, may: () => true };

async function callerOf(principal: RequestContext['principal'], keys: ModelKeys): Promise<Caller> {
  if (principal.kind === 'user') return { ...EVERY, id: `user:${principal.id}` };
  if (principal.kind !== 'api_key') return { ...EVERY, id: 'operator' };
  const { id } = principal;
  const key = await keys.byId(id);
  // The limits of a server's key must not end with their time: it would then have none.
  if (key ? !keys.isLive(key) : id.startsWith('mkey_'))
    throw failure.unauthenticated('Invalid API key');
  if (!key) return { ...EVERY, id };
  const { models, budget } = key;
  return { id, budget, may: (...names) => names.some((name) => isNamed(models, name)) };
}

interface CostlyRequest {
  readonly model: string;
  readonly most: Usage;
}

async function reserveFor(
  { budgets, prices, now }: AdmissionParts,
  { id: subject, budget }: Caller,
  { model, most }: CostlyRequest,
): Promise<{ readonly id: string | null; readonly headers: Readonly<Record<string, string>> }> {
  if (Object.keys(budget).length === 0) return { id: null, headers: {} };
  const id = randomUUID();
  const tokens = most.input + most.output;
  const reservation = { id, tokens, money: prices.of(model, most) };
  const { refusal, left } = await budgets.change(subject, (before) => {
    const at = now();
    const { state, refusal } = reserve(before, { budget, reservation, now: at });
    return { state, result: { refusal, left: leftOf(state, budget, at) } };
  });
  const headers = rateHeaders(left);
  if (!refusal) {
    budgets.keep(subject, id);
    return { id, headers };
  }
  const { limit, retryAfter } = refusal;
  const needs = limit === 'requests_per_minute' ? '' : `; this request may cost ${tokens} tokens`;
  throw new AppError(
    429,
    'RATE_LIMITED',
    `The budget ${limit} of ${budget[limit]} is used up${needs}`,
    {
      headers: { ...headers, 'retry-after': String(retryAfter) },
      extensions: { code: 'rate_limit_exceeded' },
    },
  );
}

function rateHeaders(left: Left): Readonly<Record<string, string>> {
  const named = Object.entries(left).flatMap(([of, window]) =>
    window === null
      ? []
      : [
          [`x-ratelimit-limit-${of}`, String(window.limit)],
          [`x-ratelimit-remaining-${of}`, String(window.remaining)],
          [`x-ratelimit-reset-${of}`, `${window.reset}s`],
        ],
  );
  return Object.fromEntries(named) as Record<string, string>;
}

interface Ended {
  readonly model: string;
  readonly used: Usage;
  readonly failed: boolean;
  readonly id: string | null;
}

async function record(
  { budgets, usage, prices, now }: AdmissionParts,
  { id: key }: Caller,
  { model, used, failed, id }: Ended,
): Promise<void> {
  const { input, output } = failed ? { input: 0, output: 0 } : used;
  const money = prices.of(model, { input, output });
  if (id !== null) {
    const cost = { tokens: input + output, money };
    await budgets.change(key, (state) => ({
      state: settle(state, { id, cost, now: now() }),
      result: undefined,
    }));
    budgets.letGo(id);
  }
  await usage.add({ key, model, failed, input, output, money });
}
