import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../route-shapes.ts';
import { response, REFUSED, refused, onEngine, body, readsSystem, changesSystem } from './parts.ts';

/** The endpoints for the host itself. */
export const systemRoutes = [
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
] as const satisfies readonly RouteSpec[];
