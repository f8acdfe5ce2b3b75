import { failure } from '@twofold/runtime/errors';
import { type Handler, isPrivateHost, reply } from '@twofold/runtime/http';
import { callerOf } from '../requests/caller.ts';
import { isSafe } from '../config.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { isOpaqueId } from '../sign-in/identity-rules.ts';
import { ulid } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { durationOf, rfc3339 } from '../time.ts';
import { deliveryHandlers } from './deliveries.ts';
import type { Endpoint } from '../webhooks/endpoints.ts';

/** Routes that manage the endpoints to which events are sent. */
export function webhookHandlers({ kernel, webhooks, config }: AuthParts) {
  const { store } = kernel;
  const missing = () => failure.notFound();
  const idOf = (params: Readonly<Record<string, string>>) => {
    const id = params['id'] ?? '';
    if (!isOpaqueId(id)) throw missing();
    return id;
  };
  const list: Handler = async () => {
    const endpoints = (await webhooks.endpoints.list(store.db)).map(show);
    return reply(200, { webhooks: endpoints, total: endpoints.length });
  };
  const createWebhook: Handler = async ({ body }) => {
    assertAddress(body.url, config.allowPrivateWebhooks);
    const types = (body.types ?? ['*']) as string[];
    assertTypes(types);
    const { endpoint, secret } = await store.transaction((trx) =>
      webhooks.endpoints.create(trx, body.url, types),
    );
    return reply(201, { ...show(endpoint), secret });
  };
  const updateWebhook: Handler = async ({ params, body }) => {
    const id = idOf(params);
    if (body.url !== undefined) assertAddress(body.url, config.allowPrivateWebhooks);
    if (body.types !== undefined) assertTypes(body.types);
    return store.transaction(async (trx) => {
      const known = (await webhooks.endpoints.list(trx)).find((each) => each.id === id);
      if (!known) throw missing();
      if (known.source === 'manifest' && (body.url ?? body.types) !== undefined)
        throw failure.conflict('The webhook stands in manifest.yaml: change it there');
      await webhooks.endpoints.update(trx, id, body);
      store.afterCommit(() => webhooks.wake());
      const endpoints = await webhooks.endpoints.list(trx);
      return reply(200, show(endpoints.find((each) => each.id === id) ?? known));
    });
  };
  const rotateWebhook: Handler = async ({ params, body }) => {
    const id = idOf(params);
    const overlap = durationOf(body.overlap ?? '24h');
    if (overlap === null)
      throw failure.invalid(
        'overlap must be seconds or a duration such as "1h", a hundred years at most',
      );
    const secret = await store.transaction((trx) => webhooks.endpoints.rotate(trx, id, overlap));
    if (secret === null) throw missing();
    return reply(200, { id, secret });
  };
  const deleteWebhook: Handler = async ({ params }) => {
    const id = idOf(params);
    if (!(await store.transaction((trx) => webhooks.endpoints.remove(trx, id)))) throw missing();
    return reply(204);
  };
  const testWebhook: Handler = async ({ context, params }) => {
    const { actor, ip, userAgent, requestId } = callerOf(context);
    const now = kernel.now();
    const result = await webhooks.test(idOf(params), {
      id: `evt_${ulid(now)}`,
      type: 'webhook.test',
      time: new Date(now).toISOString(),
      severity: 'info',
      user_id: null,
      actor,
      ip,
      user_agent: userAgent,
      request_id: requestId,
      data: {},
    });
    if (!result) throw missing();
    return reply(200, result);
  };
  return {
    webhooks: list,
    createWebhook,
    updateWebhook,
    rotateWebhook,
    deleteWebhook,
    testWebhook,
    ...deliveryHandlers({ store, now: kernel.now, webhooks }, idOf),
  };
}

/** @throws AppError 400 */
function assertAddress(text: string, allowPrivate: boolean): void {
  if (!URL.canParse(text) || !isSafe(new URL(text)))
    throw failure.invalid('url must be https, except on a loopback address');
  if (!allowPrivate && isPrivateHost(new URL(text).hostname))
    throw failure.invalid(
      'url must not be a private address: the setting WEBHOOK_ALLOW_PRIVATE=on allows it',
    );
}

/** @throws AppError 400 */
function assertTypes(types: readonly string[]): void {
  if (!types.every(isKnownType))
    throw failure.invalid('types must be event types, prefixes such as auth.* or *');
}

const show = ({ id, url, types, source, created_at, disabled_at }: Endpoint) => ({
  id,
  url,
  types,
  source,
  created_at: rfc3339(created_at),
  disabled_at: rfc3339(disabled_at),
});

const isKnownType = (type: string) =>
  type === '*' ||
  type in EVENT_TYPES ||
  (type.endsWith('.*') &&
    Object.keys(EVENT_TYPES).some((known) => known.startsWith(type.slice(0, -1))));
