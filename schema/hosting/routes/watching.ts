import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../route-shapes.ts';
import { response, REFUSED, refused, onApp, onEngine, body, reads, runs } from './parts.ts';

/** The endpoints that look into running apps. */
export const watchingRoutes = [
  {
    ...{
      id: 'appLogs',
      method: 'GET',
      path: '/api/apps/:name/logs',
      ...reads,
      summary: 'Returns the output of the app, or follows it as a stream',
    },
    query: {
      tail: { type: 'integer', minimum: 0, maximum: 100_000, default: 100 },
      since: { type: 'string', maxLength: 40 },
      follow: { type: 'boolean', default: false },
      process: { type: 'string', maxLength: 63 },
      timestamps: { type: 'boolean', default: false },
    },
    responses: { 200: { description: 'Lines', type: 'text/plain' }, ...onEngine },
  },
  {
    ...{
      id: 'appStats',
      method: 'GET',
      path: '/api/apps/:name/stats',
      ...reads,
      summary: 'Returns CPU, memory and network of each replica',
    },
    responses: { 200: response('The usage'), ...onEngine },
  },
  {
    ...{
      id: 'appMetrics',
      method: 'GET',
      path: '/api/apps/:name/metrics',
      ...reads,
      summary: 'Returns the usage of the app for Prometheus',
    },
    responses: { 200: { description: 'Prometheus text', type: 'text/plain' }, ...onEngine },
  },
  {
    ...{
      id: 'appRequests',
      method: 'GET',
      path: '/api/apps/:name/requests',
      ...reads,
      summary: 'Lists the last requests of clients to the app, newest first',
    },
    query: {
      status: { type: 'string', pattern: '^[1-5](xx|\\d\\d)$' },
      since: { type: 'string', maxLength: 40 },
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    },
    responses: { 200: response('The requests', shape.accessList), ...onApp },
  },
  {
    ...{
      id: 'execInApp',
      method: 'POST',
      path: '/api/apps/:name/exec',
      ...runs,
      summary: 'Runs a command in the running app',
    },
    body: body(shape.execBody),
    responses: { 200: response('The exit code and the output', shape.execResult), ...onEngine },
  },
  {
    ...{
      id: 'openTerminal',
      method: 'POST',
      path: '/api/apps/:name/terminals',
      ...runs,
      summary: 'Prepares a terminal in the running app',
      description:
        'Its WebSocket is `GET /api/apps/:name/terminals/:id` with the subprotocols `twofold.terminal` and the ticket, once, within 30 s, from the own origin. Binary frames are the bytes of the terminal, text frames `{"resize": {"cols", "rows"}}` in and `{"exit": code}` out.',
    },
    body: body(shape.terminalBody, true),
    responses: {
      201: response('The id and the ticket of the terminal', shape.terminal),
      ...onEngine,
      429: REFUSED,
    },
  },
  {
    ...{
      id: 'events',
      method: 'GET',
      path: '/api/events',
      ...reads,
      summary: 'Streams changes as server-sent events',
    },
    responses: { 200: { description: 'Events', type: 'text/event-stream' }, ...refused },
  },
] as const satisfies readonly RouteSpec[];
