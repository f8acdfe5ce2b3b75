import { APP_STATUSES, type JsonSchema } from '@twofold/schema';
import {
  closed,
  count,
  dateTime,
  flag,
  list,
  object,
  orNull,
  type Shaped,
  text,
} from '@twofold/schema/shapes';
import type { AppFields } from './fields.ts';

/** The JSON Schemas of an app: its fields, which several bodies have, and how it is shown. */

const line = (maxLength: number, minLength = 1) =>
  ({ type: 'string', minLength, maxLength }) as const;
const within = (minimum: number, maximum: number) =>
  ({ type: 'integer', minimum, maximum }) as const;
const matching = (pattern: string) => ({ type: 'string', pattern }) as const;
const nullable = (schema: JsonSchema) => ({ anyOf: [schema, { type: 'null' }] });
const word = matching('^[a-z][a-z0-9-]{0,62}$');
const ENV_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';

/**
 * Values are text. Numbers and booleans are accepted and converted to text, because they are common
 * in YAML and JSON.
 */
export const env = {
  type: 'object',
  maxProperties: 500,
  propertyNames: { pattern: ENV_NAME },
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 65_536 },
} as const;

export const name = { ...line(63), pattern: word.pattern } as const;
export const domain = line(253);
export const image = line(400);
const port = within(1, 65_535);
/** A command and its arguments. */
export const command = list({ type: 'string', maxLength: 65_536 }, { minItems: 1, maxItems: 1000 });
export const lifetime = '^[1-9][0-9]{0,6}(s|m|h|d)$';

const health = closed({
  path: { ...matching('^/[\\x21-\\x7e]*$'), maxLength: 500 },
  tcp: flag,
  command: list(text, { minItems: 1, maxItems: 100 }),
  interval_s: { type: 'number', minimum: 0.1, maximum: 3600 },
  timeout_s: { type: 'number', minimum: 0.1, maximum: 600 },
  retries: within(1, 100),
});

const volume = closed(
  {
    name: matching('^[a-z0-9][a-z0-9_.-]{0,62}$'),
    path: matching('^/[A-Za-z0-9_./-]{1,254}$'),
    shared: flag,
  },
  ['name', 'path'],
);

const resources = closed({
  memory_mb: within(0, 1_048_576),
  cpus: { type: 'number', minimum: 0, maximum: 512 },
  pids: within(0, 4_194_304),
});

const addresses = list({ type: 'string', maxLength: 60 }, { maxItems: 500 });

/** The fields that the ingress uses at once. `user` describes a member of `basic_auth`. */
const httpOf = (user: JsonSchema) =>
  closed({
    max_connections: within(1, 1_000_000),
    compress: flag,
    rate_limit: nullable(
      closed(
        {
          requests: matching('^[1-9]\\d{0,6}/[1-9]\\d{0,5}(ms|s|m|h)$'),
          burst: within(1, 1_000_000),
          by: { enum: ['ip', 'app'] },
        },
        ['requests'],
      ),
    ),
    max_body: { ...orNull('integer'), minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    basic_auth: nullable(list(user, { maxItems: 100 })),
    maintenance: nullable(
      closed({ message: { type: 'string', maxLength: 1000 }, allow: addresses }),
    ),
    allow: nullable(addresses),
    timeout_s: { type: 'number', minimum: 1, maximum: 86_400 },
  });

export const userName = matching('^[^:\\x00-\\x1f\\x7f]{1,100}$');

/** How a container is started and stopped. Null means what the image says. */
const processFields = {
  entrypoint: nullable(list({ type: 'string', maxLength: 65_536 }, { maxItems: 100, minItems: 1 })),
  user: { ...orNull('string'), pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,100}$' },
  working_dir: { ...orNull('string'), pattern: '^/[^\\x00-\\x1f]{0,254}$' },
  init: flag,
  stop_grace_period: { ...orNull('number'), minimum: 0, maximum: 3600 },
} as const;

const file = closed(
  {
    path: line(255, 2),
    content: { type: 'string', maxLength: 1_400_000 },
    encoding: { enum: ['utf8', 'base64'] },
    executable: flag,
  },
  ['path', 'content'],
);

const previews = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: flag,
    expire: { ...orNull('string'), pattern: lifetime },
    env,
    secrets: list({ type: 'string', maxLength: 128 }, { maxItems: 500 }),
    forks: flag,
  },
} as const;

