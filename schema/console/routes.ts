import type { JsonSchema, RouteSpec } from '../routes/route.ts';

const text = { type: 'string' } as const;
const ERROR: JsonSchema = { type: 'object', properties: { error: text }, required: ['error'] };
const tag = 'console';
const refused = (description: string) => ({ description, schema: ERROR });
const signedIn = {
  401: refused('A credential is missing or wrong'),
  403: refused('The caller may not do this'),
} as const;

/** Routes that the console uses; they are there while the manifest has `console`. */
export const consoleRoutes = [
  {
    id: 'console',
    method: 'GET',
    path: '/api/console',
    access: 'public',
    tag,
    summary: 'What the console has, and what the caller may see of it',
    responses: {
      200: {
        description: 'Without a credential `caller` is null and `pages` is empty',
        schema: {
          type: 'object',
          required: ['name', 'version', 'environment', 'path', 'sign_in', 'caller', 'pages'],
        },
      },
      ...signedIn,
    },
  },
  {
    id: 'systemSchema',
    method: 'GET',
    path: '/api/system/schema',
    access: 'system:read',
    tag,
    summary: 'The types of the schema with their tables, columns and relations, and the SDL',
    responses: { 200: { description: 'The schema', schema: { type: 'object' } }, ...signedIn },
  },
] as const satisfies readonly RouteSpec[];
