import { randomBytes } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Notifications } from '../notifications/notifications.ts';
import {
  assertReceiver,
  type Receiver,
  type ReceiverFields,
  showReceiver,
} from '../notifications/receiver.ts';
import { isAccepted } from '../notifications/send.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function notificationHandlers(notifications: Notifications, now: () => number) {
  const { receivers } = notifications;
  const named = async ({ params }: Call): Promise<Receiver> => {
    const found = await receivers.find(String(params['name']));
    if (found) return found;
    throw failure.notFound('Notification not found');
  };
  return {
    async listNotifications() {
      const all = (await receivers.all()).map(showReceiver);
      return reply(200, { notifications: all, total: all.length });
    },

    getNotification: async (call: Call) => reply(200, showReceiver(await named(call))),

    async putNotification({ params, body }: Call<ReceiverFields>) {
      const name = String(params['name']);
      if (!NAME.test(name))
        throw failure.badRequest(
          'name must hold at most 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
        );
      assertReceiver(body, notifications.allowPrivate);
      if (body.kind === 'mail' && !notifications.mails)
        throw failure.conflict('Mail cannot be sent: set SMTP_URL and restart the server');
      const known = await receivers.find(name);
      const at = new Date(now()).toISOString();
      const { secret, made } = secretOf(body, known);
      const receiver: Receiver = {
        ...{ ...body, name, created_at: known?.created_at ?? at, updated_at: at },
        ...(secret !== undefined && { secret }),
      };
      await receivers.save(receiver);
      return reply(200, { ...showReceiver(receiver), ...(made && { secret }) });
    },

    async deleteNotification({ params }: Call) {
      if (!(await notifications.remove(String(params['name']))))
        throw failure.notFound('Notification not found');
      return reply(200, { status: 'deleted' });
    },

    async testNotification(call: Call) {
      const result = await notifications.test(await named(call));
      return reply(200, { ok: isAccepted(result), ...result });
    },
  };
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
