import { type Kernel, systemContext } from '@twofold/runtime/kernel';
import type { Trx } from '../base/tables.ts';
import type { Caller } from '../base/caller.ts';
import { ulid, type UserId } from '../base/ids.ts';
import {
  EVENT_TYPES,
  type EventType,
  type Listener,
  type Listeners,
  type SecurityEvent,
} from './event-types.ts';

/** Emits an event in a transaction: it is stored with the change and delivered after the commit. */
export type Emit = (
  type: EventType,
  userId: UserId | null,
  data?: Readonly<Record<string, unknown>>,
) => void;

/** Writes of the transaction that completes a step. A throw rolls all of it back. */
export type StepWrites = (change: Change) => Promise<void>;

/** A change in its transaction, with the events that it makes and who makes it. */
export interface Change {
  readonly trx: Trx;
  readonly emit: Emit;
  readonly caller: Caller;
}

export interface Events {
  /** Runs `work` in a transaction that also stores the events it emits, then publishes them. */
  transact<T>(caller: Caller, work: (change: Change) => Promise<T>): Promise<T>;
  /** Stores and publishes one event in a transaction of its own. */
  emit(
    caller: Caller,
    type: EventType,
    userId: UserId | null,
    data?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /** Subscribes, to one type or to `*`. @returns the function that unsubscribes. */
  on(type: EventType | '*', listener: Listener): () => void;
  /** Resolves when all running listeners have finished. */
  settled(): Promise<void>;
}

/** Writes the webhook deliveries of an event in the transaction of the change (an outbox). */
export type Outbox = (trx: Trx, event: SecurityEvent) => Promise<void>;

/**
 * @example
 * const events = createEvents(kernel, listeners, outbox);
 * await events.transact(caller, async ({ trx, emit }) => { await endSession(trx, id);
 * emit('auth.logout', userId); });
 */
export function createEvents(
  kernel: Pick<Kernel, 'store' | 'log' | 'now'>,
  listeners: Listeners,
  outbox: Outbox,
): Events {
  const subscribed = new Map<string, Set<Listener>>();
  const running = new Set<Promise<void>>();
  const on: Events['on'] = (type, listener) => {
    const set = subscribed.get(type) ?? new Set();
    subscribed.set(type, set.add(listener));
    return () => void set.delete(listener);
  };
  for (const [type, listener] of Object.entries(listeners))
    if (listener) on(type as EventType, listener);

  const publish = (event: SecurityEvent) => {
    kernel.log[isRoutine(event) ? 'debug' : 'info']({ event }, event.type);
    for (const listener of [
      ...(subscribed.get(event.type) ?? []),
      ...(subscribed.get('*') ?? []),
    ]) {
      const job: Promise<void> = call(kernel, listener, event).finally(() => running.delete(job));
      running.add(job);
    }
  };

  const transact: Events['transact'] = async (caller, work) => {
    const emitted: SecurityEvent[] = [];
    const result = await kernel.store.transaction(async (trx) => {
      emitted.length = 0;
      const emit: Emit = (type, userId, data = {}) =>
        void emitted.push(makeEvent(kernel.now(), caller, type, userId, data));
      const answer = await work({ trx, emit, caller });
      for (const event of emitted) await store(trx, event, outbox);
      return answer;
    });
    kernel.store.afterCommit(() => emitted.forEach(publish));
    return result;
  };
  return {
    transact,
    emit: (caller, type, userId, data) =>
      transact(caller, async (change) => change.emit(type, userId, data)),
    on,
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function call(
  kernel: Pick<Kernel, 'store' | 'log' | 'now'>,
  listener: Listener,
  event: SecurityEvent,
): Promise<void> {
  try {
    await listener(event, systemContext(kernel));
  } catch (error) {
    const known = error instanceof Error ? error : undefined;
    kernel.log.error(
      { event: event.type, reason: known?.message ?? 'unknown', stack: known?.stack },
      'an event listener failed',
    );
  }
}

/** The pages of the console refresh their own sessions all the time, which would fill the log. */
const isRoutine = ({ type, data }: SecurityEvent): boolean =>
  type === 'token.refreshed' && data['client'] === 'console';

function makeEvent(
  now: number,
  caller: Caller,
  type: EventType,
  userId: UserId | null,
  data: Readonly<Record<string, unknown>>,
): SecurityEvent {
  return {
    id: `evt_${ulid(now)}`,
    type,
    time: new Date(now).toISOString(),
    severity: EVENT_TYPES[type],
    user_id: userId,
    actor: caller.actor,
    ip: caller.ip,
    user_agent: caller.userAgent,
    request_id: caller.requestId,
    data,
  };
}

async function store(trx: Trx, event: SecurityEvent, outbox: Outbox): Promise<void> {
  const { actor, user_agent, request_id, data } = event;
  await trx
    .insertInto('auth_security_events')
    .values({
      id: event.id,
      ts: Date.parse(event.time),
      type: event.type,
      severity: event.severity,
      ip: event.ip,
      user_id: event.user_id,
      data: JSON.stringify({ actor, user_agent, request_id, data }),
    })
    .execute();
  await outbox(trx, event);
}
