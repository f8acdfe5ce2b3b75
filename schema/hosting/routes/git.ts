import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../git-shapes.ts';
import {
  body,
  changesSystem,
  onApp,
  reads,
  readsSystem,
  REFUSED,
  refused,
  response,
  writes,
} from './parts.ts';

/** The endpoints for keys of git over SSH. */
export const gitRoutes = [
  {
    ...{
      id: 'createDeployKey',
      method: 'POST',
      path: '/api/apps/:name/deploy-key',
      ...writes,
      summary: 'Makes a key for git over SSH, in place of an earlier one',
    },
    responses: { 201: response('The public half, for the git host', shape.deployKey), ...onApp },
  },
  {
    ...{
      id: 'putDeployKey',
      method: 'PUT',
      path: '/api/apps/:name/deploy-key',
      ...writes,
      summary: 'Uses a key of your own for git over SSH',
    },
    body: body(shape.deployKeyBody),
    responses: { 200: response('The public half', shape.deployKey), ...onApp },
  },
  {
    ...{
      id: 'getDeployKey',
      method: 'GET',
      path: '/api/apps/:name/deploy-key',
      ...reads,
      summary: 'Returns the public half of the deploy key',
    },
    responses: { 200: response('The public half', shape.deployKey), ...onApp },
  },
  {
    ...{
      id: 'deleteDeployKey',
      method: 'DELETE',
      path: '/api/apps/:name/deploy-key',
      ...writes,
      summary: 'Removes the deploy key',
    },
    responses: { 200: response('It was removed'), ...onApp },
  },
  {
    ...{
      id: 'listGitHosts',
      method: 'GET',
      path: '/api/git/hosts',
      ...readsSystem,
      summary: 'Lists the git hosts whose keys are known',
    },
    responses: { 200: response('The hosts', shape.gitHostList), ...refused },
  },
  {
    ...{
      id: 'putGitHost',
      method: 'PUT',
      path: '/api/git/hosts/:host',
      ...changesSystem,
      summary: 'Sets the key by which a git host is recognised',
    },
    audit: { target: 'git-host:{host}' },
    body: body(shape.gitHostBody),
    responses: { 200: response('The host', shape.gitHost), ...refused },
  },
  {
    ...{
      id: 'deleteGitHost',
      method: 'DELETE',
      path: '/api/git/hosts/:host',
      ...changesSystem,
      summary: 'Forgets the key of a git host, so that the next clone pins it',
    },
    audit: { target: 'git-host:{host}' },

    responses: { 200: response('It was removed'), ...refused, 404: REFUSED },
  },
] as const satisfies readonly RouteSpec[];
