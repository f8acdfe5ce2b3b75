import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../config/log.ts';
import { AppError } from '../../errors.ts';
import type { Session } from './session.ts';

/** What one attempt leads to: the lock, or the place of the one who gets it next. */
type Attempt = 'held' | 'next' | 'taken';

/** Who holds a lock. */
interface Holder {
  readonly pid: number;
  readonly application: string;
  readonly address: string | null;
  readonly since: string;
}

/** The ways in which a lock is kept in the database. */
export interface LockKeeper {
  /** @param next whether this process has the place of the one who gets it next. */
  attempt(name: string, next: boolean): Promise<Attempt>;
  release(name: string): Promise<void>;
  /** Leaves the place of the one who gets it next. */
  leave(name: string): Promise<void>;
  holderOf(name: string): Promise<Holder | undefined>;
  /** Whether a lock ends with the connection. */
  readonly ends?: boolean;
  /** Gives everything back, also what is still held. */
  close?(): Promise<void>;
}

const FIRST_WORD = 1_000;
const NEXT_WORD = 10_000;

/** Milliseconds that a server waits at its start. */
export const LOCK_PATIENCE = 5 * 60_000;
const LONGEST_PAUSE = 250;

/**
 * Waits for a lock by asking again and again: a statement that waits in the database would hold
 * back an index that is built meanwhile, and needs a connection for each lock.
 *
 * @throws AppError `WAITING_FOR_LOCK` after `patience` milliseconds.
 */
export async function acquire(
  keeper: LockKeeper,
  name: string,
  { log, patience }: { readonly log: Logger | undefined; readonly patience: number },
): Promise<void> {
  const since = performance.now();
  let word = FIRST_WORD;
  for (let state: Attempt = 'taken'; ;) {
    state = await keeper.attempt(name, state === 'next');
    if (state === 'held') return;
    const waited = performance.now() - since;
    if (waited >= Math.min(word, patience)) {
      const holder = await keeper.holderOf(name);
      if (waited >= patience) {
        if (state === 'next') await keeper.leave(name);
        throw stillLocked(name, holder);
      }
      log?.warn({ lock: name, holder }, waitingFor(name, holder));
      word = waited + NEXT_WORD;
    }
    await pause(Math.min(LONGEST_PAUSE, 2 + waited / 10));
  }
}

const waitingFor = (name: string, holder: Holder | undefined) =>
  `WAITING_FOR_LOCK  another process has the lock ${name}: ${holder ? `${holder.application}, process ${holder.pid} at ${holder.address ?? 'this machine'}, since ${holder.since}` : 'it has just ended'}`;

const stillLocked = (name: string, holder: Holder | undefined) =>
  new AppError(503, 'WAITING_FOR_LOCK', waitingFor(name, holder).replace(/^\w+ +/, ''), {
    extensions: { lock: name, holder },
  });

/** `$1` the name, `$2` whether the place is held. Each function is called once, in this order. */
const TRY = `select place, held,
    case when held then pg_advisory_unlock(hashtextextended($1, 1)) end
  from (select place, case when place then pg_try_advisory_lock(hashtextextended($1, 0)) end as held
    from (select case when $2 then true else pg_try_advisory_lock(hashtextextended($1, 1)) end as place
      offset 0) as placed offset 0) as tried`;

const UNLOCK = 'select pg_advisory_unlock(hashtextextended($1, $2))';

const ADVISORY_HOLDER = `select pid, coalesce(application_name, '') as application,
    host(client_addr) as address, state_change as since
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`;

/**
 * Locks of the session, which PostgreSQL frees when it ends in any way.
 *
 * @param scope begins the name of each, because a lock is one of the whole database.
 */
export function advisoryLocks(session: Session, scope: string): LockKeeper {
  // A lock that cannot be given back ends with its connection.
  const unlock = async (name: string, seed: number) =>
    void (await session.query(UNLOCK, [scope + name, seed]).catch(() => session.drop()));
  return {
    ends: true,
    attempt: async (name, next) => {
      const [{ place, held }] = await session.query(TRY, [scope + name, next]);
      if (held) return 'held';
      return place ? 'next' : 'taken';
    },
    release: (name) => unlock(name, 0),
    leave: (name) => unlock(name, 1),
    holderOf: async (name) => (await session.query(ADVISORY_HOLDER, [scope + name]))[0],
  };
}

const TABLE = `create table if not exists twofold_locks (
  name text not null,
  place integer not null,
  owner text not null,
  pid integer not null,
  application text not null,
  address text,
  since timestamptz not null,
  until timestamptz not null,
  primary key (name, place)
)`;

/** How long a holder keeps a lock after its last sign of life, and how often it gives one. */
const LEASE_MS = 25_000;
const LEASE = `interval '${LEASE_MS} milliseconds'`;
const RENEW_EVERY = 5_000;

const TAKE = `insert into twofold_locks as held values
    ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp() + ${LEASE})
  on conflict (name, place) do update set owner = excluded.owner, pid = excluded.pid,
    application = excluded.application, address = excluded.address, since = excluded.since,
    until = excluded.until
  where held.until < clock_timestamp() or held.owner = excluded.owner returning name`;

const RENEW = `with gone as (delete from twofold_locks where until < clock_timestamp() - ${LEASE})
  update twofold_locks set until = clock_timestamp() + ${LEASE} where owner = $1 returning name`;

export interface LeaseOptions {
  readonly session: Session;
  /** The id of this process. */
  readonly owner: string;
  readonly application: string;
  /** Called with each lock that was lost. */
  readonly lose: (name: string) => void;
}

/**
 * Locks as rows, for a pooler, behind which no connection is anybody's own. A row whose holder shows
 * no sign of life is free after 25 seconds.
 */
export function leasedLocks({ session, owner, application, lose }: LeaseOptions): LockKeeper {
  const held = new Set<string>();
  let renewed = 0;
  let timer: NodeJS.Timeout | undefined;
  const take = async (name: string, place: number) => {
    const values = [name, place, owner, process.pid, application, hostname()];
    return (await session.queryWith(TABLE, TAKE, values)).length > 0;
  };
  const free = (name: string, place: number) =>
    session.query('delete from twofold_locks where name = $1 and place = $2 and owner = $3', [
      name,
      place,
      owner,
    ]);
  const renew = async () => {
    const rows = await session.query(RENEW, [owner]).catch(() => undefined);
    // Without the database, a lock is somebody else's when its lease has ended.
    if (!rows && performance.now() - renewed < LEASE_MS) return;
    const kept = new Set(rows?.map(({ name }) => name));
    if (rows) renewed = performance.now();
    for (const name of held) if (!kept.has(name) && held.delete(name)) lose(name);
  };
  const hold = (name: string) => {
    if (held.size === 0) renewed = performance.now();
    held.add(name);
    timer ??= setInterval(() => void renew(), RENEW_EVERY).unref();
  };
  return {
    attempt: async (name, next) => {
      if (!next && !(await take(name, 1))) return 'taken';
      hold(name);
      if (!(await take(name, 0))) return 'next';
      await free(name, 1);
      return 'held';
    },
    release: async (name) => {
      held.delete(name);
      if (held.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      await free(name, 0).catch(() => {});
    },
    leave: async (name) => {
      held.delete(name);
      await free(name, 1);
    },
    close: async () => {
      clearInterval(timer);
      if (held.size === 0) return;
      held.clear();
      await session.query('delete from twofold_locks where owner = $1', [owner]).catch(() => {});
    },
    holderOf: async (name) =>
      (
        await session.query(
          'select pid, application, address, since from twofold_locks where name = $1 and place = 0',
          [name],
        )
      )[0],
  };
}
