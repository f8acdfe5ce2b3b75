import type { RouteSpec } from '../../routes/route.ts';
import * as shape from '../notification-shapes.ts';
import { body, changesSystem, onApp, readsSystem, REFUSED, refused, response } from './parts.ts';

/** The endpoints that say who is told of failures. */
export const notificationRoutes = [
  {
    ...{
      id: 'listNotifications',
      method: 'GET',
      path: '/api/notifications',
      ...readsSystem,
      summary: 'Lists where messages about failures go',
    },
    responses: { 200: response('The notifications', shape.notificationList), ...refused },
  },
  {
    ...{
      id: 'getNotification',
      method: 'GET',
      path: '/api/notifications/:name',
      ...readsSystem,
      summary: 'Returns one notification, without the token in its address',
    },
    responses: { 200: response('The notification', shape.notification), ...onApp },
  },
  {
    ...{
      id: 'putNotification',
      method: 'PUT',
      path: '/api/notifications/:name',
      ...changesSystem,
      summary: 'Sends messages about failures to a webhook, to Slack or to a mailbox',
      description:
        'A webhook without a `secret` gets one, which only this response contains. A later call without it keeps the known one.',
    },
    audit: { values: ['kind', 'events', 'apps'] },
    body: body(shape.notificationBody),
    responses: {
      200: response('The notification', shape.notification),
      ...refused,
      409: REFUSED,
    },
  },
  {
    ...{
      id: 'deleteNotification',
      method: 'DELETE',
      path: '/api/notifications/:name',
      ...changesSystem,
      summary: 'Removes a notification, with the messages that wait for it',
    },
    responses: { 200: response('It was removed'), ...onApp },
  },
  {
    ...{
      id: 'testNotification',
      method: 'POST',
      path: '/api/notifications/:name/test',
      ...changesSystem,
      summary: 'Sends a message at once, and says whether it arrived',
    },
    responses: { 200: response('The result', shape.notificationTest), ...onApp },
  },
] as const satisfies readonly RouteSpec[];
