import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../project-shapes.ts';
import { onEngine, onApp, reads, REFUSED, refused, response, writes } from './parts.ts';

/** The endpoints of projects: apps that share a private network. */
export const projectRoutes = [
  {
    ...{
      id: 'listProjects',
      method: 'GET',
      path: '/api/projects',
      ...reads,
      summary: 'Lists the projects with their apps',
    },
    responses: { 200: response('The projects', shape.projectList), ...refused },
  },
  {
    ...{
      id: 'getProject',
      method: 'GET',
      path: '/api/projects/:name',
      ...reads,
      summary: 'Returns one project with its apps',
    },
    responses: { 200: response('The project', shape.project), ...onApp },
  },
  {
    ...{
      id: 'composeProject',
      method: 'POST',
      path: '/api/projects/:name/compose',
      ...writes,
      summary: 'Makes the apps of a project what a compose file says',
      description:
        'As JSON, `{compose, env?}`, or as a form with `source`: a tar.gz with `compose.yaml` and the files that it names. The response has names of apps.',
    },
    audit: { target: 'project:{name}' },
    query: {
      dry_run: { type: 'boolean', default: false },
      prune: { type: 'boolean', default: false },
      wait: { type: 'boolean', default: false },
    },
    body: {
      kind: 'stream',
      type: 'multipart/form-data',
      schema: {
        type: 'object',
        properties: {
          compose: { type: 'string' },
          env: { type: 'string', contentMediaType: 'application/json' },
          source: { type: 'string', format: 'binary' },
        },
      },
    },
    responses: {
      200: response('What was done, or would be done', shape.composeReport),
      202: response('What is done while something is built', shape.composeReport),
      ...onEngine,
      413: REFUSED,
      415: REFUSED,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'deleteProject',
      method: 'DELETE',
      path: '/api/projects/:name',
      ...writes,
      summary: 'Deletes all apps of a project; their volumes only with `volumes=true`',
    },
    query: { volumes: { type: 'boolean', default: false } },
    responses: { 200: response('They were removed'), ...onEngine },
  },
] as const satisfies readonly RouteSpec[];
