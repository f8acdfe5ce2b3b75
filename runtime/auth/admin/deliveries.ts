import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';
import { rfc3339 } from '../time.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { RowOf, AuthStore, Db } from '../tables.ts';

interface DeliveryParts {
  readonly store: AuthStore;
  readonly now: Kernel['now'];
  readonly webhooks: Webhooks;
}

const COLUMNS = [
  'id',
  'event_id',
  'body',
  'attempt',
  'status',
  'last_code',
  'last_error',
  'created_at',
  'next_at',
] as const;

/** A row of the outbox. `body` is the event. */
type Row = Pick<RowOf<'auth_webhook_deliveries'>, (typeof COLUMNS)[number]>;

/** What was sent to an endpoint, and sending it again. Deliveries are kept for seven days. */
export function deliveryHandlers(
  { store, now, webhooks }: DeliveryParts,
  idOf: (params: Readonly<Record<string, string>>) => string,
): { readonly webhookDeliveries: Handler; readonly redeliverWebhook: Handler } {
  const webhookDeliveries: Handler = async ({ params, query }) => {
    const id = idOf(params);
    if (!(await webhooks.endpoints.find(store.db, id))) throw failure.notFound();
    const limit = (query.limit ?? 50) as number;
    let asked = deliveriesOf(store.db, id)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (query.status) asked = asked.where('status', '=', query.status);
    if (query.cursor) asked = asked.where('id', '<', String(query.cursor).replaceAll('\0', ''));
    const rows = await asked.execute();
    return reply(200, {
      deliveries: rows.slice(0, limit).map(show),
      next_cursor: rows.length > limit ? rows[limit - 1]!.id : null,
    });
  };
  const redeliverWebhook: Handler = async ({ params }) => {
    const id = idOf(params);
    const did = idOf({ id: params['did'] ?? '' });
    return store.transaction(async (trx) => {
      await assertSending(webhooks, trx, id);
      const changed = await trx
        .updateTable('auth_webhook_deliveries')
        .set({ status: 'pending', attempt: 0, next_at: now() })
        .where('endpoint_id', '=', id)
        .where('id', '=', did)
        .returning(COLUMNS)
        .executeTakeFirst();
      if (!changed) throw failure.notFound();
      store.afterCommit(() => webhooks.wake());
      return reply(202, show(changed));
    });
  };
  return { webhookDeliveries, redeliverWebhook };
}

const deliveriesOf = (db: Db, endpoint: string) =>
  db.selectFrom('auth_webhook_deliveries').select(COLUMNS).where('endpoint_id', '=', endpoint);

/** @throws AppError 404, or 409 for an endpoint that nothing is sent to */
async function assertSending(webhooks: Webhooks, db: Db, id: string): Promise<void> {
  const endpoint = (await webhooks.endpoints.list(db)).find((each) => each.id === id);
  if (!endpoint) throw failure.notFound();
  if (endpoint.disabled_at !== null)
    throw failure.conflict('The webhook is disabled: enable it first');
}

const show = ({ body, created_at, next_at, status, ...row }: Row) => ({
  id: row.id,
  event_id: row.event_id,
  type: typeOf(body),
  attempt: row.attempt,
  status,
  last_code: row.last_code,
  last_error: row.last_error,
  created_at: rfc3339(created_at),
  next_at: status === 'pending' ? rfc3339(next_at) : null,
});

const typeOf = (body: string) => (JSON.parse(body) as { readonly type?: string }).type ?? null;
