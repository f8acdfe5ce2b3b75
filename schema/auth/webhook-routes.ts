import type { RouteSpec } from '../routes/route.ts';
import { access, answer, atomic, list, refused, tag } from './admin-answers.ts';
import { DURATION, NAMES, object, page, SHORT, TIME } from './route-shapes.ts';

const URL_TEXT = { type: 'string', maxLength: 2048 } as const;
const missing = { 404: refused('There is none') };

const DELIVERY = object({
  id: SHORT,
  event_id: SHORT,
  type: SHORT,
  attempt: { type: 'integer' },
  status: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
  last_code: { type: ['integer', 'null'] },
  last_error: { type: ['string', 'null'] },
  created_at: TIME,
  next_at: TIME,
});

/** Routes of the endpoints that get events, and of the deliveries to them. */
export const webhookRoutes = [
  {
    id: 'webhooks',
    method: 'GET',
    path: '/api/auth/admin/webhooks',
    access,
    tag,
    summary: 'Where events are sent',
    responses: answer(200, 'The endpoints', list('webhooks')),
  },
  {
    id: 'createWebhook',
    method: 'POST',
    path: '/api/auth/admin/webhooks',
    access,
    tag,
    audit: { target: 'webhook:{id}', values: ['types'], atomic },
    summary: 'Send events to an address; the secret is shown once',
    body: {
      kind: 'json',
      schema: object({ url: { type: 'string', maxLength: 2048 }, types: NAMES }, ['url']),
    },
    responses: answer(201, 'The endpoint', object({ id: SHORT, secret: SHORT })),
  },
  {
    id: 'rotateWebhook',
    method: 'POST',
    path: '/api/auth/admin/webhooks/:id/rotate',
    access,
    tag,
    audit: { target: 'webhook:{id}', atomic },
    summary: 'A new secret; both sign for the overlap',
    body: { kind: 'json', optional: true, schema: object({ overlap: DURATION }) },
    responses: answer(200, 'The endpoint', object({ id: SHORT, secret: SHORT })),
  },
  {
    id: 'deleteWebhook',
    method: 'DELETE',
    path: '/api/auth/admin/webhooks/:id',
    access,
    tag,
    audit: { target: 'webhook:{id}', atomic },
    summary: 'Stop sending',
    responses: answer(204, 'Deleted'),
  },
  {
    id: 'testWebhook',
    method: 'POST',
    path: '/api/auth/admin/webhooks/:id/test',
    access,
    tag,
    audit: { target: 'webhook:{id}' },
    summary: 'Send one test event now',
    responses: answer(
      200,
      'What came back',
      object({ delivered: { type: 'boolean' }, status: { type: ['integer', 'null'] } }),
    ),
  },
  {
    id: 'updateWebhook',
    method: 'PATCH',
    path: '/api/auth/admin/webhooks/:id',
    access,
    tag,
    audit: { target: 'webhook:{id}', values: ['types', 'disabled'], atomic },
    summary: 'Another address or other events; disabled: nothing is sent',
    body: {
      kind: 'json',
      schema: object({ url: URL_TEXT, types: NAMES, disabled: { type: 'boolean' } }),
    },
    responses: {
      ...answer(200, 'The endpoint', object({ id: SHORT })),
      ...missing,
      409: refused('The endpoint stands in manifest.yaml'),
    },
  },
  {
    id: 'webhookDeliveries',
    method: 'GET',
    path: '/api/auth/admin/webhooks/:id/deliveries',
    access,
    tag,
    summary: 'What was sent there in the last seven days, newest first',
    query: {
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      cursor: SHORT,
      status: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
    },
    responses: { ...answer(200, 'The deliveries', page('deliveries')), ...missing },
  },
  {
    id: 'redeliverWebhook',
    method: 'POST',
    path: '/api/auth/admin/webhooks/:id/deliveries/:did/redeliver',
    access,
    tag,
    audit: { target: 'webhook:{id}', atomic },
    summary: 'Send an event again, with the same id and new attempts',
    responses: {
      ...answer(202, 'The delivery, which waits', DELIVERY),
      ...missing,
      409: refused('The webhook is disabled'),
    },
  },
] as const satisfies readonly RouteSpec[];
