import type { JsonSchema } from '../routes/route.ts';
import { count, text } from './json-shapes.ts';

/** A user name of HTTP's basic authentication: without a colon and control characters. */
export const registryBody: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['username', 'password'],
  properties: {
    username: { type: 'string', pattern: '^[^:\\x00-\\x1f\\x7f]{1,500}$' },
    password: { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f]{1,20000}$' },
  },
};

export const registry: JsonSchema = {
  type: 'object',
  required: ['host', 'username', 'source'],
  properties: {
    host: text,
    username: { type: ['string', 'null'] },
    source: { enum: ['api', 'docker-config'] },
  },
};

export const registryList: JsonSchema = {
  type: 'object',
  required: ['registries', 'total'],
  properties: {
    registries: { type: 'array', items: registry },
    total: count,
  },
};

export const registryCheck: JsonSchema = {
  type: 'object',
  required: ['ok'],
  properties: { ok: { type: 'boolean' }, message: text },
};
