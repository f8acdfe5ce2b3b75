import type { Kysely } from 'kysely';
import type { Kernel } from '../../module.ts';
import type { AuthConfig } from '../config.ts';
import type { Outbox } from '../events.ts';
import type { SecurityEvent } from '../event-types.ts';
import { digest, ulid } from '../ids.ts';
import type { Keys } from '../keys.ts';
import { seal, unseal } from '../seal.ts';
import { HOUR, MINUTE, SECOND } from '../time.ts';
import { createPost } from './post.ts';
import { asWebhookSecret, newWebhookSecret, webhookHeaders } from './signature.ts';

/** A place that events are sent to. */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly source: 'manifest' | 'admin';
  readonly created_at: number;
  readonly disabled_at: number | null;
}

/** Sends events to webhooks, at least once each: a row of the outbox is written with the event and leaves when it arrived. */
export interface Webhooks {
  readonly outbox: Outbox;
  list(db: Kysely<any>): Promise<Endpoint[]>;
  create(trx: Kysely<any>, url: string, types: readonly string[]): Promise<{ readonly endpoint: Endpoint; readonly secret: string }>;
  /** A new secret; the old one signs too until `overlap` milliseconds are over. @returns null when there is no such endpoint. */
  rotate(trx: Kysely<any>, id: string, overlap: number): Promise<string | null>;
  remove(trx: Kysely<any>, id: string): Promise<boolean>;
  /** Sends one event now, past the outbox. @returns null when there is no such endpoint. */
  test(id: string, event: SecurityEvent): Promise<{ readonly delivered: boolean; readonly status: number | null } | null>;
  /** Takes the endpoints of the manifest in and begins to send. */
  start(): Promise<void>;
  /** Sends what is due, `limit` milliseconds at most. */
  stop(limit: number): Promise<void>;
  /** Looks for due deliveries soon. */
  kick(): void;
}

/** Waits after the first, second … failure. After the last the delivery is given up. */
const RETRIES = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR] as const;
/** A server that dies while it sends: another takes the delivery up after this long. */
const LEASE = 30 * SECOND;
const BATCH = 20;
const IDLE = 5 * SECOND;

