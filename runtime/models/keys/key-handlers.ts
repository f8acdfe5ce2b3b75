import { parseDuration } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { useOf } from './budget.ts';
import type { BudgetStore } from './budget-store.ts';
import type { KeyChanges, ModelKey, ModelKeys } from './model-keys.ts';
import type { Prices } from './prices.ts';
import { totalOf, type UsageTable } from './usage-table.ts';

export interface KeyHandlerParts {
  readonly keys: ModelKeys;
  readonly budgets: BudgetStore;
  readonly usage: UsageTable;
  readonly prices: Prices;
  readonly now: () => number;
}

const MIN_PERIOD = 1000;
const MAX_PERIOD = 400 * 86_400_000;

/** The handlers of `/api/mlx/keys` and `/api/mlx/usage`. */
export function keyHandlers({ keys, budgets, usage, prices, now }: KeyHandlerParts) {
  const show = async (key: ModelKey) => ({
    ...keyView(key),
    use: useOf(await budgets.read(key.id), now()),
  });
  return {
    async createModelKey({ body, context }: Call) {
      const { name, models = ['*'], budget = {}, expires_in } = body;
      const { key, row } = await keys.create({
        ...{ name, models, budget, createdBy: callerName(context) },
        expiresAt: expires_in === undefined ? null : now() + toMilliseconds(expires_in),
      });
      return reply(201, { ...keyView(row), key });
    },
    async listModelKeys() {
      const all = await keys.all();
      return reply(200, { keys: await Promise.all(all.map(show)), total: all.length });
    },
    async updateModelKey({ params, body, context }: Call) {
      const { expires_in, ...rest } = body;
      const changes: KeyChanges = {
        ...rest,
        ...(expires_in !== undefined && {
          expiresAt: expires_in === null ? null : now() + toMilliseconds(expires_in),
        }),
      };
      return reply(
        200,
        await show(await keys.change(params['id'] ?? '', changes, callerName(context))),
      );
    },
    async deleteModelKey({ params }: Call) {
      await keys.remove(params['id'] ?? '');
      return reply(204);
    },
    async getModelUsage({ query }: Call) {
      const [from, to] = [asTime(query.from, 'from'), asTime(query.to, 'to')];
      const rows = await usage.read({ ...query, from, to, by: query.by ?? 'day' });
      const unpriced = [...new Set(rows.map(({ model }) => model))].filter((id) => !prices.has(id));
      return reply(200, { usage: rows, total: totalOf(rows), unpriced });
    },
  };
}

const keyView = ({ id, name, prefix, models, budget, createdAt, expiresAt }: ModelKey) => ({
  ...{ id, name, prefix, models, budget },
  ...{ created_at: createdAt, expires_at: expiresAt },
});

/** Who made a key, for its row. */
function callerName({ principal }: Call['context']): string {
  if (principal.kind === 'user') return `user:${principal.id}`;
  return principal.kind === 'api_key' ? principal.id : 'operator';
}

function toMilliseconds(text: string): number {
  const period = parseDuration(text) ?? 0;
  if (period >= MIN_PERIOD && period <= MAX_PERIOD) return period;
  throw failure.invalid('expires_in must be a time from 1s to 400d');
}

function asTime(text: string | undefined, name: string): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw failure.invalid(`${name} must be a time as 2026-11-23T10:00:00Z`);
  return new Date(time).toISOString();
}
