import type { JsonSchema } from '../routes/route.ts';
import { closedObject, count, dateTime, nullableType, text } from './json-shapes.ts';

/** The JSON Schemas of backups: the app's field `backup`, bodies and responses. */

const word = { type: 'string', pattern: '^[a-z][a-z0-9-]{0,62}$' } as const;
const schedule = { type: ['string', 'null'], minLength: 9, maxLength: 200 } as const;
const command = {
  type: ['array', 'null'],
  items: { type: 'string', maxLength: 16_384 },
  minItems: 1,
  maxItems: 100,
} as const;

/** The field `backup` of an app. */
export const backupRules = closedObject({
  schedule,
  keep: closedObject(
    {
      last: { type: 'integer', minimum: 1, maximum: 10_000 },
      days: { type: 'integer', minimum: 1, maximum: 36_500 },
    },
    ['last'],
  ),
  target: word,
  drill: schedule,
  dump: command,
  restore: command,
  stop: { type: 'boolean' },
});

export const backup: JsonSchema = {
  type: 'object',
  properties: {
    id: text,
    app: nullableType('string'),
    target: text,
    status: { enum: ['running', 'done', 'failed'] },
    bytes: { type: ['integer', 'null'], minimum: 0 },
    sha256: nullableType('string'),
    started_at: dateTime,
    finished_at: nullableType('string'),
    verified_at: nullableType('string'),
    error: nullableType('string'),
  },
};

export const backupList: JsonSchema = {
  type: 'object',
  properties: {
    backups: { type: 'array', items: backup },
    total: count,
  },
};

export const restoreBody = closedObject({
  confirm: { type: 'string', maxLength: 63 },
  into: { type: 'string', maxLength: 63 },
});

export const systemBackupBody = closedObject({ target: word }, ['target']);

export const restored: JsonSchema = {
  type: 'object',
  properties: { app: text, backup: text, status: { enum: ['running', 'done'] } },
};

const line = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const;

export const targetBody: JsonSchema = {
  oneOf: [
    closedObject(
      {
        kind: { const: 's3' },
        endpoint: { type: 'string', pattern: '^https?://[^\\s/]+/?$', maxLength: 300 },
        bucket: { type: 'string', pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}$' },
        region: { type: 'string', pattern: '^[a-z0-9-]{1,60}$' },
        prefix: { type: 'string', pattern: '^[A-Za-z0-9._/-]{0,200}$' },
        path_style: { type: 'boolean' },
        access_key_id: line(200),
        secret_access_key: line(500),
      },
      ['kind', 'endpoint', 'bucket', 'access_key_id', 'secret_access_key'],
    ),
    closedObject({ kind: { const: 'local' }, path: line(500) }, ['kind', 'path']),
  ],
};

export const target: JsonSchema = {
  type: 'object',
  properties: { name: text, kind: { enum: ['s3', 'local'] } },
};

export const targetList: JsonSchema = {
  type: 'object',
  properties: {
    targets: { type: 'array', items: target },
    total: count,
  },
};
