import type { RouteSpec } from '../routes/route.ts';
import * as shape from './route-shapes.ts';

const response = (
  description: string,
  schema: Record<string, unknown> | typeof shape.app = shape.anything,
) => ({ description, schema });
const REFUSED = {
  description: 'The reason; nothing was changed',
  schema: shape.error,
} as const;
const refused = { 400: REFUSED, 401: REFUSED, 403: REFUSED, 500: REFUSED } as const;
const onApp = { ...refused, 404: REFUSED } as const;
/** Further errors of calls that reach the engine. */
const onEngine = { ...onApp, 409: REFUSED, 502: REFUSED, 503: REFUSED, 507: REFUSED } as const;

const MIB = 1024 * 1024;
const wait = { wait: { type: 'boolean', default: false } } as const;
const body = (schema: Readonly<Record<string, unknown>>, optional = false) =>
  ({ kind: 'json', schema, limit: MIB, optional }) as const;
/** `access` is the needed permission. `area:*`, `*` and `host:manage` include it. */
const needs = <const Permission extends string>(access: Permission) =>
  ({ access, tag: 'hosting' }) as const;
const open = needs('public');
const reads = needs('apps:read');
const writes = needs('apps:write');
const runs = needs('apps:exec');
const readsSystem = needs('system:read');
const changesSystem = needs('system:write');

/**
 * The endpoints of the hosting API, except `GET /api/health` (the server's own) and those of
 * language models.
 */
export const hostingRoutes = [
  {
    ...{
      id: 'listApps',
      method: 'GET',
      path: '/api/apps',
      ...reads,
      summary: 'Lists the apps, sorted by name',
    },
    query: {
      limit: { type: 'integer', minimum: 1, maximum: 1000 },
      cursor: { type: 'string', maxLength: 100 },
      status: { type: 'string', maxLength: 20 },
      q: { type: 'string', maxLength: 100 },
    },
    responses: { 200: response('The apps', shape.appList), ...refused },
  },
  {
    ...{
      id: 'createApp',
      method: 'POST',
      path: '/api/apps',
      ...writes,
      summary: 'Creates an app, and deploys its image if it has one',
    },
    audit: { values: ['image'] },
    body: body(shape.createBody),
    responses: {
      201: response('The app', shape.app),
      ...refused,
      409: REFUSED,
      502: REFUSED,
      503: REFUSED,
      507: REFUSED,
    },
  },
  {
    ...{
      id: 'getApp',
      method: 'GET',
      path: '/api/apps/:name',
      ...reads,
      summary: 'Returns one app',
    },
    responses: { 200: response('The app', shape.app), ...onApp },
  },
  {
    ...{
      id: 'changeApp',
      method: 'PATCH',
      path: '/api/apps/:name',
      ...writes,
      summary: 'Changes the configuration, for the next deployment or at once',
    },
    audit: { values: ['replicas'] },
    query: { apply: { type: 'boolean', default: false } },
    body: body(shape.changeBody),
    responses: { 200: response('The app', shape.app), ...onEngine },
  },
  {
    ...{
      id: 'deleteApp',
      method: 'DELETE',
      path: '/api/apps/:name',
      ...writes,
      summary: 'Deletes an app; its volumes only with `volumes=true`',
    },
    query: { volumes: { type: 'boolean', default: false } },
    responses: { 200: response('It was removed'), ...onEngine },
  },
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
      id: 'startApp',
      method: 'POST',
      path: '/api/apps/:name/start',
      ...writes,
      summary: 'Starts a stopped app',
    },
    responses: { 200: response('The app', shape.app), ...onEngine },
  },
  {
    ...{
      id: 'stopApp',
      method: 'POST',
      path: '/api/apps/:name/stop',
      ...writes,
      summary: 'Stops a running app',
    },
    responses: { 200: response('The app', shape.app), ...onEngine },
  },
  {
    ...{
      id: 'restartApp',
      method: 'POST',
      path: '/api/apps/:name/restart',
      ...writes,
      summary: 'Restarts an app, one replica after the other',
    },
    responses: { 200: response('The app', shape.app), ...onEngine },
  },
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
      timestamps: { type: 'boolean', default: false },
    },
    responses: { 200: { description: 'Lines', type: 'text/plain' }, ...onEngine },
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
      id: 'listVolumes',
      method: 'GET',
      path: '/api/apps/:name/volumes',
      ...reads,
      summary: 'Lists the volumes of the app with their sizes',
    },
    responses: { 200: response('The volumes', shape.volumeList), ...onEngine },
  },
  {
    ...{
      id: 'putEnv',
      method: 'PUT',
      path: '/api/apps/:name/env',
      ...writes,
      summary: 'Replaces the whole environment',
    },
    body: body(shape.env),
    responses: { 200: response('The app', shape.app), ...onApp },
  },
  {
    ...{
      id: 'putSecret',
      method: 'PUT',
      path: '/api/apps/:name/secrets/:key',
      ...writes,
      summary: 'Sets a secret, which cannot be read again',
    },
    body: body(shape.secretBody),
    responses: { 200: response('The app', shape.app), ...onApp },
  },
  {
    ...{
      id: 'deleteSecret',
      method: 'DELETE',
      path: '/api/apps/:name/secrets/:key',
      ...writes,
      summary: 'Removes a secret',
    },
    responses: { 200: response('The app', shape.app), ...onApp },
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
      id: 'putCertificate',
      method: 'PUT',
      path: '/api/apps/:name/certificate',
      ...writes,
      summary: 'Uses a certificate of your own',
    },
    body: body(shape.certificateBody),
    responses: {
      200: response('The host names of the certificate, and when it expires', shape.certificate),
      ...onApp,
    },
  },
  {
    ...{
      id: 'putSystemCertificate',
      method: 'PUT',
      path: '/api/system/certificate',
      ...changesSystem,
      summary: 'Uses a certificate of your own for the host of APP_URL',
    },
    body: body(shape.certificateBody),
    responses: {
      200: response('The host names of the certificate, and when it expires', shape.certificate),
      ...refused,
      409: REFUSED,
    },
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
      id: 'systemInfo',
      method: 'GET',
      path: '/api/system/info',
      ...readsSystem,
      summary: 'Describes the server, its engine and its machine',
    },
    responses: { 200: response('The description'), ...refused },
  },
  {
    ...{
      id: 'systemConfig',
      method: 'GET',
      path: '/api/system/config',
      ...readsSystem,
      summary: 'Returns the root domain, limits and features',
    },
    responses: { 200: response('The settings, without secrets'), ...refused },
  },
  {
    ...{
      id: 'prune',
      method: 'POST',
      path: '/api/system/prune',
      ...changesSystem,
      summary: 'Removes unused images, build cache and old logs',
    },
    responses: { 200: response('The removed images and the reclaimed bytes'), ...onEngine },
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
