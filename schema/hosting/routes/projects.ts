import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../project-shapes.ts';
import { onEngine, onApp, reads, refused, response, writes } from './parts.ts';

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