export const timeout = { type: 'number', exclusiveMinimum: 0, maximum: 86_400 } as const;
const crons = list(
  closed({ name: word, schedule: line(200), command, timezone: line(100), timeout_s: timeout }, [
    'name',
    'schedule',
    'command',
  ]),
  { maxItems: 50 },
);
const release = nullable(command);
const processes = list(
  closed({ name: word, command, replicas: within(1, 50), resources }, ['name', 'command']),
  { maxItems: 20 },
);
const ports = list(
  closed({ port, target: port, protocol: { enum: ['tcp', 'udp'] }, allow: addresses }, [
    'port',
    'target',
  ]),
  { maxItems: 50 },
);

const schedule = { ...orNull('string'), minLength: 9, maxLength: 200 } as const;
const dump = {
  type: ['array', 'null'],
  items: { type: 'string', maxLength: 16_384 },
  minItems: 1,
  maxItems: 100,
} as const;
const backup = closed({
  schedule,
  keep: closed({ last: within(1, 10_000), days: within(1, 36_500) }, ['last']),
  target: word,
  drill: schedule,
  dump,
  restore: dump,
  stop: flag,
});

const folder = { ...orNull('string'), minLength: 1, maxLength: 500 } as const;

/**
 * How an app is built from its source. A key with null goes back to the default. The whole field
 * with null does so for every key.
 */
const build = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    dockerfile: folder,
    context: folder,
    target: { ...orNull('string'), pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' },
    args: {
      ...orNull('object'),
      maxProperties: 200,
      propertyNames: { pattern: ENV_NAME },
      additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 16_384 },
    },
    secrets: {
      ...orNull('array'),
      maxItems: 50,
      uniqueItems: true,
      items: matching(ENV_NAME),
    },
    output: folder,
  },
} as const;

/** What bodies and answers say in the same words. */
const same = {
  resources,
  health,
  previews,
  cron: crons,
  project: { ...orNull('string'), pattern: word.pattern },
  ...processFields,
  build,
  backup,
  release,
  processes,
  ports,
  volumes: list(volume, { maxItems: 20 }),
} as const;

/** The fields of an app that can be set when it is created and changed later. */
const changeable = {
  ...same,
  /** Null makes the app a worker. */
  port: { ...port, type: ['integer', 'null'] },
  domain,
  aliases: list(domain, { maxItems: 20, uniqueItems: true }),
  env,
  replicas: within(1, 50),
  command: { type: ['array', 'null'], items: text, maxItems: 100 },
  http: httpOf(
    closed({ user: userName, password: { type: 'string', minLength: 1, maxLength: 500 } }, [
      'user',
    ]),
  ),
  files: list(file, { maxItems: 200 }),
} as const;

export type NamedFields = AppFields & { readonly name: string };

export const createBody: Shaped<NamedFields> = closed({ name, image, ...changeable }, ['name']);
export const changeBody: Shaped<AppFields> = closed(changeable);
/** The field `config` of `POST /api/deploy`. */
export const deployConfig: Shaped<NamedFields> = closed({ name, ...changeable }, ['name']);

/** An app in answers. */
const shown = {
  ...same,
  id: text,
  name: text,
  status: { enum: APP_STATUSES },
  domain: orNull('string'),
  image: orNull('string'),
  created_at: dateTime,
  updated_at: dateTime,
  port: orNull('integer'),
  env: object({}),
  aliases: list(text),
  replicas: count,
  command: { type: ['array', 'null'], items: text },
  http: httpOf(closed({ user: userName }, ['user'])),
  preview: object({ of: text, key: text, ref: orNull('string'), expires_at: dateTime }),
  moved: object({ to: text, until: dateTime }),
  networks: list(text),
  files: list(object({ path: text, bytes: count, sha256: text, executable: flag })),
  source: orNull('object'),
  deployment: orNull('integer'),
  url: orNull('string'),
  restarts: count,
  error: text,
} as const;
export const app = object(shown);

/** An app that was created from a template. Only this answer has `generated`. */
export const templateApp = object({ ...shown, generated: object({}) });
