import { randomUUID } from 'node:crypto';
import type { Kernel } from '../module.ts';
import { askStore } from './dialect.ts';
import { type Notice, NOTIFY } from './notifications.ts';

/** Tells the worker of this process, and those of other servers, what has happened to jobs. */
export interface Telling {
  /** The id of this process. */
  readonly from: string;
  /** There is a job in `wait` milliseconds. */
  due(wait: number): void;
  /** Tells the process of a running job that it was cancelled. */
  cancel(id: number): void;
  /** Sets who is told in this process. */
  onNotice(hear: (notice: Notice) => void): void;
}

/**
 * On PostgreSQL, a notification goes to all servers. Several that are due at the same time are sent
 * as one. On SQLite, the workers of one machine look at the queue each second.
 */
export function createTelling({ store, log }: Pick<Kernel, 'store' | 'log'>): Telling {
  const from = randomUUID();
  const ask = askStore(store);
  let hear: (notice: Notice) => void = () => {};
  let soonest = Infinity;
  let sending = false;
  const notify = async (notice: Notice) => {
    if (store.dialect === 'sqlite') return;
    await ask(NOTIFY, [JSON.stringify({ ...notice, from })]).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'other servers were not told of a job'),
    );
  };
  const notifyDue = async () => {
    if (sending) return;
    sending = true;
    while (soonest < Infinity) {
      const due = soonest;
      soonest = Infinity;
      await notify({ due });
    }
    sending = false;
  };
  return {
    from,
    due: (wait) => {
      hear({ due: wait });
      soonest = Math.min(soonest, wait);
      void notifyDue();
    },
    cancel: (id) => {
      hear({ cancel: id });
      void notify({ cancel: id });
    },
    onNotice: (listener) => (hear = listener),
  };
}
