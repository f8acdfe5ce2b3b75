import type { RouteSpec } from './route.ts';

const tag = 'system';

/** Routes of every server, independent of its capabilities. */
export const systemRoutes = [
  {
    id: 'health',
    method: 'GET',
    path: '/api/health',
    access: 'public',
    tag,
    summary: 'Whether the server can answer',
    responses: {
      200: { description: 'It can' },
      503: { description: 'The database does not answer' },
    },
  },
] as const satisfies readonly RouteSpec[];

/**
 * The OpenAPI document and the page that displays it; served when `api.rest` is on, or the project
 * has routes of its own.
 */
export const documentRoutes = [
  {
    id: 'openapi',
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    tag,
    summary: 'This document',
    responses: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
  },
  {
    id: 'reference',
    method: 'GET',
    path: '/api',
    access: 'public',
    tag,
    summary: 'A page about every endpoint, for people',
    responses: {
      200: { description: 'The page', type: 'text/html' },
      406: { description: 'The client takes no HTML' },
    },
  },
] as const satisfies readonly RouteSpec[];
