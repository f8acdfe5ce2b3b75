import { failure } from '@twofold/runtime/errors';
import { isPrivateHost, reply } from '@twofold/runtime/http';
import { flag, object, orNull } from '@twofold/schema/shapes';
import { isSafe } from '../config.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { ulid } from '../base/ids.ts';
import { callerOf } from '../base/caller.ts';
import { isOpaqueId } from '../base/identity-rules.ts';
import type { Db, RowOf } from '../base/tables.ts';
import { durationOf, rfc3339 } from '../base/time.ts';
import type { Endpoint } from '../webhooks/endpoints.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { adminFlow } from './flow.ts';
import { counted, DURATION, NAMES, page, SHORT, TIME, WHOLE } from './shapes.ts';

const URL_TEXT = { type: 'string', maxLength: 2048 } as const;

const DELIVERY = object({
  id: SHORT,
  event_id: SHORT,
  type: SHORT,
  attempt: WHOLE,
  status: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
  last_code: orNull('integer'),
  last_error: orNull('string'),
  created_at: TIME,
  next_at: TIME,
});

/** There is no such endpoint. */
const MISSING = { 404: 'There is none' } as const;

export const webhooks = adminFlow('GET /api/auth/admin/webhooks', {
  needs: 'admin',
  summary: 'Where events are sent',
  answers: { 200: ['The endpoints', counted('webhooks')] },
  async handle(_call, auth) {
    const { store } = auth;
    const endpoints = (await auth.webhooks.endpoints.list(store.db)).map(show);
    return reply(200, { webhooks: endpoints, total: endpoints.length });
  },
});

export const createWebhook = adminFlow('POST /api/auth/admin/webhooks', {
  needs: 'admin',
  audit: { target: 'webhook:{id}', values: ['types'], atomic: true },
  summary: 'Send events to an address; the secret is shown once',
  body: object({ url: { type: 'string', maxLength: 2048 }, types: NAMES }, ['url']),
  answers: { 201: ['The endpoint', object({ id: SHORT, secret: SHORT })] },
  async handle({ body }, auth) {
    const { store } = auth;
    assertAddress(body.url, auth.config.allowPrivateWebhooks);
    const types = body.types ?? ['*'];
    assertTypes(types);
    const { endpoint, secret } = await store.transaction((trx) =>
      auth.webhooks.endpoints.create(trx, body.url, types),
    );
    return reply(201, { ...show(endpoint), secret });
  },
});

export const rotateWebhook = adminFlow('POST /api/auth/admin/webhooks/:id/rotate', {
  needs: 'admin',
  audit: { target: 'webhook:{id}', atomic: true },
  summary: 'A new secret; both sign for the overlap',
  optional: true,
  body: object({ overlap: DURATION }),
  answers: { 200: ['The endpoint', object({ id: SHORT, secret: SHORT })] },
  async handle({ params, body }, auth) {
    const { store } = auth;
    const id = idOf(params.id);
    const overlap = durationOf(body.overlap ?? '24h');
    if (overlap === null)
      throw failure.invalid(
        'overlap must be seconds or a duration such as "1h", a hundred years at most',
      );
    const secret = await store.transaction((trx) =>
      auth.webhooks.endpoints.rotate(trx, id, overlap),
    );
    if (secret === null) throw failure.notFound();
    return reply(200, { id, secret });
  },
});

export const deleteWebhook = adminFlow('DELETE /api/auth/admin/webhooks/:id', {
  needs: 'admin',
  audit: { target: 'webhook:{id}', atomic: true },
  summary: 'Stop sending',
  answers: { 204: ['Deleted'] },
  async handle({ params }, auth) {
    const { store } = auth;
    const id = idOf(params.id);
    if (!(await store.transaction((trx) => auth.webhooks.endpoints.remove(trx, id))))
      throw failure.notFound();
    return reply(204);
  },
});

