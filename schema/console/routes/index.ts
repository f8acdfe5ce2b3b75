import { operationRoutes, DESCRIBED_BY_HOSTING, signedIn, tag, refused } from './operations.ts';
import type { Project } from '../../model.ts';
import type { RouteSpec } from '../../routes/route.ts';

const names = (description: string) => ({
  type: 'array',
  items: { type: 'string' },
  description,
});
const text = { type: ['string', 'null'] } as const;
const states = {
  applied: names('The database has them'),
  pending: names('They are not applied yet'),
  draft: names('Every save of the schema writes them again'),
  empty: names('They have no step'),
  changed: names('The file has another text than was applied'),
  missing: names('Applied, and without a file'),
  partial: names('Stopped before the last step'),
  oneWay: names('They cannot be undone'),
} as const;

/** Routes that describe the state of the migrations. */
const migrationRoutes = [
  {
    id: 'systemMigrations',
    method: 'GET',
    path: '/api/system/migrations',
    access: 'system:read',
    tag,
    summary: 'Migrations by their state, as `migrate status --json` lists them; nothing is applied',
    query: {
      drift: {
        type: 'boolean',
        default: false,
        description: 'Also compares the tables with what the applied migrations make',
      },
    },
    responses: {
      200: {
        description: 'Names of migrations',
        schema: {
          type: 'object',
          required: Object.keys(states),
          properties: {
            ...states,
            drift: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  object: { type: 'string' },
                  kind: { type: 'string', enum: ['missing', 'extra', 'different'] },
                  expected: text,
                  found: text,
                  fix: { type: 'string' },
                },
              },
            },
          },
        },
      },
      ...signedIn,
      409: refused('The role of DATABASE_URL may not create the schema that drift needs'),
    },
  },
] as const satisfies readonly RouteSpec[];

/** Bytes of a body, as many as an operation may have by default. */
const BODY = 1024 * 1024;

const STATEMENT = {
  type: 'object',
  required: ['path', 'sql', 'parameters', 'plan'],
  properties: {
    path: { type: 'array', items: { type: 'string' } },
    sql: { type: 'string' },
    parameters: { type: 'array' },
    plan: { type: 'array', items: { type: 'string' } },
  },
} as const;

const EXPLAINED = {
  type: 'object',
  required: ['statements', 'functions', 'depth', 'cost'],
  properties: {
    statements: { type: 'array', items: STATEMENT },
    functions: { type: 'array', items: { type: 'string' } },
    depth: { type: 'integer' },
    cost: { type: 'integer' },
    errors: { type: 'array', items: { type: 'object' } },
  },
} as const;

/** Routes that explain how an operation would be served. */
const explainRoutes = [
  {
    id: 'systemExplain',
    method: 'POST',
    path: '/api/system/explain',
    access: 'system:read',
    tag,
    summary: 'The statements of a GraphQL operation with the plans of the database; none is run',
    body: {
      kind: 'json',
      limit: BODY,
      schema: {
        type: 'object',
        required: ['query'],
        properties: {
          query: { type: 'string' },
          variables: { type: ['object', 'null'] },
          operationName: { type: ['string', 'null'] },
          as: {
            description: '`"public"`, or `{"user_id": …}`. Without it: the caller',
            type: ['string', 'object', 'null'],
          },
        },
      },
    },
    responses: {
      200: { description: 'The statements, in their order', schema: EXPLAINED },
      400: refused('`errors` has the GraphQL errors of an operation that would not run'),
      ...signedIn,
      413: refused('The body is too large'),
    },
  },
] as const satisfies readonly RouteSpec[];

/** Routes that describe the server and the caller. */
const descriptionRoutes = [
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

/** The routes of the console. They exist if the manifest has `console`. */
export const consoleRoutes = [
  ...descriptionRoutes,
  ...operationRoutes,
  ...explainRoutes,
  ...migrationRoutes,
] as const;

/** Whether the console of a project serves a route, or leaves it to hosting. */
export const isConsoleRouteServed = ({ id }: RouteSpec, { hosting }: Project): boolean =>
  !hosting || !DESCRIBED_BY_HOSTING.includes(id);
