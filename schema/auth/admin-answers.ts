import type { JsonSchema, RouteSpec } from '../routes/route.ts';
import { ERROR, object } from './route-shapes.ts';

/** The group of the routes of management in `openapi.json`, and their guard. */
export const tag = 'auth-admin';
export const access = 'admin';

/** The entry of the audit log is written in one transaction with the change. */
export const atomic = true;

export const refused = (description: string) => ({ description, schema: ERROR });
export const answer = (
  status: number,
  description: string,
  schema?: JsonSchema,
): RouteSpec['responses'] => ({
  [status]: { description, ...(schema && { schema }) },
  401: refused('API key required'),
  403: refused('Forbidden'),
});
export const list = (name: string) =>
  object({ [name]: { type: 'array', items: { type: 'object' } }, total: { type: 'integer' } });
