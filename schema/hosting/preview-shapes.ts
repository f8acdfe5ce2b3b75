import type { JsonSchema } from '../routes/route.ts';
import { count, dateTime, text } from './json-shapes.ts';

const lifetime = '^[1-9][0-9]{0,6}(s|m|h|d)$';

/** The field `previews` of an app. @param env The schema of an environment. */
export const previewRules = (env: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean' },
    expire: { type: ['string', 'null'], pattern: lifetime },
    env,
    secrets: { type: 'array', maxItems: 500, items: { type: 'string', maxLength: 128 } },
    forks: { type: 'boolean' },
  },
});

/** What an app that is a preview shows of that. */
export const shownPreview: JsonSchema = {
  type: 'object',
  properties: {
    of: text,
    key: text,
    ref: { type: ['string', 'null'] },
    expires_at: dateTime,
  },
};

/** The body that makes a preview by hand. */
export const previewBody = (source: {
  readonly image: JsonSchema;
  readonly git: JsonSchema;
}): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['key'],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 60 },
    ...source,
    expires_in: { type: 'string', pattern: lifetime },
  },
});

export const previewList = (app: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    previews: { type: 'array', items: app },
    total: count,
  },
});
