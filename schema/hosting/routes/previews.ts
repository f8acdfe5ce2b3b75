import type { RouteSpec } from '../../routes/route.ts';
import { previewBody, previewList } from '../preview-shapes.ts';
import * as shape from '../route-shapes.ts';
import { body, onApp, onEngine, reads, REFUSED, response, writes } from './parts.ts';

/** The endpoints for previews of apps. */
export const previewRoutes = [
  {
    ...{
      id: 'listPreviews',
      method: 'GET',
      path: '/api/apps/:name/previews',
      ...reads,
      summary: 'Lists the previews of an app',
    },
    responses: { 200: response('The previews, which are apps', previewList(shape.app)), ...onApp },
  },
  {
    ...{
      id: 'createPreview',
      method: 'POST',
      path: '/api/apps/:name/previews',
      ...writes,
      summary: 'Makes a preview from an image or from git, or updates the one with this key',
    },
    audit: { target: '{name}-pr-{key}', values: ['image'] },
    body: body(previewBody({ image: shape.image, git: shape.git })),
    responses: {
      201: response('The app, which serves', shape.app),
      202: response('The app, which is being built', shape.app),
      ...onEngine,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'deletePreview',
      method: 'DELETE',
      path: '/api/apps/:name/previews/:key',
      ...writes,
      summary: 'Deletes a preview with its volumes',
    },
    audit: { target: '{name}-pr-{key}' },
    responses: { 200: response('It was removed'), ...onEngine },
  },
] as const satisfies readonly RouteSpec[];
