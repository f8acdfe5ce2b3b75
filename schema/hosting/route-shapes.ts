import type { JsonSchema } from '../routes/route.ts';
import { previewRules, shownPreview } from './preview-shapes.ts';
import { buildShape } from './build-shape.ts';
import { closedObject, count, dateTime, text } from './json-shapes.ts';
import { backupRules } from './backup-shapes.ts';
import { cron, ports, processesOf, release } from './run-shapes.ts';
import { APP_STATUSES, DEPLOYMENT_STATUSES } from './statuses.ts';

/** The JSON Schemas of the hosting API, for checks of request bodies and for OpenAPI. */

const openObject = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
});

/**
 * Values are text. Numbers and booleans are accepted and converted to text, because they are common
 * in YAML and JSON.
 */
export const env: JsonSchema = {
  type: 'object',
  maxProperties: 500,
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 65_536 },
};

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z][a-z0-9-]{0,62}$',
} as const;
const domain = { type: 'string', minLength: 1, maxLength: 253 } as const;
export const image = { type: 'string', minLength: 1, maxLength: 400 } as const;
const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const;

const health = closedObject({
  path: { type: 'string', pattern: '^/[\\x21-\\x7e]*$', maxLength: 500 },
  tcp: { type: 'boolean' },
  command: { type: 'array', items: text, minItems: 1, maxItems: 100 },
  interval_s: { type: 'number', minimum: 0.1, maximum: 3600 },
  timeout_s: { type: 'number', minimum: 0.1, maximum: 600 },
  retries: { type: 'integer', minimum: 1, maximum: 100 },
});

const volumes = {
  type: 'array',
  maxItems: 20,
  items: closedObject(
    {
      name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' },
      path: { type: 'string', pattern: '^/[A-Za-z0-9_./-]{1,254}$' },
      shared: { type: 'boolean' },
    },
    ['name', 'path'],
  ),
} as const;

const resources = closedObject({
  memory_mb: { type: 'integer', minimum: 0, maximum: 1_048_576 },
  cpus: { type: 'number', minimum: 0, maximum: 512 },
  pids: { type: 'integer', minimum: 0, maximum: 4_194_304 },
});

const addresses = {
  type: 'array',
  items: { type: 'string', maxLength: 60 },
  maxItems: 500,
} as const;
const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

