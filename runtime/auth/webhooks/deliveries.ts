import { HOUR, MINUTE, SECOND } from '../base/time.ts';
import type { AuthKernel, RowOf } from '../base/tables.ts';
import type { Endpoints, SealedEndpoint } from './endpoints.ts';
import { type Post, type PostResult, webhookHeaders } from './post.ts';

/** Milliseconds to wait after each failure. After the last one the delivery fails. */
const RETRY_DELAYS = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR] as const;
/** Milliseconds after which another server takes over a delivery whose server has died. */
const LEASE = 30 * SECOND;
const BATCH_SIZE = 20;

/** A due row of the outbox with its endpoint. */
type Due = SealedEndpoint &
  Pick<RowOf<'auth_webhook_deliveries'>, 'id' | 'event_id' | 'body' | 'attempt' | 'next_at'>;

export interface Deliveries {
  /** Sends all due deliveries. @returns milliseconds until the next retry of these. */
  run(): Promise<number>;
  send(endpoint: SealedEndpoint, eventId: string, body: string): Promise<PostResult>;
}

/** Posts due rows of the outbox. */
export function createDeliveries(
  kernel: AuthKernel,
  endpoints: Endpoints,
  post: Post,
  onGone: (endpointId: string) => Promise<void>,
): Deliveries {
  const { store, now } = kernel;
  const send: Deliveries['send'] = (endpoint, eventId, body) =>
    post(
      endpoint.url,
      webhookHeaders(endpoints.secrets(endpoint), eventId, Math.floor(now() / SECOND), body),
      body,
    );
  const deliver = async (row: Due): Promise<number> => {
    const result = await send(row, row.event_id, row.body);
    const status = 'status' in result ? result.status : null;
    const wait = RETRY_DELAYS[row.attempt];
    const next = isDelivered(result)
      ? 'delivered'
      : status === 410 || wait === undefined
        ? 'failed'
        : 'pending';
    const outcome = {
      status: next,
      attempt: row.attempt + 1,
      last_code: status,
      last_error: 'error' in result ? result.error : null,
    } as const;
    await store.db
      .updateTable('auth_webhook_deliveries')
      .set({ ...outcome, ...(next === 'pending' && { next_at: now() + wait! }) })
      .where('id', '=', row.id)
      .execute();
    if (status === 410) await onGone(row.endpoint_id);
    return next === 'pending' ? wait! : Infinity;
  };
  return {
    send,
    run: async () => {
      let soonest = Infinity;
      for (;;) {
        const due = await readDue(kernel);
        const waits = await Promise.all(
          due.map(async (row) => ((await claim(kernel, row)) ? deliver(row) : Infinity)),
        );
        soonest = Math.min(soonest, ...waits);
        if (due.length < BATCH_SIZE) return soonest;
      }
    },
  };
}

export const isDelivered = (result: PostResult) =>
  'status' in result && result.status >= 200 && result.status < 300;

async function readDue({ store, now }: AuthKernel): Promise<Due[]> {
  return store.db
    .selectFrom('auth_webhook_deliveries as d')
    .innerJoin('auth_webhook_endpoints as e', 'e.id', 'd.endpoint_id')
    .select([
      'd.id',
      'd.event_id',
      'd.endpoint_id',
      'd.body',
      'd.attempt',
      'd.next_at',
      'e.url',
      'e.secret_sealed',
      'e.previous_sealed',
      'e.previous_until',
    ])
    .where('d.status', '=', 'pending')
    .where('d.next_at', '<=', now())
    .where('e.disabled_at', 'is', null)
    .orderBy('d.next_at')
    .limit(BATCH_SIZE)
    .execute();
}

/**
 * Claims a row with a compare-and-swap, so that two servers do not send it at once, and none sends
 * to an endpoint that was disabled since the row was read.
 */
async function claim({ store, now }: AuthKernel, { id, next_at }: Due): Promise<boolean> {
  const enabled = store.db
    .selectFrom('auth_webhook_endpoints')
    .select('id')
    .where('disabled_at', 'is', null);
  const claimed = await store.db
    .updateTable('auth_webhook_deliveries')
    .set({ next_at: now() + LEASE })
    .where('id', '=', id)
    .where('endpoint_id', 'in', enabled)
    .where('status', '=', 'pending')
    .where('next_at', '=', next_at)
    .executeTakeFirst();
  return Number(claimed.numUpdatedRows) > 0;
}
