import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../run-shapes.ts';
import { body, onApp, onEngine, reads, REFUSED, response, runs, wait } from './parts.ts';

const run = response('The run', shape.run);
const begun = { 200: response('The run, which has ended', shape.run), 202: run } as const;

/** The endpoints of commands in containers of their own. */
export const runRoutes = [
  {
    ...{
      id: 'startRun',
      method: 'POST',
      path: '/api/apps/:name/runs',
      ...runs,
      summary: 'Runs a command in a new container of the app, once',
    },
    query: wait,
    body: body(shape.runBody),
    responses: { ...begun, ...onEngine, 429: REFUSED },
  },
  {
    ...{
      id: 'startCron',
      method: 'POST',
      path: '/api/apps/:name/cron/:cron/run',
      ...runs,
      summary: 'Starts a run of a schedule now',
    },
    query: wait,
    responses: { ...begun, ...onEngine, 429: REFUSED },
  },
  {
    ...{
      id: 'listRuns',
      method: 'GET',
      path: '/api/apps/:name/runs',
      ...reads,
      summary: 'Lists the last runs of the app, newest first',
    },
    query: { cron: { type: 'string', maxLength: 63 }, status: { enum: shape.RUN_STATUS } },
    responses: { 200: response('The runs', shape.runList), ...onApp },
  },
  {
    ...{
      id: 'getRun',
      method: 'GET',
      path: '/api/apps/:name/runs/:id',
      ...reads,
      summary: 'Returns one run',
    },
    responses: { 200: run, ...onApp },
  },
  {
    ...{
      id: 'runLogs',
      method: 'GET',
      path: '/api/apps/:name/runs/:id/logs',
      ...reads,
      summary: 'Returns the output of a run, or follows it as a stream',
    },
    query: { follow: { type: 'boolean', default: false } },
    responses: { 200: { description: 'Lines', type: 'text/plain' }, ...onEngine },
  },
  {
    ...{
      id: 'stopRun',
      method: 'DELETE',
      path: '/api/apps/:name/runs/:id',
      ...runs,
      summary: 'Stops a run; one that has ended stays as it is',
    },
    responses: { 200: run, ...onEngine },
  },
] as const satisfies readonly RouteSpec[];