/** The fields that the ingress uses at once. `user` describes a member of `basic_auth`. */
const httpOf = (user: JsonSchema): JsonSchema =>
  closedObject({
    max_connections: { type: 'integer', minimum: 1, maximum: 1_000_000 },
    compress: { type: 'boolean' },
    rate_limit: nullable(
      closedObject(
        {
          requests: { type: 'string', pattern: '^[1-9]\\d{0,6}/[1-9]\\d{0,5}(ms|s|m|h)$' },
          burst: { type: 'integer', minimum: 1, maximum: 1_000_000 },
          by: { enum: ['ip', 'app'] },
        },
        ['requests'],
      ),
    ),
    max_body: { type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    basic_auth: nullable({ type: 'array', items: user, maxItems: 100 }),
    maintenance: nullable(
      closedObject({ message: { type: 'string', maxLength: 1000 }, allow: addresses }),
    ),
    allow: nullable(addresses),
    timeout_s: { type: 'number', minimum: 1, maximum: 86_400 },
  });

const userName = { type: 'string', pattern: '^[^:\\x00-\\x1f\\x7f]{1,100}$' } as const;
const http = httpOf(
  closedObject({ user: userName, password: { type: 'string', minLength: 1, maxLength: 500 } }, [
    'user',
  ]),
);
const shownHttp = httpOf(closedObject({ user: userName }, ['user']));

const words = {
  type: 'array',
  items: { type: 'string', maxLength: 65_536 },
  maxItems: 100,
} as const;
const projectName = { type: ['string', 'null'], pattern: '^[a-z][a-z0-9-]{0,62}$' } as const;

/** How a container is started and stopped. Null means what the image says. */
const processFields = {
  entrypoint: nullable({ ...words, minItems: 1 }),
  user: { type: ['string', 'null'], pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,100}$' },
  working_dir: { type: ['string', 'null'], pattern: '^/[^\\x00-\\x1f]{0,254}$' },
  init: { type: 'boolean' },
  stop_grace_period: { type: ['number', 'null'], minimum: 0, maximum: 3600 },
} as const;

/** Files that containers get before they start, at most 1 MiB in all. */
const files = {
  type: 'array',
  maxItems: 200,
  items: closedObject(
    {
      path: { type: 'string', minLength: 2, maxLength: 255 },
      content: { type: 'string', maxLength: 1_400_000 },
      encoding: { enum: ['utf8', 'base64'] },
      executable: { type: 'boolean' },
    },
    ['path', 'content'],
  ),
} as const;
const previews = previewRules(env);
/** The fields of an app that can be set when it is created and changed later. */
const changeable = {
  /** Null makes the app a worker. */
  port: { ...port, type: ['integer', 'null'] },
  domain,
  aliases: { type: 'array', items: domain, maxItems: 20, uniqueItems: true },
  env,
  volumes,
  replicas: { type: 'integer', minimum: 1, maximum: 50 },
  resources,
  health,
  command: { type: ['array', 'null'], items: text, maxItems: 100 },
  http,
  cron,
  project: projectName,
  ...processFields,
  files,
  build: buildShape,
  previews,
  backup: backupRules,
  release,
  processes: processesOf(resources),
  ports,
} as const;

export const createBody = closedObject({ name, image, ...changeable }, ['name']);
export const changeBody = closedObject(changeable);

export const git = closedObject(
  {
    url: { type: 'string', minLength: 1, maxLength: 2000 },
    ref: { type: 'string', minLength: 1, maxLength: 200 },
    path: { type: 'string', maxLength: 500 },
    token: { type: 'string', maxLength: 4000 },
  },
  ['url'],
);

export const deployBody = closedObject({
  image,
  git,
  git_url: { type: 'string', minLength: 1, maxLength: 2000 },
  branch: { type: 'string', minLength: 1, maxLength: 200 },
});

/** The field `config` of `POST /api/deploy`. */
export const deployConfig = closedObject({ name, ...changeable }, ['name']);

export const rollbackBody = closedObject({ deployment: { type: 'integer', minimum: 1 } });

export const execBody = closedObject(
  {
    command: {
      type: 'array',
      items: { type: 'string', maxLength: 65_536 },
      minItems: 1,
      maxItems: 1000,
    },
    timeout_s: { type: 'number', exclusiveMinimum: 0, maximum: 600 },
  },
  ['command'],
);

export const terminalBody = closedObject({
  command: {
    type: 'array',
    items: { type: 'string', maxLength: 4096 },
    minItems: 1,
    maxItems: 100,
  },
  cols: { type: 'integer', minimum: 1, maximum: 1000 },
  rows: { type: 'integer', minimum: 1, maximum: 1000 },
  replica: { type: 'integer', minimum: 0, maximum: 49 },
});

export const secretBody = closedObject({ value: { type: 'string', maxLength: 65_536 } }, ['value']);
export const templateBody = closedObject({ name, env, domain }, ['name']);
export const pushBody: JsonSchema = { type: 'object' };

/** `App` in responses. */
export const app = openObject({
  id: text,
  name: text,
  status: { enum: APP_STATUSES },
  domain: { type: ['string', 'null'] },
  image: { type: ['string', 'null'] },
  created_at: dateTime,
  updated_at: dateTime,
  port: { type: ['integer', 'null'] },
  env: openObject({}),
  aliases: { type: 'array', items: text },
  volumes,
  replicas: count,
  resources,
  health,
  command: { type: ['array', 'null'], items: text },
  http: shownHttp,
  previews,
  preview: shownPreview,
  moved: openObject({ to: text, until: dateTime }),
  cron,
  project: projectName,
  networks: { type: 'array', items: text },
  ...processFields,
  files: {
    type: 'array',
    items: openObject({
      path: text,
      bytes: count,
      sha256: text,
      executable: { type: 'boolean' },
    }),
  },
  build: buildShape,
  backup: backupRules,
  release,
  processes: processesOf(resources),
  ports,
  source: { type: ['object', 'null'] },
  deployment: { type: ['integer', 'null'] },
  url: { type: ['string', 'null'] },
  restarts: count,
  error: text,
});

/** An app that was created from a template. Only this response contains `generated`. */
export const templateApp = openObject({
  ...(app.properties as Readonly<Record<string, JsonSchema>>),
  generated: openObject({}),
});

export const appList = openObject({
  apps: { type: 'array', items: app },
  total: count,
  next_cursor: text,
});

export const deployment = openObject({
  app: text,
  number: count,
  status: { enum: DEPLOYMENT_STATUSES },
  current: { type: 'boolean' },
  trigger: text,
  source: openObject({}),
  image: { type: ['string', 'null'] },
  image_id: { type: ['string', 'null'] },
  reason: { type: ['string', 'null'] },
  probes: {
    type: 'array',
    items: openObject({ at: dateTime, ok: { type: 'boolean' }, detail: text }),
  },
  log: { type: 'array', items: text },
  has_build_log: { type: 'boolean' },
  created_at: dateTime,
  finished_at: { type: ['string', 'null'] },
});

export const deploymentList = openObject({
  deployments: { type: 'array', items: deployment },
  total: count,
});
export const execResult = openObject({
  exit_code: { type: 'integer' },
  stdout: text,
  stderr: text,
  truncated: { type: 'boolean' },
});

export const terminal = openObject({ id: text, ticket: text, expires_at: dateTime });

/** A line of the access log. */
const accessEntry = openObject({
  at: dateTime,
  request_id: text,
  app: { type: ['string', 'null'] },
  ip: text,
  method: text,
  host: text,
  path: text,
  status: count,
  bytes: count,
  ms: { type: 'number', minimum: 0 },
  target: { type: ['string', 'null'] },
  user_agent: { type: ['string', 'null'] },
});

export const accessList = openObject({
  requests: { type: 'array', items: accessEntry },
  total: count,
});

export const certificateBody = closedObject(
  {
    certificate: { type: 'string', maxLength: 200_000 },
    key: { type: 'string', maxLength: 50_000 },
  },
  ['certificate', 'key'],
);

export const certificate = openObject({
  hosts: { type: 'array', items: text },
  expires_at: dateTime,
});

export const volumeList = openObject({
  volumes: {
    type: 'array',
    items: openObject({
      name: text,
      path: text,
      bytes: { type: ['integer', 'null'], minimum: 0 },
    }),
  },
  total: count,
});

export const templateList = openObject({
  templates: {
    type: 'array',
    items: openObject({
      id: text,
      name: text,
      description: text,
      category: text,
      image: text,
      port: { type: 'integer' },
      env: {
        type: 'array',
        items: openObject({
          key: text,
          description: text,
          secret: { type: 'boolean' },
          default: text,
          generate: { type: 'integer' },
        }),
      },
      volumes: { type: 'array', items: openObject({ name: text, path: text }) },
    }),
  },
  total: count,
});

export const error = openObject({ error: text });
export const anything = openObject({});
