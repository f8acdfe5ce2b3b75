import { type Kernel, uuid7 } from '@twofold/runtime/kernel';
import type { Seal } from '../records/seal.ts';
import { createSealedTable, type SealedTable } from '../records/sealed-table.ts';
import { type Change, createConditions, type Observation } from './conditions.ts';
import { isListed, type Message } from './events.ts';
import { createOutbox } from './outbox.ts';
import type { Receiver } from './receiver.ts';
import { createSender, type SendResult } from './send.ts';

/** Tells receivers when something fails, and when it works again. */
export interface Notifications {
  /** Sealed, because addresses contain tokens. */
  readonly receivers: SealedTable<Receiver>;
  /** Whether mail can be sent, and whether private addresses may be used. */
  readonly mails: boolean;
  readonly allowPrivate: boolean;
  /** Notes the state of a subject. Returns at once; messages are sent in the background. */
  observe(observation: Observation): void;
  /** Forgets a deleted app. */
  forget(app: string): void;
  /** Removes a receiver with its waiting messages. @returns whether there was one. */
  remove(name: string): Promise<boolean>;
  /** Sends a message at once, without a retry. */
  test(receiver: Receiver): Promise<SendResult>;
  start(): void;
  /** Sends what is due, for at most `limit` milliseconds. */
  stop(limit: number): Promise<void>;
}

/** The longest pause, in case a row was written by another process. */
const IDLE_INTERVAL = 60_000;

type Parts = Pick<Kernel, 'settings' | 'store' | 'now' | 'log'>;

export function createNotifications(
  { settings, store, now, log }: Parts,
  seal: Seal,
): Notifications {
  const receivers = createSealedTable<Receiver>(
    store,
    seal,
    'hosting_notifications',
    'notification',
  );
  const conditions = createConditions(store, now);
  const sender = createSender(settings, now);
  const outbox = createOutbox({ store, now, log, receivers, send: sender.send });
  const appUrl = settings.text('APP_URL')?.replace(/\/+$/, '') ?? null;
  const head = (app: string | null) => ({
    id: `msg_${uuid7(now())}`,
    at: new Date(now()).toISOString(),
    url: appUrl && app !== null ? `${appUrl}/api/apps/${app}` : appUrl,
  });
  const tell = async ({ event, app, title, text }: Change) => {
    const message: Message = { ...head(app), type: event, app, title, text };
    const all = (await receivers.all()).map(({ value }) => value);
    await outbox.add(
      message,
      all.filter((receiver) => wants(receiver, message)),
    );
  };
  const queue = createQueue(log, async () => {
    const next = await conditions.settle(tell);
    return Math.min(next, await outbox.run(), IDLE_INTERVAL);
  });
  return {
    receivers,
    mails: sender.mails,
    allowPrivate: sender.allowPrivate,
    observe: (observation) => queue.add(() => conditions.observe(observation)),
    forget: (app) => queue.add(() => conditions.forget(app)),
    async remove(name) {
      await outbox.drop(name);
      return receivers.remove(name);
    },
    test: (receiver) =>
      sender.send(receiver, {
        ...head(null),
        type: 'test',
        app: null,
        title: 'A test of notifications',
        text: `The notification ${receiver.name} works.`,
      }),
    start: queue.start,
    async stop(limit) {
      await queue.stop(limit);
      await sender.close();
    },
  };
}

/** Messages about the host go to receivers of all apps. */
function wants({ events, apps, disabled_at }: Receiver, { type, app }: Message): boolean {
  const about = apps.includes('*') || (app !== null && apps.includes(app));
  return about && disabled_at === undefined && isListed(events, type);
}

/**
 * Runs tasks one after the other, and `work` after them and when its pause has passed: `work`
 * returns the milliseconds until it has to run again.
 */
function createQueue({ error: logError }: Parts['log'], work: () => Promise<number>) {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = true;
  const run = (task: () => Promise<unknown>) => {
    running = running.then(task).then(
      () => {},
      (error: Error) => logError(`notifications: ${error.message}`),
    );
  };
  const look = async () => {
    clearTimeout(timer);
    const wait = await work().catch((error: Error) => {
      logError(`notifications: ${error.message}`);
      return IDLE_INTERVAL;
    });
    if (!stopped) timer = setTimeout(() => run(look), wait).unref();
  };
  return {
    add(task: () => Promise<unknown>) {
      if (stopped) return;
      run(task);
      run(look);
    },
    start() {
      stopped = false;
      run(look);
    },
    async stop(limit: number) {
      clearTimeout(timer);
      stopped = true;
      let over: NodeJS.Timeout | undefined;
      await Promise.race([
        running,
        new Promise((resolve) => (over = setTimeout(resolve, limit).unref())),
      ]);
      clearTimeout(over);
    },
  };
}
