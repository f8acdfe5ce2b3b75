import { parseDuration } from '@twofold/schema';
import { closed, count, list, object, orNull, text } from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { useOf } from '../keys/budget.ts';
import type { KeyChanges, ModelKey } from '../keys/model-keys.ts';
import { totalOf } from '../keys/usage-table.ts';
import { flow, id, type ModelState, ON_MODEL, USUAL } from './flow.ts';

const MIN_PERIOD = 1000;
const MAX_PERIOD = 400 * 86_400_000;

const budget = {
  ...closed({
    requests_per_minute: { ...count, minimum: 1, maximum: 1e9 },
    tokens_per_minute: { ...count, minimum: 1, maximum: 1e12 },
    tokens_per_day: { ...count, minimum: 1, maximum: 1e12 },
    money_per_day: { type: 'number', exclusiveMinimum: 0, maximum: 1e6 },
  }),
  description: 'Limits; one that is absent is none',
} as const;
const fields = {
  name: { type: 'string', minLength: 1, maxLength: 100 },
  models: {
    ...list(id, { minItems: 1, maxItems: 100 }),
    description: 'Ids and aliases that it may use; * stands for any text',
  },
  budget,
} as const;
const period = { type: 'string', maxLength: 20, description: '90d, 12h, 30m' } as const;

const key = object(
  {
    id: text,
    ...fields,
    prefix: text,
    key: { ...text, description: 'mk_…; only in the answer that creates it' },
    created_at: text,
    expires_at: orNull('string'),
    use: {
      ...object({
        requests_in_minute: count,
        tokens_in_minute: count,
        tokens_today: count,
        money_today: { type: 'number' },
      }),
      description: 'Spent and reserved now',
    },
  },
  ['id', 'name', 'prefix', 'models', 'budget'],
);

export const createModelKey = flow('POST /api/mlx/keys', {
  needs: 'models:write',
  summary:
    'Creates a key that opens the API of the models and nothing else; its text is shown once',
  audit: { target: 'model-key:{id}', values: ['name', 'models', 'budget'] },
  body: closed({ ...fields, expires_in: period }, ['name']),
  answers: { 201: ['The key', key] },
  refuses: USUAL,
  async handle({ body, context }, { keys, now }) {
    const { name, models = ['*'], budget: limits = {}, expires_in } = body;
    const { key: made, row } = await keys.create({
      name,
      models,
      budget: limits,
      createdBy: callerName(context),
      expiresAt: expires_in === undefined ? null : now() + toMilliseconds(expires_in),
    });
    return reply(201, { ...keyView(row), key: made });
  },
});

export const listModelKeys = flow('GET /api/mlx/keys', {
  needs: 'models:read',
  summary: 'Lists the keys for models, and what they use of their budgets',
  answers: { 200: ['The keys', object({ keys: list(key), total: count }, ['keys', 'total'])] },
  refuses: USUAL,
  async handle(_call, state) {
    const all = await state.keys.all();
    const keys = await Promise.all(all.map((each) => show(state, each)));
    return reply(200, { keys, total: all.length });
  },
});

export const updateModelKey = flow('PATCH /api/mlx/keys/:id', {
  needs: 'models:write',
  summary: 'Changes a key for models, or gives an API key of the server a budget',
  audit: { target: 'model-key:{id}', values: ['name', 'models', 'budget'] },
  body: {
    ...closed({ ...fields, expires_in: { ...period, type: ['string', 'null'] } }),
    minProperties: 1,
  },
  answers: { 200: ['The key', key] },
  refuses: ON_MODEL,
  async handle({ params, body: { expires_in, ...rest }, context }, state) {
    const { keys, now } = state;
    const changes: KeyChanges = {
      ...rest,
      ...(expires_in !== undefined && {
        expiresAt: expires_in === null ? null : now() + toMilliseconds(expires_in),
      }),
    };
    return reply(
      200,
      await show(state, await keys.change(params.id, changes, callerName(context))),
    );
  },
});

export const deleteModelKey = flow('DELETE /api/mlx/keys/:id', {
  needs: 'models:write',
  summary: 'Removes a key for models',
  audit: { target: 'model-key:{id}' },
  answers: { 204: ['It was removed'] },
  refuses: ON_MODEL,
  async handle({ params }, { keys }) {
    await keys.remove(params.id);
    return reply(204);
  },
});

const counts = {
  requests: count,
  failed: count,
  input_tokens: count,
  output_tokens: count,
  money: { type: 'number' },
} as const;

export const getModelUsage = flow('GET /api/mlx/usage', {
  needs: 'models:read',
  summary: 'Returns requests, tokens and money by key and model',
  query: {
    key: id,
    model: id,
    from: { type: 'string', maxLength: 40, description: 'ISO 8601; whole hours' },
    to: { type: 'string', maxLength: 40 },
    by: { type: 'string', enum: ['hour', 'day'] },
  },
  answers: {
    200: [
      'The usage',
      object(
        {
          usage: list(object({ at: text, key: text, model: text, ...counts })),
          total: object(counts),
          unpriced: { ...list(text), description: 'Models without a price; their money is 0' },
        },
        ['usage', 'total', 'unpriced'],
      ),
    ],
  },
  refuses: USUAL,
  async handle({ query }, { usage, prices }) {
    const [from, to] = [asTime(query.from, 'from'), asTime(query.to, 'to')];
    const rows = await usage.read({ ...query, from, to, by: query.by ?? 'day' });
    const unpriced = [...new Set(rows.map(({ model }) => model))].filter(
      (each) => !prices.has(each),
    );
    return reply(200, { usage: rows, total: totalOf(rows), unpriced });
  },
});

const show = async ({ budgets, now }: ModelState, shown: ModelKey) => ({
  ...keyView(shown),
  use: useOf(await budgets.read(shown.id), now()),
});

const keyView = ({
  id: of,
  name,
  prefix,
  models,
  budget: limits,
  createdAt,
  expiresAt,
}: ModelKey) => ({
  id: of,
  name,
  prefix,
  models,
  budget: limits,
  created_at: createdAt,
  expires_at: expiresAt,
});

/** Who made a key, for its row. */
function callerName({ principal }: Call['context']): string {
  if (principal.kind === 'user') return `user:${principal.id}`;
  return principal.kind === 'api_key' ? principal.id : 'operator';
}

function toMilliseconds(given: string): number {
  const period = parseDuration(given) ?? 0;
  if (period >= MIN_PERIOD && period <= MAX_PERIOD) return period;
  throw failure.invalid('expires_in must be a time from 1s to 400d');
}

function asTime(given: string | undefined, name: string): string | undefined {
  if (given === undefined) return undefined;
  const time = Date.parse(given);
  if (Number.isNaN(time)) throw failure.invalid(`${name} must be a time as 2026-11-23T10:00:00Z`);
  return new Date(time).toISOString();
}
