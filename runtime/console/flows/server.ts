import {
  count,
  dateTime,
  list,
  object,
  orNull,
  type Shaped,
  text,
  type ValueOf,
} from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { serviceOf } from '@twofold/runtime/kernel';
import { flow, READS, recorderOf, whole } from './flow.ts';

const info = whole({
  name: text,
  version: text,
  node: text,
  environment: { enum: ['development', 'production'] },
  hostname: text,
  os: text,
  arch: text,
  cpus: count,
  memory: count,
  disk: { anyOf: [whole({ free: count, total: count }), { type: 'null' }] },
  uptime: count,
  started_at: dateTime,
  log_followers: count,
});

export type ServerDescription = ValueOf<typeof info>;

export const systemInfo = flow('GET /api/system/info', {
  ...READS,
  summary: 'Describes the server and its machine',
  answers: { 200: ['The description', info] },
  handle: async (_call, state) => reply(200, await state.info()),
});

export const systemConfig = flow('GET /api/system/config', {
  ...READS,
  summary: 'Returns the limits and features of the server',
  answers: { 200: ['The settings, without secrets', object({})] },
  handle(_call, { kernel: { project, store } }) {
    const { api, server, auth, observability } = project;
    const { path: graphql, rest, graphiql } = api;
    return reply(200, {
      domain: null,
      database: store.dialect,
      limits: { body: server.bodyLimit, transaction_timeout: project.transactionTimeout },
      features: {
        graphql,
        rest,
        graphiql,
        auth: auth !== null,
        hosting: false,
        models: false,
        metrics: observability?.metrics ? observability.metrics.path : false,
        traces: observability?.traces === true,
      },
    });
  },
});

const points: Shaped<readonly (readonly [time: number, value: number | null])[]> = list(
  list(orNull('number'), { minItems: 2, maxItems: 2 }),
);
const series = whole({ name: text, unit: text, points });

const figures = whole({ from: count, to: count, step_s: count, series: list(series) });

export type Figures = ValueOf<typeof figures>;

export const systemMetrics = flow('GET /api/system/metrics', {
  ...READS,
  summary: 'Returns figures over time',
  description:
    'Steps of 10 s for an hour, and of a minute for a day. A value is null while the server was off; a latency also while there was no request. The last step is not over yet.',
  query: { range: { enum: ['15m', '1h', '24h'], default: '15m' } },
  answers: { 200: ['The figures', figures] },
  refuses: { 400: 'There is no such range' },
  handle: async ({ query: { range } }, { kernel }) =>
    reply(200, await recorderOf(kernel).figures(range)),
});

const names = (description: string) => ({ ...list(text), description }) as const;

const states = {
  applied: names('The database has them'),
  pending: names('They are not applied yet'),
  draft: names('Every save of the schema writes them again'),
  empty: names('They have no step'),
  changed: names('The file has another text than was applied'),
  missing: names('Applied, and without a file'),
  partial: names('Stopped before the last step'),
  oneWay: names('They cannot be undone'),
} as const;

const difference = whole({
  object: text,
  kind: { enum: ['missing', 'extra', 'different'] },
  expected: orNull('string'),
  found: orNull('string'),
  fix: text,
});

export type MigrationStatus = ValueOf<ReturnType<typeof whole<typeof states>>>;

export type Difference = ValueOf<typeof difference>;

export const systemMigrations = flow('GET /api/system/migrations', {
  ...READS,
  summary: 'Migrations by their state, as `migrate status --json` lists them; nothing is applied',
  query: {
    drift: {
      type: 'boolean',
      default: false,
      description: 'Also compares the tables with what the applied migrations make',
    },
  },
  answers: {
    200: [
      'Names of migrations',
      object({ ...states, drift: list(difference) }, Object.keys(states)),
    ],
  },
  refuses: { 409: 'The role of DATABASE_URL may not create the schema that drift needs' },
  async handle({ query }, { kernel: { migrations } }) {
    if (!migrations) throw failure.notFound();
    const known = await migrations();
    const status = await known.status();
    return reply(200, query.drift ? { ...status, drift: await known.drift() } : status);
  },
});

const statement = whole({
  path: list(text),
  sql: text,
  parameters: { type: 'array' },
  plan: list(text),
});

const explained = object(
  {
    statements: list(statement),
    functions: list(text),
    depth: count,
    cost: count,
    errors: list(object({ message: text, path: list(text) }, ['message'])),
  },
  ['statements', 'functions', 'depth', 'cost'],
);

export type Explained = ValueOf<typeof explained>;

export const systemExplain = flow('POST /api/system/explain', {
  ...READS,
  summary: 'The statements of a GraphQL operation with the plans of the database; none is run',
  // As many bytes as an operation may have by default.
  limit: 1024 * 1024,
  body: object(
    {
      query: text,
      variables: orNull('object'),
      operationName: orNull('string'),
      as: {
        type: ['string', 'object', 'null'],
        description: '`"public"`, or `{"user_id": …}`. Without it: the caller',
      },
    },
    ['query'],
  ),
  answers: { 200: ['The statements, in their order', explained] },
  refuses: {
    400: '`errors` has the GraphQL errors of an operation that would not run',
    413: 'The body is too large',
  },
  async handle({ body, context }, { kernel: { store } }) {
    const answer = await serviceOf(store, 'explain')(body, context);
    if (!('refused' in answer)) return reply(200, answer);
    const { refused } = answer;
    return reply(400, { error: refused[0]?.message ?? 'Bad request', errors: refused });
  },
});
