import { isEmail } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { isPrivateHost } from '@twofold/runtime/http';
import { unknownEvent } from './events.ts';

/** Who gets messages, and about what. */
export interface Receiver {
  readonly name: string;
  readonly kind: 'webhook' | 'slack' | 'mail';
  readonly url?: string;
  readonly to?: string;
  readonly events: readonly string[];
  readonly apps: readonly string[];
  /** Signs the messages of a webhook. */
  readonly secret?: string;
  /** Set when its receiver answered 410. It gets nothing until it is put again. */
  readonly disabled_at?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export type ReceiverFields = Omit<Receiver, 'name' | 'disabled_at' | 'created_at' | 'updated_at'>;

/** @throws AppError 400 */
export function assertReceiver(fields: ReceiverFields, allowPrivate: boolean): void {
  const { kind, url, to, secret, events } = fields;
  const [wanted, other] = kind === 'mail' ? (['to', 'url'] as const) : (['url', 'to'] as const);
  if (fields[wanted] === undefined) throw failure.badRequest(`${kind} needs ${wanted}`);
  if (fields[other] !== undefined) throw failure.badRequest(`${kind} does not take ${other}`);
  if (secret !== undefined && kind !== 'webhook')
    throw failure.badRequest(`${kind} does not take secret: only webhooks are signed`);
  if (to !== undefined && !isEmail(to))
    throw failure.badRequest('to must be one address, such as ops@shop.example');
  if (url !== undefined) assertUrl(url, allowPrivate);
  const unknown = unknownEvent(events);
  if (unknown !== undefined)
    throw failure.badRequest(`events: there is no event ${JSON.stringify(unknown)}`);
}

/** The message does not contain the address, which may contain a token. */
function assertUrl(text: string, allowPrivate: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const local = url !== null && isPrivateHost(url.hostname);
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && local))
    throw failure.badRequest('url must be an https address');
  if (local && !allowPrivate)
    throw failure.badRequest('url is a private address: set WEBHOOK_ALLOW_PRIVATE to allow it');
}

/** The path and the query of an address may be a token, as Slack's are. */
export function showReceiver({
  secret: _secret,
  url,
  ...receiver
}: Receiver): Record<string, unknown> {
  return { ...receiver, ...(url !== undefined && { url: masked(url) }) };
}

function masked(text: string): string {
  const { origin, pathname, search, username } = new URL(text);
  const bare = pathname === '/' && search === '' && username === '';
  return bare ? origin : `${origin}/********`;
}
