import type { JsonSchema } from '../../routes/route.ts';

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
