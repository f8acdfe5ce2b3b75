import type { RouteSpec } from './route.ts';

const text = { type: 'string' } as const;
const refused = (description: string) => ({
  description,
  schema: { type: 'object', required: ['error'], properties: { error: text } },
});
const filter = (of: string) => ({
  type: 'string',
  maxLength: 300,
  description: `${of}; a \`*\` at the end stands for any text`,
});
const members = {
  id: text,
  at: { type: 'string', format: 'date-time' },
  actor: { ...text, description: '`user:1`, `key:<id>` or `host`' },
  via: { ...text, description: '`console`, or `api` for all other callers' },
  ip: text,
  action: { ...text, description: 'The operation id of the route' },
  target: { ...text, description: '`user:2`, the name of an app …' },
  detail: { type: 'object' },
  request_id: text,
} as const;

/** The log of changes, for the operator, a key or a user with `system:read`. */
export const auditRoutes = [
  {
    id: 'auditLog',
    method: 'GET',
    path: '/api/system/audit',
    access: 'system:read',
    tag: 'system',
    summary: 'Lists who changed what, newest first',
    query: {
      target: filter('What was changed'),
      actor: filter('Who changed it'),
      action: filter('What they did'),
      via: { type: 'string', maxLength: 64 },
      since: { type: 'string', maxLength: 64, description: 'Not before this time: ISO 8601' },
      app: { type: 'string', maxLength: 63, description: 'The earlier name of `target`' },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      cursor: { type: 'string', maxLength: 36 },
    },
    responses: {
      200: {
        description: 'A page',
        schema: {
          type: 'object',
          required: ['entries', 'next_cursor'],
          properties: {
            entries: {
              type: 'array',
              items: { type: 'object', required: Object.keys(members), properties: members },
            },
            next_cursor: { type: ['string', 'null'] },
          },
        },
      },
      400: refused('A value is wrong'),
      401: refused('A credential is missing or wrong'),
      403: refused('The caller may not do this'),
    },
  },
] as const satisfies readonly RouteSpec[];
