import type pg from 'pg';
import type { Logger } from '../config/log.ts';

const CHANNEL = 'twofold_jobs';
const RECONNECT_AFTER = 1_000;

/** Notices between processes: a job is waiting, or a running job was cancelled. */
export type Notice = { readonly from?: string } & (
  | { readonly due: number }
  | { readonly cancel: number }
);

/**
 * Listens to the notices of other processes through PostgreSQL. Notices during a broken connection
 * are lost.
 */
export interface Notifications {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface NotificationParts {
  readonly url: string;
  readonly log: Logger;
  readonly hear: (notice: Notice) => void;
}

/** The statement that sends a notice when its transaction commits. */
export const NOTIFY = `select pg_notify('${CHANNEL}', ?)`;

export function createNotifications({ url, log, hear }: NotificationParts): Notifications {
  let client: pg.Client | undefined;
  let stopped = false;

  async function listen(): Promise<void> {
    const { Client } = (await import('pg')).default;
    const next = new Client({ connectionString: url, keepAlive: true });
    next.on('error', () => reconnect(next));
    next.on('end', () => reconnect(next));
    next.on('notification', ({ payload }) => {
      const notice = parse(payload ?? '');
      if (notice) hear(notice);
    });
    await next.connect();
    await next.query(`listen ${CHANNEL}`);
    client = next;
    if (stopped) await next.end();
  }

  function reconnect(broken: pg.Client): void {
    if (stopped || client !== broken) return;
    client = undefined;
    log.warn('jobs of other servers are noticed within a second until the connection is back');
    retry();
  }

  function retry(): void {
    setTimeout(() => {
      if (!stopped) void listen().catch(retry);
    }, RECONNECT_AFTER).unref();
  }

  return {
    start: listen,
    stop: async () => {
      stopped = true;
      await client?.end();
    },
  };
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
