import type { HostingStore, RowOf } from '../records/tables.ts';
import type { Logger } from '@twofold/runtime/kernel';
import type { SealedTable } from '../records/sealed-table.ts';
import type { Message } from './events.ts';
import type { Receiver } from './receiver.ts';
import { isAccepted, type Send } from './send.ts';

/** Messages that wait for their receivers, in the database, so that a restart loses none. */
export interface Outbox {
  add(message: Message, receivers: readonly Receiver[]): Promise<void>;
  /** Sends what is due. @returns milliseconds until the next attempt. */
  run(): Promise<number>;
  /** Drops what waits for a receiver. */
  drop(receiver: string): Promise<void>;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Milliseconds to wait after each failure. After the last one the message is given up. */
const RETRY_DELAYS = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE];
const BATCH_SIZE = 20;
const TABLE = 'hosting_messages';

type OutboxRow = RowOf<typeof TABLE>;

interface OutboxParts {
  readonly store: Pick<HostingStore, 'db'>;
  readonly now: () => number;
  readonly log: Logger;
  readonly receivers: SealedTable<Receiver>;
  readonly send: Send;
}

export function createOutbox(parts: OutboxParts): Outbox {
  const { now } = parts;
  const { db } = parts.store;
  return {
    async add(message, receivers) {
      const next_at = new Date(now()).toISOString();
      const row = { id: message.id, body: JSON.stringify(message), attempt: 0, next_at };
      const rows = receivers.map(({ name }) => ({ ...row, receiver: name }));
      if (rows.length > 0) await db.insertInto(TABLE).values(rows).execute();
    },
    async run() {
      for (;;) {
        const due = await db
          .selectFrom(TABLE)
          .selectAll()
          .where('next_at', '<=', new Date(now()).toISOString())
          .orderBy('next_at')
          .limit(BATCH_SIZE)
          .execute();
        await Promise.all(due.map((row) => deliver(parts, row)));
        if (due.length < BATCH_SIZE) return untilNext(parts);
      }
    },
    drop: async (receiver) =>
      void (await db.deleteFrom(TABLE).where('receiver', '=', receiver).execute()),
  };
}

async function deliver(parts: OutboxParts, row: OutboxRow): Promise<void> {
  const { now, log, receivers, send } = parts;
  const receiver = await receivers.find(row.receiver);
  if (!receiver || receiver.disabled_at) return remove(parts, row);
  const result = await send(receiver, JSON.parse(row.body) as Message);
  if (isAccepted(result)) return remove(parts, row);
  const wait = RETRY_DELAYS[row.attempt];
  const reason = 'error' in result ? result.error : `status ${result.status}`;
  log.warn(`notification ${receiver.name} was not delivered: ${reason}`);
  // 410 means that the receiver is gone for good.
  if ('status' in result && result.status === 410) {
    await receivers.save(receiver.name, {
      ...receiver,
      disabled_at: new Date(now()).toISOString(),
    });
    return remove(parts, row);
  }
  if (wait === undefined) return remove(parts, row);
  await parts.store.db
    .updateTable(TABLE)
    .set({ attempt: row.attempt + 1, next_at: new Date(now() + wait).toISOString() })
    .where('id', '=', row.id)
    .where('receiver', '=', row.receiver)
    .execute();
}

async function remove({ store }: OutboxParts, { id, receiver }: OutboxRow): Promise<void> {
  await store.db.deleteFrom(TABLE).where('id', '=', id).where('receiver', '=', receiver).execute();
}

async function untilNext({ store, now }: OutboxParts): Promise<number> {
  const row = await store.db
    .selectFrom(TABLE)
    .select((build) => build.fn.min('next_at').as('next_at'))
    .executeTakeFirst();
  return row?.next_at ? Math.max(0, Date.parse(row.next_at) - now()) : Infinity;
}
