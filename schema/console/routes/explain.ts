import type { RouteSpec } from '../../routes/route.ts';
import { refused, signedIn, tag } from './answers.ts';

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
export const explainRoutes = [
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
