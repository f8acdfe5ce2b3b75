import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../../config/log.ts';
import type { Store } from '../../store/store.ts';
import { createAssembly, partsOf } from './announcement-parts.ts';
import type { Announced, Changes } from './changes.ts';

/** Carries changes between the servers that share a database. */
export interface Announcements {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface AnnouncementOptions {
  readonly store: Store;
  readonly changes: Changes;
  readonly url: string;
  readonly log: Logger;
}

const CHANNEL = 'twofold_changes';
const RECONNECT_AFTER = 1000;
/** How many changes one statement announces. */
const MAX_CHANGES = 100;

/**
 * Sends changes to other servers through PostgreSQL's LISTEN and NOTIFY, and passes theirs on to
 * local listeners. A broken connection is made again; changes made in the meantime are lost,
 * because NOTIFY does not keep them.
 */
export function createAnnouncements(options: AnnouncementOptions): Announcements {
  const { changes, url, log } = options;
  const node = randomUUID();
  let client: pg.Client | undefined;
  let assembly = createAssembly();
  let stopped = false;
  let stopListening = () => {};
  const announce = inTurn(sender(options, node));
  // Changes that came from another server. They must not be sent again.
  const foreign = new WeakSet<Announced>();

  async function listen(): Promise<void> {
    const { Client } = (await import('pg')).default;
    const next = new Client({ connectionString: url, keepAlive: true });
    assembly = createAssembly();
    next.on('error', () => reconnect(next));
    next.on('end', () => reconnect(next));
    next.on('notification', ({ payload }) => receive(payload ?? ''));
    await next.connect();
    await next.query(`listen ${CHANNEL}`);
    client = next;
  }

  function reconnect(broken: pg.Client): void {
    if (stopped || client !== broken) return;
    client = undefined;
    setTimeout(
      () =>
        void listen().catch(
          (error: unknown) => (
            log.warn(
              { error: String(error) },
              'changes of other servers are not heard; trying again',
            ),
            retry()
          ),
        ),
      RECONNECT_AFTER,
    ).unref();
  }

  function retry(): void {
    if (!stopped) setTimeout(() => void listen().catch(retry), RECONNECT_AFTER).unref();
  }

  function receive(payload: string): void {
    const text = assembly.add(payload);
    const message = text === undefined ? null : parse(text);
    if (!message || message.node === node) return;
    message.changes.forEach((change) => foreign.add(change));
    changes.publish(message.changes);
  }

  return {
    start: async () => {
      await listen();
      stopListening = changes.subscribe((change) => void (foreign.has(change) || announce(change)));
    },
    stop: async () => {
      stopped = true;
      stopListening();
      await client?.end();
    },
  };
}

type Send = (batch: readonly Announced[]) => Promise<unknown>;

const sender =
  ({ store, log }: AnnouncementOptions, node: string): Send =>
  (batch) => {
    // One statement: its parts come in their order, with nothing between them.
    const parts = partsOf(JSON.stringify({ node, changes: batch }));
    return store
      .query(`select pg_notify('${CHANNEL}', part) from unnest($1::text[]) part`, [parts])
      .catch((error: unknown) => log.error({ error: String(error) }, 'a change was not announced'));
  };

/** Sends one batch after another, so that other servers get changes in their order. */
function inTurn(send: Send): (change: Announced) => void {
  const waiting: Announced[] = [];
  let sending = false;
  async function sendAll(): Promise<void> {
    sending = true;
    while (waiting.length > 0) await send(waiting.splice(0, MAX_CHANGES));
    sending = false;
  }
  return (change) => {
    waiting.push(change);
    if (!sending) void sendAll();
  };
}

interface Message {
  readonly node: string;
  readonly changes: Announced[];
}

/**
 * Parses a notification. Any client of the database can send one, so a payload of another form is
 * ignored.
 */
function parse(text: string): Message | null {
  try {
    const { node, changes } = JSON.parse(text) as Partial<Message>;
    return typeof node === 'string' &&
      Array.isArray(changes) &&
      changes.every((change) => typeof change === 'object' && change !== null)
      ? { node, changes }
      : null;
  } catch {
    return null;
  }
}
