import type { RouteSpec } from '../../routes/route.ts';
import { signedIn, tag } from './answers.ts';

/** Routes that describe the server and the caller. */
export const descriptionRoutes = [
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
