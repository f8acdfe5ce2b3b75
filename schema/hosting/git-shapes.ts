import type { JsonSchema } from '../routes/route.ts';
import { count, dateTime, text } from './json-shapes.ts';

const bodyWith = (name: string, maxLength: number): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required: [name],
  properties: { [name]: { type: 'string', minLength: 1, maxLength } },
});

export const deployKeyBody = bodyWith('private_key', 20_000);
export const gitHostBody = bodyWith('public_key', 10_000);

export const deployKey: JsonSchema = {
  type: 'object',
  required: ['public_key', 'fingerprint'],
  properties: { public_key: text, fingerprint: text },
};

export const gitHost: JsonSchema = {
  type: 'object',
  required: ['host', 'public_key', 'fingerprint', 'source', 'created_at'],
  properties: {
    host: text,
    public_key: text,
    fingerprint: text,
    source: { enum: ['api', 'clone'] },
    created_at: dateTime,
  },
};

export const gitHostList: JsonSchema = {
  type: 'object',
  required: ['hosts', 'total'],
  properties: {
    hosts: { type: 'array', items: gitHost },
    total: count,
  },
};
