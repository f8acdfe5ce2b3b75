import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../config/log.ts';
import type { Store } from '../../store/store.ts';
import type { Announced, Changes } from './changes.ts';

/** Carries changes between the servers that share a database. */
export interface Announcements {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A way on which changes go to other processes, and come from them. */
export interface ChangeWay {
  /**
   * @param interrupt see `Changes`.
   * @returns a function that ends it; undefined when there are no other processes.
   */
  hear(
    receive: (changes: readonly Announced[]) => void,
    interrupt: Changes['interrupt'],
  ): Promise<(() => void) | undefined>;
  tell(change: Announced): void;
}

/** Sends changes of this process to others, and passes theirs on to local listeners. */
export function createAnnouncements(changes: Changes, { hear, tell }: ChangeWay): Announcements {
  // Changes that came from others. They must not be sent again.
  const foreign = new WeakSet<Announced>();
  let stops: readonly (() => void)[] = [];
  return {
    start: async () => {
      const stop = await hear((received) => {
        received.forEach((change) => foreign.add(change));
        changes.publish(received);
      }, changes.interrupt);
      if (stop)
        stops = [stop, changes.subscribe((change) => void (foreign.has(change) || tell(change)))];
    },
    stop: async () => stops.forEach((stop) => stop()),
  };
}

const CHANNEL = 'twofold_changes';
/** How many changes one statement announces. */
const MAX_CHANGES = 100;

/** The way between servers that share a PostgreSQL. */
export function throughDatabase({ listen, notify }: Store, log: Logger): ChangeWay {
  const node = randomUUID();
  const assembly = createAssembly();
  return {
    hear: async (receive, interrupt) =>
      listen?.(
        CHANNEL,
        (payload) => {
          const text = assembly.add(payload);
          const message = text === undefined ? null : parse(text);
          if (message && message.node !== node) receive(message.changes);
        },
        interrupt,
      ),
    // One statement: its parts come in their order, with nothing between them.
    tell: inTurn(
      async (batch) => notify?.(CHANNEL, partsOf(JSON.stringify({ node, changes: batch }))),
      log,
    ),
  };
}

/** Milliseconds until changes are announced again that could not be. */
const AGAIN_AFTER = 500;
const MOST_WAITING = 100_000;

/**
 * Sends one batch after another, so that other servers get changes in their order. What cannot be
 * sent waits, because others do not know that they miss it.
 */
function inTurn(
  send: (batch: readonly Announced[]) => Promise<unknown>,
  log: Logger,
): (change: Announced) => void {
  const waiting: Announced[] = [];
  let sending = false;
  async function sendAll(): Promise<void> {
    sending = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_CHANGES);
      const sent = await send(batch).then(
        () => true,
        () => waiting.length > MOST_WAITING,
      );
      if (sent) waiting.splice(0, batch.length);
      else await pause(AGAIN_AFTER, undefined, { ref: false });
    }
    sending = false;
  }
  return (change) => {
    if (waiting.push(change) === MOST_WAITING) log.error('changes are not announced any more');
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
