import type { JsonSchema } from '../routes/route.ts';
import { count, dateTime } from './json-shapes.ts';

/** The JSON Schemas of notifications. */

/** What a notification can be about. The second of each pair says that the first is over. */
export const NOTIFICATION_EVENTS = [
  ...['deploy.failed', 'deploy.recovered', 'app.crashed', 'app.recovered'],
  ...['run.failed', 'run.recovered', 'backup.failed', 'backup.recovered'],
  ...['certificate.failed', 'certificate.recovered', 'disk.low', 'disk.recovered'],
  ...['engine.away', 'engine.back'],
] as const;

const names = { type: 'array', minItems: 1, maxItems: 100, uniqueItems: true } as const;
const fields = {
  kind: { enum: ['webhook', 'slack', 'mail'] },
  url: { type: 'string', minLength: 1, maxLength: 2048 },
  to: { type: 'string', minLength: 3, maxLength: 254 },
  events: { ...names, items: { type: 'string', maxLength: 40 }, default: ['*'] },
  apps: { ...names, items: { type: 'string', maxLength: 63 }, default: ['*'] },
} as const;

export const notificationBody: JsonSchema = {
  type: 'object',
  properties: { ...fields, secret: { type: 'string', minLength: 16, maxLength: 200 } },
  required: ['kind'],
  additionalProperties: false,
};

/** `secret` is only in the response that made it. */
export const notification: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    ...fields,
    secret: { type: 'string' },
    created_at: dateTime,
    updated_at: dateTime,
  },
};

export const notificationList: JsonSchema = {
  type: 'object',
  properties: {
    notifications: { type: 'array', items: notification },
    total: count,
  },
};

export const notificationTest: JsonSchema = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    status: { type: 'integer' },
    error: { type: 'string' },
  },
};
