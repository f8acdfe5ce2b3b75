import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../registry-shapes.ts';
import { body, changesSystem, readsSystem, REFUSED, refused, response } from './parts.ts';

/** The endpoints for the users of private registries. */
export const registryRoutes = [
  {
    ...{
      id: 'listRegistries',
      method: 'GET',
      path: '/api/registries',
      ...readsSystem,
      summary: 'Lists the registries that have a user',
    },
    responses: {
      200: response('The registries, without passwords', shape.registryList),
      ...refused,
    },
  },
  {
    ...{
      id: 'putRegistry',
      method: 'PUT',
      path: '/api/registries/:host',
      ...changesSystem,
      summary: 'Sets the user with whom images of a registry are pulled',
    },
    audit: { target: 'registry:{host}', values: ['username'] },
    body: body(shape.registryBody),
    responses: { 200: response('The registry, without its password', shape.registry), ...refused },
  },
  {
    ...{
      id: 'deleteRegistry',
      method: 'DELETE',
      path: '/api/registries/:host',
      ...changesSystem,
      summary: 'Forgets the user of a registry',
    },
    audit: { target: 'registry:{host}' },
    responses: { 200: response('It was removed'), ...refused, 404: REFUSED, 409: REFUSED },
  },
  {
    ...{
      id: 'checkRegistry',
      method: 'POST',
      path: '/api/registries/:host/check',
      ...changesSystem,
      summary: 'Tries the user at the registry',
    },
    audit: { target: 'registry:{host}' },
    responses: {
      200: response('Whether the registry takes the user, and else why not', shape.registryCheck),
      ...refused,
      404: REFUSED,
      503: REFUSED,
    },
  },
] as const satisfies readonly RouteSpec[];
