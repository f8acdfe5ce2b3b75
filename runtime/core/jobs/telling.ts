import { randomUUID } from 'node:crypto';
import type { Kernel } from '../module.ts';

const CHANNEL = 'twofold_jobs';

/** Notices between processes: a job is waiting, or a running job was cancelled. */
export type Notice = { readonly from?: string } & (
  | { readonly due: number }
  | { readonly cancel: number }
);

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
  let hear: (notice: Notice) => void = () => {};
  let soonest = Infinity;
  let sending = false;
  const notify = async (notice: Notice) => {
    await store
      .notify?.(CHANNEL, [JSON.stringify({ ...notice, from })])
      .catch((error: unknown) =>
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

/**
 * Hears the notices of other processes. @returns a function that ends it; undefined on SQLite.
 *
 * @param owner the id of this process, which was told without the database.
 */
export async function hearNotices(
  { store }: Pick<Kernel, 'store'>,
  owner: string,
  hear: (notice: Notice) => void,
): Promise<(() => void) | undefined> {
  return store.listen?.(CHANNEL, (payload) => {
    const notice = parse(payload);
    if (notice && notice.from !== owner) hear(notice);
  });
}

/**
 * Parses a notice. Any client of the database can send one, so a payload of another form is
 * ignored.
 */
function parse(text: string): Notice | null {
  try {
    const notice = JSON.parse(text) as Record<string, unknown> | null;
    const isNotice = typeof notice?.['due'] === 'number' || typeof notice?.['cancel'] === 'number';
    return isNotice ? (notice as unknown as Notice) : null;
  } catch {
    return null;
  }
}