export const testWebhook = adminFlow('POST /api/auth/admin/webhooks/:id/test', {
  needs: 'admin',
  audit: { target: 'webhook:{id}' },
  summary: 'Send one test event now',
  answers: { 200: ['What came back', object({ delivered: flag, status: orNull('integer') })] },
  async handle({ context, params }, auth) {
    const { actor, ip, userAgent, requestId } = callerOf(context);
    const now = auth.now();
    const result = await auth.webhooks.test(idOf(params.id), {
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
  },
});

export const updateWebhook = adminFlow('PATCH /api/auth/admin/webhooks/:id', {
  needs: 'admin',
  audit: { target: 'webhook:{id}', values: ['types', 'disabled'], atomic: true },
  summary: 'Another address or other events; disabled: nothing is sent',
  body: object({ url: URL_TEXT, types: NAMES, disabled: flag }),
  answers: { 200: ['The endpoint', object({ id: SHORT })] },
  refuses: { ...MISSING, 409: 'The endpoint stands in manifest.yaml' },
  async handle({ params, body }, auth) {
    const { store } = auth;
    const id = idOf(params.id);
    if (body.url !== undefined) assertAddress(body.url, auth.config.allowPrivateWebhooks);
    if (body.types !== undefined) assertTypes(body.types);
    return store.transaction(async (trx) => {
      const known = (await auth.webhooks.endpoints.list(trx)).find((each) => each.id === id);
      if (!known) throw failure.notFound();
      if (known.source === 'manifest' && (body.url ?? body.types) !== undefined)
        throw failure.conflict('The webhook stands in manifest.yaml: change it there');
      await auth.webhooks.endpoints.update(trx, id, body);
      store.afterCommit(() => auth.webhooks.wake());
      const endpoints = await auth.webhooks.endpoints.list(trx);
      return reply(200, show(endpoints.find((each) => each.id === id) ?? known));
    });
  },
});

export const webhookDeliveries = adminFlow('GET /api/auth/admin/webhooks/:id/deliveries', {
  needs: 'admin',
  summary: 'What was sent there in the last seven days, newest first',
  query: {
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    cursor: SHORT,
    status: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
  },
  answers: { 200: ['The deliveries', page('deliveries')] },
  refuses: MISSING,
  async handle({ params, query }, auth) {
    const { store } = auth;
    const id = idOf(params.id);
    if (!(await auth.webhooks.endpoints.find(store.db, id))) throw failure.notFound();
    const { limit } = query;
    let asked = store.db
      .selectFrom('auth_webhook_deliveries')
      .selectAll()
      .where('endpoint_id', '=', id)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (query.status) asked = asked.where('status', '=', query.status);
    if (query.cursor) asked = asked.where('id', '<', query.cursor.replaceAll('\0', ''));
    const rows = await asked.execute();
    return reply(200, {
      deliveries: rows.slice(0, limit).map(showDelivery),
      next_cursor: rows.length > limit ? rows[limit - 1]!.id : null,
    });
  },
});

export const redeliverWebhook = adminFlow(
  'POST /api/auth/admin/webhooks/:id/deliveries/:did/redeliver',
  {
    needs: 'admin',
    audit: { target: 'webhook:{id}', atomic: true },
    summary: 'Send an event again, with the same id and new attempts',
    answers: { 202: ['The delivery, which waits', DELIVERY] },
    refuses: { ...MISSING, 409: 'The webhook is disabled' },
    async handle({ params }, auth) {
      const { store, now } = auth;
      const id = idOf(params.id);
      const did = idOf(params.did);
      return store.transaction(async (trx) => {
        await assertSending(auth.webhooks, trx, id);
        const changed = await trx
          .updateTable('auth_webhook_deliveries')
          .set({ status: 'pending', attempt: 0, next_at: now() })
          .where('endpoint_id', '=', id)
          .where('id', '=', did)
          .returningAll()
          .executeTakeFirst();
        if (!changed) throw failure.notFound();
        store.afterCommit(() => auth.webhooks.wake());
        return reply(202, showDelivery(changed));
      });
    },
  },
);

function idOf(id: string): string {
  if (!isOpaqueId(id)) throw failure.notFound();
  return id;
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
