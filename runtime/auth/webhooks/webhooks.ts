import type { Kernel } from '@twofold/runtime/kernel';
import type { Trx } from '../base/tables.ts';
import type { AuthConfig } from '../config.ts';
import type { SecurityEvent } from '../events/event-types.ts';
import type { Outbox } from '../events/events.ts';
import { ulid } from '../base/ids.ts';
import type { Keys } from '../secrets/keys.ts';
import { SECOND } from '../base/time.ts';
import { createDeliveries, isDelivered } from './deliveries.ts';
import { type Endpoint, Endpoints } from './endpoints.ts';
import { createPost } from './post.ts';

/**
 * Sends events to webhooks, each at least once: the row of the outbox is written in the transaction
 * of the event, and stays pending until the receiver has accepted it.
 */
export interface Webhooks {
  readonly endpoints: Endpoints;
  readonly outbox: Outbox;
  /** Sends one event at once, without the outbox. @returns null for an unknown endpoint. */
  test(
    id: string,
    event: SecurityEvent,
  ): Promise<{ readonly delivered: boolean; readonly status: number | null } | null>;
  /** Stores the endpoints of the manifest and begins to send. */
  start(): Promise<void>;
  /** Sends what is due, for at most `limit` milliseconds, and stops. */
  stop(limit: number): Promise<void>;
  /** Call this after the commit of an event: if the event is in the outbox, it is sent at once. */
  kick(event: SecurityEvent): void;
  /** Sends the deliveries that are due, at once. */
  wake(): void;
}

/** Milliseconds between reads of an idle outbox: it may get deliveries of a server that died. */
const IDLE_INTERVAL = 5 * SECOND;

/** @param onDisabled called when an endpoint was disabled because its receiver answered 410. */
export function createWebhooks(
  kernel: Kernel,
  config: AuthConfig,
  keys: Keys,
  onDisabled: (endpoint: Endpoint) => Promise<void>,
): Webhooks {
  const { store, now } = kernel;
  const { post, close } = createPost(config.allowPrivateWebhooks);
  const endpoints = new Endpoints(keys, now);
  const deliveries = createDeliveries(kernel, endpoints, post, async (id) => {
    await endpoints.disable(store.db, id);
    const endpoint = (await endpoints.list(store.db)).find((each) => each.id === id);
    if (endpoint) await onDisabled(endpoint);
  });
  const loop = createLoop(kernel, () => deliveries.run());
  /** Ids of events with a row in the outbox, whose transaction may not have committed yet. */
  const written = new Set<string>();
  return {
    endpoints,
    outbox: async (trx, event) => {
      const rows = await deliveriesOf(trx, event, now());
      if (rows.length === 0) return;
      if (written.size > 10_000) written.clear();
      written.add(event.id);
      await trx.insertInto('auth_webhook_deliveries').values(rows).execute();
    },
    test: async (id, event) => {
      const endpoint = await endpoints.find(store.db, id);
      if (!endpoint) return null;
      const result = await deliveries.send(endpoint, event.id, JSON.stringify(event));
      return { delivered: isDelivered(result), status: 'status' in result ? result.status : null };
    },
    start: async () => {
      await store.lock('auth-webhooks', () => endpoints.takeIn(store.db, config.webhooks));
      loop.start();
    },
    stop: async (limit) => {
      await loop.stop(limit);
      await close();
    },
    kick: ({ id }) => {
      if (written.delete(id)) loop.soon();
    },
    wake: () => loop.soon(),
  };
}

/** The rows of the outbox for an event: one for each endpoint that wants it. */
async function deliveriesOf(trx: Trx, event: SecurityEvent, now: number) {
  const listening = await trx
    .selectFrom('auth_webhook_endpoints')
    .select(['id', 'types'])
    .where('disabled_at', 'is', null)
    .execute();
  return listening
    .filter(({ types }) => isSubscribed(JSON.parse(types), event.type))
    .map(({ id }) => ({
      id: ulid(now),
      event_id: event.id,
      endpoint_id: id,
      body: JSON.stringify(event),
      status: 'pending' as const,
      attempt: 0,
      next_at: now,
      created_at: now,
    }));
}

const isSubscribed = (types: readonly string[], type: string) =>
  types.some(
    (each) =>
      each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))),
  );

/**
 * Runs `work` repeatedly, one run at a time. `work` returns the milliseconds until its next run.
 *
 * `stop` runs it once more, but not when neither `start` nor `soon` was called before: a server
 * that refuses to start also stops its modules, and the tables may not exist yet.
 */
function createLoop({ log }: Kernel, work: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let used = false;
  let stopped = true;
  let again = false;
  const plan = (wait: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void run(), wait);
    timer.unref();
  };
  const once = async () => {
    const wait = await work().catch((error: unknown) => {
      log.error(
        { reason: error instanceof Error ? error.message : 'unknown' },
        'webhooks could not be sent',
      );
      return IDLE_INTERVAL;
    });
    running = null;
    // A row that was written during this run may have been missed, so another run follows at once.
    plan(again ? 0 : Math.min(wait, IDLE_INTERVAL));
    again = false;
  };
  const run = () => (running ??= once());
  return {
    start: () => {
      used = true;
      stopped = false;
      plan(0);
    },
    soon: () => {
      used = true;
      if (running) again = true;
      else plan(0);
    },
    stop: async (limit: number) => {
      stopped = true;
      clearTimeout(timer);
      if (!used) return;
      let over: NodeJS.Timeout | undefined;
      await Promise.race([
        (running ?? Promise.resolve()).then(run),
        new Promise((resolve) => (over = setTimeout(resolve, limit))),
      ]);
      clearTimeout(over);
    },
  };
}
