import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../move-shapes.ts';
import { body, changesSystem, onApp, onEngine, open, REFUSED, refused, response } from './parts.ts';

/** The endpoints of `generator host move`, which brings an app to another server. */
export const moveRoutes = [
  {
    ...{
      id: 'exportApp',
      method: 'POST',
      path: '/api/apps/:name/export',
      ...changesSystem,
      summary: 'A step of a move away from this server',
      description:
        '`copy` answers with the app as a stream that is encrypted with `key`. It stops the app before its end. `commit` passes requests on to `to` from then on. If nobody asks for its state for 30 seconds, the move ends, and the app serves here as before.',
    },
    audit: { values: ['step', 'to'] },
    body: body(shape.exportBody),
    responses: {
      200: response('What the step did; for `copy` the stream', shape.exported),
      ...onEngine,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'exportState',
      method: 'GET',
      path: '/api/apps/:name/export',
      ...changesSystem,
      summary: 'Returns the state of a move, which goes on as long as somebody asks',
    },
    query: shape.exportQuery,
    responses: { 200: response('The state', shape.exported), ...onApp },
  },
  {
    ...{
      id: 'importApp',
      method: 'POST',
      path: '/api/apps/import',
      ...changesSystem,
      summary: 'A part of a move to this server',
      description:
        'The parts of the stream follow each other as bodies, the last one with `step=last`. The header `X-Move-Key` has the key. If the stream is cut or wrong, nothing of the app stays.',
    },
    headers: { 'X-Move-Key': { type: 'string' } },
    query: shape.importQuery,
    body: { kind: 'stream', type: 'application/octet-stream' },
    responses: {
      200: response('What the part did', shape.imported),
      ...onEngine,
      422: REFUSED,
    },
  },
  {
    ...{
      id: 'keepImport',
      method: 'POST',
      path: '/api/apps/import/:move/keep',
      ...open,
      summary: 'The source of a move says that the app belongs to this server now',
      description: 'Only the source can make the proof. Until this call the app can be taken back.',
    },
    audit: false,
    body: { ...body(shape.keepBody), limit: 1024 },
    responses: {
      200: response('The app stays here', shape.kept),
      ...refused,
      404: REFUSED,
      409: REFUSED,
    },
  },
] as const satisfies readonly RouteSpec[];
