import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../route-shapes.ts';
import { response, REFUSED, refused, onApp, onEngine, body, MIB, reads, writes } from './parts.ts';

/** The endpoints of apps and their configuration. */
export const appRoutes = [
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
    body: { ...body(shape.createBody), limit: 2 * MIB },
    responses: {
      201: response('The app', shape.app),
      ...refused,
      409: REFUSED,
      422: REFUSED,
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
    body: { ...body(shape.changeBody), limit: 2 * MIB },
    responses: { 200: response('The app', shape.app), ...onEngine, 422: REFUSED },
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
] as const satisfies readonly RouteSpec[];
