import { createHmac, randomBytes } from 'node:crypto';

/** A new secret: `whsec_` and 32 bytes in base64 (Standard Webhooks). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Converts a secret of the settings to the form with the prefix `whsec_`. */
export function asWebhookSecret(text: string): string {
  return text.startsWith('whsec_') ? text : `whsec_${Buffer.from(text).toString('base64')}`;
}

/**
 * Headers of one delivery, by the Standard Webhooks specification. Each of several secrets adds a
 * signature, so that a receiver can change from one to the other.
 *
 * @param timestamp Unix seconds.
 */
export function webhookHeaders(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string,
): Record<string, string> {
  const signatures = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
    'content-type': 'application/json',
  };
}

function sign(secret: string, text: string): string {
  return createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(text)
    .digest('base64');
}
