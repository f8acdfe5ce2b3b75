import { randomUUID } from 'node:crypto';
import type { Logger } from '../../config/log.ts';
import type { Store } from '../../store/store.ts';
import type { Announced, Changes } from './changes.ts';

/** Carries changes between the servers that share a database. */
export interface Announcements {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface AnnouncementOptions {
  readonly store: Store;
  readonly changes: Changes;
  readonly log: Logger;
}

const CHANNEL = 'twofold_changes';
/** How many changes one statement announces. */
const MAX_CHANGES = 100;

/** Sends changes to the other servers of a database, and passes theirs on to local listeners. */
export function createAnnouncements(options: AnnouncementOptions): Announcements {
  const { store, changes } = options;
  const node = randomUUID();
  const assembly = createAssembly();
  let stops: (() => void)[] = [];
  const announce = inTurn(sender(options, node));
  // Changes that came from another server. They must not be sent again.
  const foreign = new WeakSet<Announced>();

  function receive(payload: string): void {
    const text = assembly.add(payload);
    const message = text === undefined ? null : parse(text);
    if (!message || message.node === node) return;
    message.changes.forEach((change) => foreign.add(change));
    changes.publish(message.changes);
  }

  return {
    start: async () => {
      const stop = await store.listen?.(CHANNEL, receive);
      const unsubscribe = changes.subscribe(
        (change) => void (foreign.has(change) || announce(change)),
      );
      stops = [unsubscribe, ...(stop ? [stop] : [])];
    },
    stop: async () => stops.forEach((stop) => stop()),
  };
}

type Send = (batch: readonly Announced[]) => Promise<unknown>;

const sender =
  ({ store, log }: AnnouncementOptions, node: string): Send =>
  (batch) => {
    // One statement: its parts come in their order, with nothing between them.
    const parts = partsOf(JSON.stringify({ node, changes: batch }));
    return store.notify!(CHANNEL, parts).catch((error: unknown) =>
      log.error({ error: String(error) }, 'a change was not announced'),
    );
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

/** PostgreSQL takes at most 8000 bytes in a notification, including our header. */
const MAX_PAYLOAD_BYTES = 7500;

/**
 * Splits a text into payloads of notifications: the text itself, or numbered parts when it is too
 * long for one. No two payloads are equal, because PostgreSQL delivers equal notifications of one
 * transaction only once.
 *
 * @example partsOf('{"a":1}') // ['{"a":1}']
 */
export function partsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_PAYLOAD_BYTES) return [text];
  const id = randomUUID();
  // Base64 turns three bytes into four, and splitting it never cuts a character in two.
  const encoded = bytes.toString('base64');
  const count = Math.ceil(encoded.length / MAX_PAYLOAD_BYTES);
  return Array.from(
    { length: count },
    (_, index) =>
      `${id} ${index} ${count} ${encoded.slice(index * MAX_PAYLOAD_BYTES, (index + 1) * MAX_PAYLOAD_BYTES)}`,
  );
}

/** Joins the parts of long texts. */
interface Assembly {
  /** @returns the whole text when `payload` is its last part. */
  add(payload: string): string | undefined;
}

const PART = /^([0-9a-f-]{36}) (\d+) (\d+) ([\w+/=]*)$/;

/**
 * The parts of one text arrive in sequence. An incomplete text is dropped when another begins, so
 * that memory does not grow.
 */
export function createAssembly(): Assembly {
  let id = '';
  let parts: string[] = [];
  return {
    add: (payload) => {
      const found = PART.exec(payload);
      if (!found) return payload;
      const [, from = '', index, count, encoded = ''] = found;
      if (from !== id) [id, parts] = [from, []];
      if (Number(index) !== parts.length) return undefined;
      parts.push(encoded);
      return parts.length === Number(count)
        ? Buffer.from(parts.splice(0).join(''), 'base64').toString()
        : undefined;
    },
  };
}
