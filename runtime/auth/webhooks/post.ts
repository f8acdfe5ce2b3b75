import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { guardedLookup, isPrivateHost } from '@twofold/runtime/http';

const TIME_LIMIT = 5000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The response of a receiver: a status, or the reason why there is none. */
export type PostResult = { readonly status: number } | { readonly error: string };

/** Posts a body to a URL. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<PostResult>;

/**
 * Posts with a time limit of five seconds, without following redirects. The IP address is checked
 * when the socket is opened, so that DNS rebinding cannot reach a private address.
 */
export function createPost(allowPrivate: boolean): { readonly post: Post; close(): Promise<void> } {
  const agent = new Agent({
    connect: { timeout: TIME_LIMIT, ...(!allowPrivate && { lookup: guardedLookup }) },
  });
  return {
    close: () => agent.destroy(),
    post: async (url, headers, body) => {
      if (!allowPrivate && isPrivateHost(new URL(url).hostname))
        return { error: 'private address' };
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal: AbortSignal.timeout(TIME_LIMIT),
          headersTimeout: TIME_LIMIT,
          bodyTimeout: TIME_LIMIT,
        });
        await response.body.dump({ limit: MAX_RESPONSE_BYTES });
        return { status: response.statusCode };
      } catch (error) {
        return {
          error:
            (error as { code?: string }).code ?? (error instanceof Error ? error.name : 'failed'),
        };
      }
    },
  };
}

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
