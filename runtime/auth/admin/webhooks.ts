import { failure } from '@twofold/runtime/errors';
import { type Handler, isPrivateHost, reply } from '@twofold/runtime/http';
import { callerOf } from '../requests/caller.ts';
import { isSafe } from '../config.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { isOpaqueId } from '../sign-in/identity-rules.ts';
import { ulid } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { durationOf, rfc3339 } from '../time.ts';
import type { Db, RowOf } from '../tables.ts';
import type { Endpoint } from '../webhooks/endpoints.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Routes that manage the endpoints to which events are sent. */
export function webhookHandlers(parts: AuthParts) {
  const { webhooks, config } = parts;
  const { store } = parts.kernel;
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
      if (!known) throw failure.notFound();
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
    if (secret === null) throw failure.notFound();
    return reply(200, { id, secret });
  };
  const deleteWebhook: Handler = async ({ params }) => {
    const id = idOf(params);
    if (!(await store.transaction((trx) => webhooks.endpoints.remove(trx, id))))
      throw failure.notFound();
    return reply(204);
  };
  return {
    webhooks: list,
    createWebhook,
    updateWebhook,
    rotateWebhook,
    deleteWebhook,
    testWebhook: testWebhook(parts),
    ...deliveryHandlers(parts),
  };
}

function testWebhook({ kernel, webhooks }: AuthParts): Handler {
  return async ({ context, params }) => {
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
    if (!result) throw failure.notFound();
    return reply(200, result);
  };
}

function idOf(params: Readonly<Record<string, string>>, name = 'id'): string {
  const id = params[name] ?? '';
  if (!isOpaqueId(id)) throw failure.notFound();
  return id;
}

/** What was sent to an endpoint, and sending it again. Deliveries are kept for seven days. */
function deliveryHandlers({ kernel, webhooks }: AuthParts) {
  const { store, now } = kernel;
  const webhookDeliveries: Handler = async ({ params, query }) => {
    const id = idOf(params);
    if (!(await webhooks.endpoints.find(store.db, id))) throw failure.notFound();
    const limit = (query.limit ?? 50) as number;
    let asked = store.db
      .selectFrom('auth_webhook_deliveries')
      .selectAll()
      .where('endpoint_id', '=', id)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (query.status) asked = asked.where('status', '=', query.status);
    if (query.cursor) asked = asked.where('id', '<', String(query.cursor).replaceAll('\0', ''));
    const rows = await asked.execute();
    return reply(200, {
      deliveries: rows.slice(0, limit).map(showDelivery),
      next_cursor: rows.length > limit ? rows[limit - 1]!.id : null,
    });
  };
  const redeliverWebhook: Handler = async ({ params }) => {
    const id = idOf(params);
    const did = idOf(params, 'did');
    return store.transaction(async (trx) => {
      await assertSending(webhooks, trx, id);
      const changed = await trx
        .updateTable('auth_webhook_deliveries')
        .set({ status: 'pending', attempt: 0, next_at: now() })
        .where('endpoint_id', '=', id)
        .where('id', '=', did)
        .returningAll()
        .executeTakeFirst();
      if (!changed) throw failure.notFound();
      store.afterCommit(() => webhooks.wake());
      return reply(202, showDelivery(changed));
    });
  };
  return { webhookDeliveries, redeliverWebhook };
}

/** @throws AppError 404, or 409 for an endpoint that nothing is sent to */
async function assertSending(webhooks: Webhooks, db: Db, id: string): Promise<void> {
  const endpoint = (await webhooks.endpoints.list(db)).find((each) => each.id === id);
  if (!endpoint) throw failure.notFound();
  if (endpoint.disabled_at !== null)
    throw failure.conflict('The webhook is disabled: enable it first');
}

const showDelivery = (row: RowOf<'auth_webhook_deliveries'>) => ({
  id: row.id,
  event_id: row.event_id,
  type: typeOf(row.body),
  attempt: row.attempt,
  status: row.status,
  last_code: row.last_code,
  last_error: row.last_error,
  created_at: rfc3339(row.created_at),
  next_at: row.status === 'pending' ? rfc3339(row.next_at) : null,
});

const typeOf = (body: string) => (JSON.parse(body) as { readonly type?: string }).type ?? null;

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
