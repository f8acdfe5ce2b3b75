import { createHash, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Logger } from '../../config/log.ts';
import { AppError } from '../../errors.ts';
import type { Store } from '../store.ts';
import { acquire, advisoryLocks, leasedLocks, LOCK_PATIENCE, type LockKeeper } from './locks.ts';
import { addressOf } from './address.ts';
import { clientOf } from './connecting.ts';
import type { StatementPool } from './pool.ts';
import { type Hear, Session } from './session.ts';

export interface BetweenOptions {
  readonly statements: StatementPool;
  readonly url: string;
  /** The same database without a pooler, if there is an address for that. */
  readonly direct?: string | undefined;
  readonly application: string;
  readonly log?: Logger | undefined;
}

/** What servers that share a PostgreSQL database have between them. */
export type BetweenServers = Pick<Store, 'lock' | 'listen' | 'notify' | 'close'>;

/** How messages and locks are kept: by the connection's session, or as rows. */
interface Ways {
  readonly locks: LockKeeper;
  readonly messages: Pick<KeptMessages, 'send'> & Pick<Session, 'listen'>;
}

/**
 * Behind a pooler without a direct address, a connection can neither hold a lock nor listen, so
 * that both are rows.
 */
export function betweenServers(options: BetweenOptions): BetweenServers {
  const { statements, url, direct, application, log } = options;
  const Client = clientOf(direct ?? url, options);
  // Another project may have another schema of the database, which the two do not share.
  const { schema } = addressOf(url);
  const scope =
    schema === undefined
      ? ''
      : `_${createHash('sha256').update(schema).digest('hex').slice(0, 12)}`;
  const session = new Session({
    // Statements of several locks do not wait for each other.
    connect: () => new Client({ pipeline: true }),
    isDirect: () => direct !== undefined || !statements.pooled,
    onLost: () => {
      statements.presence.suspect();
      // Locks that are rows outlive the connection.
      if (found?.locks.ends) for (const name of [...held.keys()]) lose(name);
    },
  });
  const held = new Map<string, (lost: AppError) => void>();
  const lose = (name: string) => {
    log?.error({ lock: name }, `LOCK_LOST  ${lostLock(name).message}`);
    held.get(name)?.(lostLock(name));
  };
  const kept = new KeptMessages(session, log);
  const rows = (): Ways => ({
    locks: leasedLocks({ session, owner: randomUUID(), application, lose }),
    messages: kept,
  });
  const own = (): Ways => ({
    locks: advisoryLocks(session, scope === '' ? scope : `${schema}/`),
    messages: {
      listen: (channel, hear, interrupt) => session.listen(channel + scope, hear, interrupt),
      send: async (channel, payloads) =>
        void (await statements.pool.query(
          'select pg_notify($1, part) from unnest($2::text[]) part',
          [channel + scope, payloads],
        )),
    },
  });
  let found: Ways | undefined;
  // The first connection for statements finds a pooler, and makes a schema.
  const ways = async () => {
    const isPooled = found === undefined && (await statements.isPooled());
    return (found ??= direct === undefined && isPooled ? rows() : own());
  };
  return {
    lock: async (name, work, patience = LOCK_PATIENCE) => {
      const { locks } = await ways();
      await acquire(locks, name, { log, patience });
      const lost = Promise.withResolvers<never>();
      held.set(name, lost.reject);
      return Promise.race([work(), lost.promise]).finally(() => {
        held.delete(name);
        return locks.release(name);
      });
    },
    listen: async (channel, hear, interrupt = () => {}) =>
      (await ways()).messages.listen(channel, hear, interrupt),
    notify: async (channel, payloads) => (await ways()).messages.send(channel, payloads),
    close: async () => {
      kept.close();
      await found?.locks.close?.();
      await session.close();
    },
  };
}

const lostLock = (name: string) =>
  new AppError(503, 'LOCK_LOST', `The lock ${name} was lost: what held it has ended`, {
    headers: { 'Retry-After': '1' },
  });

const TABLE = `create table if not exists twofold_messages (
  xid bigint not null default txid_current(),
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  channel text not null,
  payload text not null,
  primary key (xid, id)
)`;

const KEEP = `insert into twofold_messages (channel, payload)
  select $1, part from unnest($2::text[]) with ordinality as parts (part, place) order by place`;

/** The messages of all transactions that had not ended at the last look, and until when that was. */
const LOOK = `select until, xid, id, channel, payload
  from (select txid_snapshot_xmin(txid_current_snapshot()) as until) as seen
    left join twofold_messages on xid >= $1 order by id`;

const FORGET = `delete from twofold_messages where at < clock_timestamp() - interval '5 minutes'`;

const LOOK_EVERY = 1_000;
const FORGET_EVERY = 60_000;

/**
 * Messages between servers as rows, for a pooler, behind which nobody can listen: each server looks
 * once a second. Transactions end in another order than they begin, so a look begins at the oldest
 * one that had not ended at the look before, and leaves out the rows that it has seen.
 */
class KeptMessages {
  readonly #session: Session;
  readonly #log: Logger | undefined;
  readonly #heard = new EventEmitter();
  #seen = new Set<string>();
  #from = 0;
  #timer: NodeJS.Timeout | undefined;
  #broken = false;

  constructor(session: Session, log: Logger | undefined) {
    this.#session = session;
    this.#log = log;
  }

  async send(channel: string, payloads: readonly string[]): Promise<void> {
    await this.#session.queryWith(TABLE, KEEP, [channel, payloads]);
  }

  async listen(channel: string, hear: Hear): Promise<() => void> {
    if (!this.#timer) {
      await this.#look();
      this.#lookLater();
    }
    this.#heard.on(channel, hear);
    return () => void this.#heard.off(channel, hear);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#turn(), LOOK_EVERY).unref();
  }

  async #turn(): Promise<void> {
    try {
      await this.#look();
      if (Math.random() < LOOK_EVERY / FORGET_EVERY) await this.#session.query(FORGET);
      this.#broken = false;
    } catch (error) {
      if (!this.#broken)
        this.#log?.warn(`what other servers send is not seen: looking on: ${String(error)}`);
      this.#broken = true;
    }
    if (this.#timer) this.#lookLater();
  }

  async #look(): Promise<void> {
    const rows = await this.#session.queryWith(TABLE, LOOK, [this.#from]);
    const seen = new Set<string>();
    for (const { until, xid, id, channel, payload } of rows) {
      this.#from = Number(until);
      if (xid === null) continue;
      if (!this.#seen.has(id)) this.#heard.emit(channel, payload);
      if (Number(xid) >= this.#from) seen.add(id);
    }
    this.#seen = seen;
  }
}
