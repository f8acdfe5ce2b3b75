import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import type { Change, Changes } from './changes.ts';

/** Carries changes between the servers that share a database. */
export interface Announcements {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const CHANNEL = 'twofold_changes';
/** PostgreSQL takes at most 8000 bytes in a notification. */
const LONGEST = 7500;
const AGAIN = 1000;

/**
 * Tells other servers of changes through PostgreSQL's LISTEN and NOTIFY, and local listeners of theirs. A connection that
 * breaks is made again; what happens in between is not told, as the contract of NOTIFY has it.
 */
export function createAnnouncements(options: { readonly store: Store; readonly changes: Changes; readonly url: string; readonly log: Logger }): Announcements {
  const { store, changes, url, log } = options;
  const node = randomUUID();
  let client: pg.Client | undefined;
  let stopped = false;
  let stopListening = () => {};
  // A change that came from elsewhere must not be told again.
  const foreign = new WeakSet<Change>();

  async function listen(): Promise<void> {
    const next = new pg.Client({ connectionString: url });
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
    setTimeout(() => void listen().catch((error: unknown) => (log.warn({ error: String(error) }, 'changes of other servers are not heard; trying again'), retry())), AGAIN).unref();
  }

  function retry(): void {
    if (!stopped) setTimeout(() => void listen().catch(retry), AGAIN).unref();
  }

  function receive(payload: string): void {
    const message = parse(payload);
    if (!message || message.node === node) return;
    message.changes.forEach((change) => foreign.add(change));
    changes.publish(message.changes);
  }

  function announce(change: Change): void {
    if (foreign.has(change)) return;
    const full = JSON.stringify({ node, changes: [change] });
    const short = () => JSON.stringify({ node, changes: [{ ...change, row: undefined }] });
    const payload = Buffer.byteLength(full) <= LONGEST ? full : short();
    store.query(`select pg_notify('${CHANNEL}', $1)`, [payload]).catch((error: unknown) => log.error({ error: String(error) }, 'a change was not announced'));
  }

  return {
    start: async () => {
      await listen();
      stopListening = changes.subscribe(announce);
    },
    stop: async () => {
      stopped = true;
      stopListening();
      await client?.end();
    },
  };
}

function parse(payload: string): { readonly node: string; readonly changes: Change[] } | null {
  try {
    return JSON.parse(payload);
  } catch {
    return null;
  }
}
