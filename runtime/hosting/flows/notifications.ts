import { randomBytes } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import { closed, dateTime, flag, list, listed, object, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import type { Notifications } from '../notifications/notifications.ts';
import {
  assertReceiver,
  type Receiver,
  type ReceiverFields,
  showReceiver,
} from '../notifications/receiver.ts';
import { isAccepted } from '../notifications/send.ts';
import { deleted, flow, ON_APP, USUAL } from './flow.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const names = { minItems: 1, maxItems: 100, uniqueItems: true } as const;
const fields = {
  kind: { enum: ['webhook', 'slack', 'mail'] },
  url: { type: 'string', minLength: 1, maxLength: 2048 },
  to: { type: 'string', minLength: 3, maxLength: 254 },
  events: { ...list({ type: 'string', maxLength: 40 }, names), default: ['*'] },
  apps: { ...list({ type: 'string', maxLength: 63 }, names), default: ['*'] },
} as const;

/** `secret` is only in the answer that made it. */
const notification = object({
  name: text,
  ...fields,
  secret: text,
  created_at: dateTime,
  updated_at: dateTime,
});

export const listNotifications = flow('GET /api/notifications', {
  needs: 'system:read',
  summary: 'Lists where messages about failures go',
  answers: { 200: ['The notifications', listed('notifications', notification)] },
  refuses: USUAL,
  async handle(_call, { notifications }) {
    const all = (await notifications.receivers.all()).map(({ value }) => showReceiver(value));
    return reply(200, { notifications: all, total: all.length });
  },
});

export const getNotification = flow('GET /api/notifications/:name', {
  needs: 'system:read',
  summary: 'Returns one notification, without the token in its address',
  answers: { 200: ['The notification', notification] },
  refuses: ON_APP,
  handle: async ({ params }, { notifications }) =>
    reply(200, showReceiver(await named(notifications, params.name))),
});

export const putNotification = flow('PUT /api/notifications/:name', {
  needs: 'system:write',
  summary: 'Sends messages about failures to a webhook, to Slack or to a mailbox',
  description:
    'A webhook without a `secret` gets one, which only this response contains. A later call without it keeps the known one.',
  audit: { values: ['kind', 'events', 'apps'] },
  body: closed({ ...fields, secret: { type: 'string', minLength: 16, maxLength: 200 } }, ['kind']),
  answers: { 200: ['The notification', notification] },
  refuses: [...USUAL, 409],
  async handle({ params: { name }, body }, { notifications, now }) {
    const { receivers, allowPrivate, mails } = notifications;
    if (!NAME.test(name))
      throw failure.badRequest(
        'name must hold at most 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
      );
    assertReceiver(body, allowPrivate);
    if (body.kind === 'mail' && !mails)
      throw failure.conflict('Mail cannot be sent: set SMTP_URL and restart the server');
    const known = await receivers.find(name);
    const at = new Date(now()).toISOString();
    const { secret, made } = secretOf(body, known);
    const receiver: Receiver = {
      ...body,
      name,
      created_at: known?.created_at ?? at,
      updated_at: at,
      ...(secret !== undefined && { secret }),
    };
    await receivers.save(name, receiver);
    return reply(200, { ...showReceiver(receiver), ...(made && { secret }) });
  },
});

export const deleteNotification = flow('DELETE /api/notifications/:name', {
  needs: 'system:write',
  summary: 'Removes a notification, with the messages that wait for it',
  answers: { 200: ['It was removed'] },
  refuses: ON_APP,
  async handle({ params }, { notifications }) {
    if (!(await notifications.remove(params.name)))
      throw failure.notFound('Notification not found');
    return deleted();
  },
});

export const testNotification = flow('POST /api/notifications/:name/test', {
  needs: 'system:write',
  summary: 'Sends a message at once, and says whether it arrived',
  answers: {
    200: ['The result', object({ ok: flag, status: { type: 'integer' }, error: text })],
  },
  refuses: ON_APP,
  async handle({ params }, { notifications }) {
    const result = await notifications.test(await named(notifications, params.name));
    return reply(200, { ok: isAccepted(result), ...result });
  },
});

async function named({ receivers }: Notifications, name: string): Promise<Receiver> {
  const found = await receivers.find(name);
  if (found) return found;
  throw failure.notFound('Notification not found');
}

/**
 * The secret in the form of the Standard Webhooks specification: the given one, else the known one,
 * else a new one, which the caller has to see.
 *
 * @throws AppError 400
 */
function secretOf(
  { kind, secret }: ReceiverFields,
  known: Receiver | undefined,
): { readonly secret?: string; readonly made?: boolean } {
  if (kind !== 'webhook') return {};
  if (secret === undefined && known?.secret !== undefined) return { secret: known.secret };
  if (secret === undefined)
    return { secret: `whsec_${randomBytes(32).toString('base64')}`, made: true };
  if (!secret.startsWith('whsec_'))
    return { secret: `whsec_${Buffer.from(secret).toString('base64')}` };
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret.slice('whsec_'.length)))
    throw failure.badRequest('secret must have base64 after whsec_');
  return { secret };
}
