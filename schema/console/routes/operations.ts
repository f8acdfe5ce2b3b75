import type { RouteSpec, JsonSchema } from '../../routes/route.ts';

const ERROR: JsonSchema = {
  type: 'object',
  properties: { error: { type: 'string' } },
  required: ['error'],
};

/** The response of a refusal. Its text is in `error`. */
export const refused = (description: string) => ({ description, schema: ERROR });

/** The responses of every route of the console to callers without the permission. */
export const signedIn = {
  401: refused('A credential is missing or wrong'),
  403: refused('The caller may not do this'),
} as const;

/** The group of these routes in `openapi.json`. */
export const tag = 'console';

const reads = { access: 'system:read', tag } as const;

const text = { type: 'string' } as const;
const nullable = (type: string) => ({ type: [type, 'null'] });

const object = (properties: Readonly<Record<string, object>>, also: readonly string[] = []) => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !also.includes(name)),
  properties,
});

const list = (items: object) => ({ type: 'array', items });

const bytesOf = { type: ['object', 'null'], properties: { free: {}, total: {} } };

const line = object({
  id: text,
  time: { type: 'string', format: 'date-time' },
  level: { enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] },
  message: text,
  request_id: nullable('string'),
  fields: { type: 'object' },
});

const setting = object({
  name: text,
  value: {},
  source: { enum: ['default', 'manifest', 'environment', '.env'] },
  secret: { type: 'boolean' },
  set: { type: 'boolean' },
});

const series = object({
  name: text,
  unit: text,
  points: list({ type: 'array', items: nullable('number'), minItems: 2, maxItems: 2 }),
});

/**
 * The routes that describe the server. With hosting, hosting serves them, with more information.
 */
export const DESCRIBED_BY_HOSTING: readonly string[] = ['systemInfo', 'systemConfig'];

/** The server as its operators see it: its settings, its log and its figures. */
export const operationRoutes = [
  {
    id: 'systemInfo',
    method: 'GET',
    path: '/api/system/info',
    ...reads,
    summary: 'Describes the server and its machine',
    responses: {
      200: {
        description: 'The description',
        schema: object({
          ...{ name: text, version: text, node: text },
          environment: { enum: ['development', 'production'] },
          ...{ hostname: text, os: text, arch: text, cpus: { type: 'integer' } },
          ...{ memory: { type: 'integer' }, disk: bytesOf, uptime: { type: 'integer' } },
          started_at: { type: 'string', format: 'date-time' },
          log_followers: { type: 'integer' },
        }),
      },
      ...signedIn,
    },
  },
  {
    id: 'systemConfig',
    method: 'GET',
    path: '/api/system/config',
    ...reads,
    summary: 'Returns the limits and features of the server',
    responses: {
      200: { description: 'The settings, without secrets', schema: { type: 'object' } },
      ...signedIn,
    },
  },
  {
    id: 'systemSettings',
    method: 'GET',
    path: '/api/system/settings',
    ...reads,
    summary: 'Lists every key of the manifest and every setting that is read',
    responses: {
      200: {
        description: 'The value of a secret is null, and a password in an address is `***`',
        schema: object({ settings: list(setting) }),
      },
      ...signedIn,
    },
  },
  {
    id: 'systemLogs',
    method: 'GET',
    path: '/api/system/logs',
    ...reads,
    summary: "Returns lines of the server's log, the newest first",
    description:
      'The last 50,000 lines, or 16 MiB of them, of all workers. With `Accept: text/event-stream` the last `limit` lines (0 is none) and then those that come: events `lines`, whose data is an array of lines and whose id is that of the last one. `Last-Event-ID` goes on from there. An event `dropped` says how many lines were missed, `{"lines": null}` after a restart.',
    headers: { 'Last-Event-ID': text },
    query: {
      level: { ...line.properties['level'], description: 'The least level' },
      q: { type: 'string', maxLength: 1000, description: 'A text that the line has' },
      since: { type: 'string', description: 'RFC 3339, Unix seconds, or a duration such as 10m' },
      until: { type: 'string', description: 'RFC 3339, Unix seconds, or a duration such as 10m' },
      limit: { type: 'integer', minimum: 0, maximum: 1000, default: 50 },
      cursor: { type: 'string', maxLength: 100 },
    },
    responses: {
      200: {
        description: 'Lines, and the cursor of the next page',
        schema: object({ lines: list(line), next_cursor: nullable('string') }),
      },
      400: refused('A parameter is wrong'),
      ...signedIn,
      429: refused('A stream too many'),
    },
  },
  {
    id: 'systemMetrics',
    method: 'GET',
    path: '/api/system/metrics',
    ...reads,
    summary: 'Returns figures over time',
    description:
      'Steps of 10 s for an hour, and of a minute for a day. A value is null while the server was off; a latency also while there was no request. The last step is not over yet.',
    query: { range: { enum: ['15m', '1h', '24h'], default: '15m' } },
    responses: {
      200: {
        description: 'The figures',
        schema: object({
          from: { type: 'integer' },
          to: { type: 'integer' },
          step_s: { type: 'integer' },
          series: list(series),
        }),
      },
      400: refused('There is no such range'),
      ...signedIn,
    },
  },
] as const satisfies readonly RouteSpec[];
