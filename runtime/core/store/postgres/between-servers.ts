import { randomUUID } from 'node:crypto';
import type { Logger } from '../../config/log.ts';
import { acquire, advisoryLocks, leasedLocks, LOCK_PATIENCE, type LockKeeper } from './locks.ts';
import { KeptMessages } from './messages.ts';
import { driver, type StatementPool } from './pool.ts';
import { type Hear, Session } from './session.ts';

export interface BetweenOptions {
  readonly statements: StatementPool;
  /** The address of statements. */
  readonly url: string;
  /** The same database without a pooler, if there is an address for that. */
  readonly direct?: string | undefined;
  readonly application: string;
  readonly log?: Logger | undefined;
}

/** What servers that share a PostgreSQL database have between them. */
export interface BetweenServers {
  lock<T>(name: string, work: () => Promise<T>, patience?: number): Promise<T>;
  listen(channel: string, hear: Hear): Promise<() => void>;
  notify(channel: string, payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** How messages and locks are kept: by the connection's session, or as rows. */
interface Ways {
  readonly locks: LockKeeper;
  readonly messages: Pick<KeptMessages, 'send' | 'listen'>;
}

/**
 * Behind a pooler without a direct address, a connection can neither hold a lock nor listen, so
 * that both are rows.
 */
export function betweenServers(options: BetweenOptions): BetweenServers {
  const { statements, url, direct, application, log } = options;
  const session = new Session({
    connect: () =>
      new (driver().Client)({
        connectionString: direct ?? url,
        fallback_application_name: application,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        // Statements of several locks do not wait for each other.
        ...{ pipeline: true },
      }),
    isDirect: () => direct !== undefined || !statements.pooled,
    onLost: () => log?.warn('other servers are not heard until the connection is back'),
  });
  const kept = new KeptMessages(session, log);
  const rows = (): Ways => ({
    locks: leasedLocks({ session, owner: randomUUID(), application, log }),
    messages: kept,
  });
  const own = (): Ways => ({
    locks: advisoryLocks(session),
    messages: {
      listen: (channel, hear) => session.listen(channel, hear),
      send: async (channel, payloads) =>
        void (await statements.pool.query(
          'select pg_notify($1, part) from unnest($2::text[]) part',
          [channel, payloads],
        )),
    },
  });
  let found: Ways | undefined;
  const ways = async () =>
    (found ??= direct === undefined && (await statements.isPooled()) ? rows() : own());
  return {
    lock: async (name, work, patience = LOCK_PATIENCE) => {
      const { locks } = await ways();
      await acquire(locks, name, { log, patience });
      return work().finally(() => locks.release(name));
    },
    listen: async (channel, hear) => (await ways()).messages.listen(channel, hear),
    notify: async (channel, payloads) => (await ways()).messages.send(channel, payloads),
    close: async () => {
      kept.close();
      await found?.locks.close?.();
      await session.close();
    },
  };
}
