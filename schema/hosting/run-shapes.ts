import type { JsonSchema } from '../routes/route.ts';
import { closedObject, dateTime, nullableType, text } from './json-shapes.ts';

/** The JSON Schemas of runs and schedules. */

/** A command and its arguments. */
const command = {
  type: 'array',
  items: { type: 'string', maxLength: 65_536 },
  minItems: 1,
  maxItems: 1000,
} as const;
const timeout = { type: 'number', exclusiveMinimum: 0, maximum: 86_400 } as const;
const name = { type: 'string', pattern: '^[a-z][a-z0-9-]{0,62}$' } as const;

export const runBody = closedObject({ command, timeout_s: timeout }, ['command']);

/** The field `cron` of an app. */
export const cron: JsonSchema = {
  type: 'array',
  maxItems: 50,
  items: closedObject(
    {
      name,
      schedule: { type: 'string', minLength: 1, maxLength: 200 },
      command,
      timezone: { type: 'string', minLength: 1, maxLength: 100 },
      timeout_s: timeout,
    },
    ['name', 'schedule', 'command'],
  ),
};

/** The field `release` of an app. */
export const release: JsonSchema = { anyOf: [command, { type: 'null' }] };

/** The field `processes` of an app. */
export const processesOf = (resources: JsonSchema): JsonSchema => ({
  type: 'array',
  maxItems: 20,
  items: closedObject(
    { name, command, replicas: { type: 'integer', minimum: 1, maximum: 50 }, resources },
    ['name', 'command'],
  ),
});

const hostPort = { type: 'integer', minimum: 1, maximum: 65_535 } as const;

/** The field `ports` of an app. */
export const ports: JsonSchema = {
  type: 'array',
  maxItems: 50,
  items: closedObject(
    {
      ...{ port: hostPort, target: hostPort, protocol: { enum: ['tcp', 'udp'] } },
      allow: { type: 'array', items: { type: 'string', maxLength: 60 }, maxItems: 500 },
    },
    ['port', 'target'],
  ),
};

export const RUN_STATUS = ['running', 'done', 'failed', 'timeout', 'stopped', 'lost'] as const;

export const run: JsonSchema = {
  type: 'object',
  properties: {
    ...{ id: text, app: text, cron: nullableType('string'), command },
    status: { enum: RUN_STATUS },
    ...{
      exit_code: nullableType('integer'),
      started_at: dateTime,
      finished_at: nullableType('string'),
    },
  },
};

export const runList: JsonSchema = {
  type: 'object',
  properties: {
    runs: { type: 'array', items: run },
    total: { type: 'integer' },
    /** How many times of each schedule were skipped because its last run still went on. */
    skipped: { type: 'object', additionalProperties: { type: 'integer' } },
  },
};
