import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../route-shapes.ts';
import { response, REFUSED, onApp, onEngine, wait, body, open, reads, writes } from './parts.ts';

/** The endpoints that deploy, and that tell what a deployment did. */
export const deploymentRoutes = [
  {
    ...{
      id: 'deployApp',
      method: 'POST',
      path: '/api/apps/:name/deploy',
      ...writes,
      summary: 'Deploys an image, or builds and deploys from git',
    },
    audit: { values: ['image', 'deployment'] },
    query: wait,
    body: body(shape.deployBody, true),
    responses: {
      200: response('The deployment, which serves', shape.deployment),
      202: response('The deployment, which is being built', shape.deployment),
      ...onEngine,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'listDeployments',
      method: 'GET',
      path: '/api/apps/:name/deployments',
      ...reads,
      summary: 'Lists the deployments, newest first',
    },
    query: { limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
    responses: { 200: response('The deployments', shape.deploymentList), ...onApp },
  },
  {
    ...{
      id: 'getDeployment',
      method: 'GET',
      path: '/api/apps/:name/deployments/:number',
      ...reads,
      summary: 'Returns one deployment, with its reason and probes',
    },
    responses: { 200: response('The deployment', shape.deployment), ...onApp },
  },
  {
    ...{
      id: 'deploymentLogs',
      method: 'GET',
      path: '/api/apps/:name/deployments/:number/logs',
      ...reads,
      summary: 'Returns the build log, or follows a running build as a stream',
    },
    query: { follow: { type: 'boolean', default: false } },
    responses: { 200: { description: 'Lines', type: 'text/plain' }, ...onApp },
  },
  {
    ...{
      id: 'cancelDeployment',
      method: 'POST',
      path: '/api/apps/:name/deployments/:number/cancel',
      ...writes,
      summary: 'Cancels a deployment that has not finished',
    },
    audit: { values: [] },
    responses: {
      200: response('The cancelled deployment', shape.deployment),
      ...onApp,
      409: REFUSED,
    },
  },
  {
    ...{
      id: 'rollbackApp',
      method: 'POST',
      path: '/api/apps/:name/rollback',
      ...writes,
      summary: 'Deploys the image of an earlier deployment',
    },
    audit: { values: ['deployment'] },
    body: body(shape.rollbackBody, true),
    responses: { 200: response('The deployment, which serves', shape.deployment), ...onEngine },
  },
  {
    ...{
      id: 'deploySource',
      method: 'POST',
      path: '/api/deploy',
      ...writes,
      summary: 'Builds and deploys a source archive',
    },
    query: wait,
    body: {
      kind: 'stream',
      type: 'multipart/form-data',
      schema: {
        type: 'object',
        required: ['config', 'source'],
        properties: {
          config: {
            type: 'string',
            contentMediaType: 'application/json',
            contentSchema: shape.deployConfig,
          },
          source: { type: 'string', format: 'binary' },
        },
      },
    },
    responses: {
      200: response('The deployment, which serves', shape.deployment),
      202: response('The deployment, which is being built', shape.deployment),
      ...onEngine,
      413: REFUSED,
      415: REFUSED,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'listTemplates',
      method: 'GET',
      path: '/api/templates',
      ...open,
      summary: 'Lists the templates of apps',
    },
    responses: { 200: response('The templates', shape.templateList) },
  },
  {
    ...{
      id: 'deployTemplate',
      method: 'POST',
      path: '/api/templates/:id/deploy',
      ...writes,
      summary: 'Creates an app from a template and deploys it',
    },
    body: body(shape.templateBody),
    responses: {
      201: response('The app, with the generated values', shape.templateApp),
      ...onEngine,
    },
  },
  {
    ...{
      id: 'getWebhook',
      method: 'GET',
      path: '/api/apps/:name/webhook',
      ...reads,
      summary: 'Returns whether a push deploys the app, and the last deliveries',
    },
    responses: { 200: response('The webhook, without its secret'), ...onApp },
  },
  {
    ...{
      id: 'putWebhook',
      method: 'PUT',
      path: '/api/apps/:name/webhook',
      ...writes,
      summary: 'Creates or replaces the secret, which only this response shows',
    },
    responses: { 200: response('The path and the secret of the webhook'), ...onApp },
  },
  {
    ...{
      id: 'deleteWebhook',
      method: 'DELETE',
      path: '/api/apps/:name/webhook',
      ...writes,
      summary: 'Removes the webhook',
    },
    responses: { 200: response('It was removed'), ...onApp },
  },
  {
    ...{
      id: 'webhook',
      method: 'POST',
      path: '/api/webhooks/:app',
      ...open,
      summary: 'Receives a signed push from GitHub, Gitea or GitLab',
    },
    body: { kind: 'stream', type: 'application/json', schema: shape.pushBody },
    responses: {
      200: response('No deployment is needed'),
      202: response('The deployment has started'),
      400: REFUSED,
      401: REFUSED,
      409: REFUSED,
      413: REFUSED,
    },
  },
] as const satisfies readonly RouteSpec[];
