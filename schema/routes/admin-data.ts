import type { JsonSchema, RouteSpec } from './route.ts';

/** Where every row is read and written. */
export const ADMIN_DATA = '/api/data';

const ERROR: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' } },
};

/** The refusals that every route below `/api/data` can answer with. */
export const ADMIN_REFUSED = {
  401: { description: 'A credential is missing or wrong', schema: ERROR },
  403: { description: 'The caller lacks the permission', schema: ERROR },
};

/** The routes below `/api/data` that do not depend on a type. */
export const adminDataRoutes = [
  {
    id: 'adminDataTypes',
    method: 'GET',
    path: ADMIN_DATA,
    access: 'data:read',
    tag: 'data',
    summary: 'The types with a table, and how many rows each has',
    responses: {
      200: {
        description: 'In the order of the schema',
        schema: {
          type: 'object',
          required: ['types'],
          properties: {
            types: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name', 'path', 'total'],
                properties: {
                  name: { type: 'string' },
                  path: { type: 'string' },
                  total: { type: 'integer' },
                },
              },
            },
          },
        },
      },
      ...ADMIN_REFUSED,
    },
  },
] as const satisfies readonly RouteSpec[];