export function createWebhooks(kernel: Kernel, config: AuthConfig, keys: Keys, onDisabled: (endpoint: Endpoint) => Promise<void>): Webhooks {
  const { store, now, log } = kernel;
  const { post, close } = createPost(config.allowLocalWebhooks || !kernel.settings.production);
  const sealed = (id: string, secret: string) => seal(keys.derived('webhook-seal'), secret, id);
  const opened = (id: string, text: string | null) => (text === null ? null : unseal(keys.derivedAll('webhook-seal'), text, id));
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let stopped = true;
  /** Whether something was put into the outbox since the last look. */
  let waiting = false;
  /** Whether that was while a round ran. */
  let again = false;
  /** Milliseconds until the next retry that is known here. */
  let soonest: number = IDLE;

  const send = async (row: Record<string, any>, id: string, body: string) => {
    const current = opened(row['endpoint_id'], row['secret_sealed']);
    const previous = (row['previous_until'] ?? 0) > now() ? opened(row['endpoint_id'], row['previous_sealed']) : null;
    const secrets = [current, previous].filter((secret) => secret !== null);
    return post(row['url'], webhookHeaders(secrets, id, Math.floor(now() / SECOND), body), body);
  };

  const deliver = async (row: Record<string, any>) => {
    const result = await send(row, row['event_id'], row['body']);
    const status = 'status' in result ? result.status : null;
    const update = (values: Record<string, unknown>) =>
      store.db.updateTable('auth_webhook_deliveries').set({ attempt: row['attempt'] + 1, last_code: status, last_error: 'error' in result ? result.error : null, ...values }).where('id', '=', row['id']).execute();
    if (status !== null && status >= 200 && status < 300) return void (await update({ status: 'delivered' }));
    if (status === 410) {
      await update({ status: 'failed' });
      await disable(row['endpoint_id']);
      return;
    }
    const wait = RETRIES[row['attempt'] as number];
    if (wait !== undefined) soonest = Math.min(soonest, wait);
    await update(wait === undefined ? { status: 'failed' } : { status: 'pending', next_at: now() + wait });
  };

  const disable = async (id: string) => {
    await store.db.updateTable('auth_webhook_endpoints').set({ disabled_at: now() }).where('id', '=', id).execute();
    const endpoint = (await list(store.db)).find((each) => each.id === id);
    if (endpoint) await onDisabled(endpoint);
  };

  /** Claims due rows one by one with a compare-and-swap, so that two servers do not send the same one at once. */
  const round = async (): Promise<number> => {
    const due = await store.db
      .selectFrom('auth_webhook_deliveries as d')
      .innerJoin('auth_webhook_endpoints as e', 'e.id', 'd.endpoint_id')
      .select(['d.id', 'd.event_id', 'd.endpoint_id', 'd.body', 'd.attempt', 'd.next_at', 'e.url', 'e.secret_sealed', 'e.previous_sealed', 'e.previous_until'])
      .where('d.status', '=', 'pending').where('d.next_at', '<=', now()).where('e.disabled_at', 'is', null)
      .orderBy('d.next_at').limit(BATCH).execute();
    await Promise.all(due.map(async (row) => {
      const claim = await store.db.updateTable('auth_webhook_deliveries').set({ next_at: now() + LEASE }).where('id', '=', row['id']).where('status', '=', 'pending').where('next_at', '=', row['next_at']).executeTakeFirst();
      if (Number(claim.numUpdatedRows) > 0) await deliver(row);
    }));
    return due.length;
  };

  const work = async () => {
    try {
      while ((await round()) === BATCH);
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : 'unknown' }, 'webhooks could not be sent');
    }
  };
  const plan = (wait: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void run(), wait);
    timer.unref();
  };
  const run = () => (running ??= work().finally(() => {
    running = null;
    // What came in meanwhile may have been written after the last look.
    plan(again ? 0 : soonest);
    again = false;
    soonest = IDLE;
  }));

  const list: Webhooks['list'] = async (db) => (await db.selectFrom('auth_webhook_endpoints').select(['id', 'url', 'types', 'source', 'created_at', 'disabled_at']).orderBy('created_at').orderBy('id').execute()).map((row) => ({ ...row, types: JSON.parse(row['types']) }) as Endpoint);
  const insert = async (trx: Kysely<any>, id: string, url: string, types: readonly string[], secret: string, source: Endpoint['source']) => {
    const endpoint = { id, url, source, created_at: now(), disabled_at: null };
    await trx.insertInto('auth_webhook_endpoints').values({ ...endpoint, types: JSON.stringify(types), secret_sealed: sealed(id, secret), previous_sealed: null, previous_until: null }).execute();
    return { ...endpoint, types };
  };

  return {
    list,
    outbox: async (trx, event) => {
      const endpoints = await trx.selectFrom('auth_webhook_endpoints').select(['id', 'types']).where('disabled_at', 'is', null).execute();
      const rows = endpoints
        .filter(({ types }) => wants(JSON.parse(types), event.type))
        .map(({ id }) => ({ id: ulid(now()), event_id: event.id, endpoint_id: id, body: JSON.stringify(event), status: 'pending', attempt: 0, next_at: now(), created_at: now() }));
      if (rows.length === 0) return;
      waiting = true;
      await trx.insertInto('auth_webhook_deliveries').values(rows).execute();
    },
    create: async (trx, url, types) => {
      const secret = newWebhookSecret();
      return { endpoint: await insert(trx, `wh_${ulid(now())}`, url, types, secret, 'admin'), secret };
    },
    rotate: async (trx, id, overlap) => {
      const row = await trx.selectFrom('auth_webhook_endpoints').select('secret_sealed').where('id', '=', id).executeTakeFirst();
      if (!row) return null;
      const secret = newWebhookSecret();
      await trx.updateTable('auth_webhook_endpoints').set({ secret_sealed: sealed(id, secret), previous_sealed: row['secret_sealed'], previous_until: now() + overlap }).where('id', '=', id).execute();
      return secret;
    },
    remove: async (trx, id) => {
      await trx.deleteFrom('auth_webhook_deliveries').where('endpoint_id', '=', id).execute();
      return Number((await trx.deleteFrom('auth_webhook_endpoints').where('id', '=', id).executeTakeFirst()).numDeletedRows) > 0;
    },
    test: async (id, event) => {
      const row = await store.db.selectFrom('auth_webhook_endpoints').select(['id as endpoint_id', 'url', 'secret_sealed', 'previous_sealed', 'previous_until']).where('id', '=', id).executeTakeFirst();
      if (!row) return null;
      const result = await send(row, event.id, JSON.stringify(event));
      const status = 'status' in result ? result.status : null;
      return { delivered: status !== null && status >= 200 && status < 300, status };
    },
    start: async () => {
      await store.lock('auth-webhooks', () => takeIn(store.db, config.webhooks, sealed, insert));
      stopped = false;
      plan(0);
    },
    stop: async (limit) => {
      stopped = true;
      clearTimeout(timer);
      let over: NodeJS.Timeout | undefined;
      await Promise.race([(running ?? Promise.resolve()).then(work), new Promise((resolve) => (over = setTimeout(resolve, limit)))]);
      clearTimeout(over);
      await close();
    },
    kick: () => {
      if (!waiting) return;
      waiting = false;
      if (running) again = true;
      else plan(0);
    },
  };
}

const wants = (types: readonly string[], type: string) =>
  types.some((each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))));

/** The manifest's endpoints are those that stand in it now, under ids made from their addresses. */
async function takeIn(
  db: Kysely<any>,
  webhooks: AuthConfig['webhooks'],
  sealed: (id: string, secret: string) => string,
  insert: (trx: Kysely<any>, id: string, url: string, types: readonly string[], secret: string, source: Endpoint['source']) => Promise<unknown>,
): Promise<void> {
  const ids = webhooks.map(({ url }) => `wh_${digest(url).slice(0, 22)}`);
  const known = await db.selectFrom('auth_webhook_endpoints').select('id').where('source', '=', 'manifest').execute();
  for (const { id } of known) if (!ids.includes(id)) await db.updateTable('auth_webhook_endpoints').set({ disabled_at: 1 }).where('id', '=', id).execute();
  for (const [index, { url, types, secret }] of webhooks.entries()) {
    const id = ids[index]!;
    const text = asWebhookSecret(secret);
    if (!known.some((row) => row['id'] === id)) await insert(db, id, url, types, text, 'manifest');
    else await db.updateTable('auth_webhook_endpoints').set({ types: JSON.stringify(types), secret_sealed: sealed(id, text), disabled_at: null }).where('id', '=', id).execute();
  }
}
