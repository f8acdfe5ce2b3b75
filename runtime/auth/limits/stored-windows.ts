import type { KeyObject } from 'node:crypto';
import type { Store } from '@twofold/runtime/kernel';
import type { Trx } from '../base/tables.ts';
import { mac } from '../secrets/keys.ts';
import { SECOND } from '../base/time.ts';
import type { Charge, Windows, WindowState } from './windows.ts';

/** A charge, and the number of hits that the process wants to lease. */
export interface WindowRequest extends Charge {
  /** Charges no hit, and only settles and leases. */
  readonly peek?: boolean;
  readonly want?: number;
  /** End of the lease. Leased hits count as hits of that time until they are settled. */
  readonly until?: number;
}

/** Adds hits of one moment, or removes them if negative, to settle a lease or refund a hit. */
export interface WindowChange {
  readonly key: string;
  readonly time: number;
  readonly count: number;
}

export interface WindowGrant extends WindowState {
  readonly leased: number;
}

export interface StoredWindows extends Windows {
  /**
   * Makes the changes, charges all requests or none, and grants leases, in one atomic step. A lease
   * is granted only if at most half of the limit is then in use. Every key of `changes` must also
   * be in `requests`.
   */
  exchange(
    asked: readonly WindowRequest[],
    changes: readonly WindowChange[],
    now: number,
  ): Promise<readonly WindowGrant[]>;
}

/**
 * Maximum difference between the clocks of two nodes. A hit further in the future was made before a
 * clock was set back.
 */
const CLOCK_SKEW = 20 * SECOND;

/** Maximum number of pairs of time and count in a window, without those of leases. */
const MAX_PAIRS = 1000;

/**
 * The time under which a hit is stored. In a window of more than a thousand hits it is rounded up
 * to a thousandth of the window.
 */
export function gridTime({ limit, window }: Charge, time: number): number {
  if (limit <= MAX_PAIRS) return time;
  const step = Math.ceil(window / MAX_PAIRS);
  return Math.ceil(time / step) * step;
}

/**
 * Sliding windows in the database, so that every limit holds over all servers that share it: one
 * statement on PostgreSQL, one immediate transaction on SQLite. A key is stored as its HMAC, so
 * that the table does not show which address made a request when.
 */
export function storedWindows(store: Store, hmac: KeyObject): StoredWindows {
  const exchangeHidden = store.dialect === 'postgres' ? postgresExchange : sqliteExchange;
  const hide = <T extends { readonly key: string }>(all: readonly T[]) =>
    all.map((each) => ({ ...each, key: mac(hmac, each.key) }));
  const exchange: StoredWindows['exchange'] = (asked, changes, now) =>
    // A refusal that rolls back the transaction around it counts as well.
    store.keep(() => exchangeHidden(store, hide(asked), hide(changes), now));
  return {
    exchange,
    consume: (charges, now) => exchange(charges, [], now),
    refund: async (charges, at) => {
      if (charges.length === 0) return;
      const changes = charges.map((charge) => ({
        key: charge.key,
        time: gridTime(charge, at),
        count: -1,
      }));
      await exchange(
        charges.map((charge) => ({ ...charge, peek: true })),
        changes,
        at,
      );
    },
    close: async () => {},
  };
}

type Exchange = (
  store: Store,
  asked: readonly WindowRequest[],
  changes: readonly WindowChange[],
  now: number,
) => Promise<readonly WindowGrant[]>;

/** A row that the SQL function `auth_charge` of the migration returns. */
interface ChargeRow {
  readonly accepted: boolean;
  readonly used: number;
  readonly oldest: number | null;
  readonly leased: number;
}

const CHARGE_STATEMENT = `select * from auth_charge($1::text[], $2::integer[], $3::bigint[], $4::integer[], $5::bigint[], $6::integer[], $7::bigint[],
  $8::text[], $9::bigint[], $10::integer[], $11::bigint, $12::bigint)`;

const postgresExchange: Exchange = async (store, asked, changes, now) => {
  const rows = await store.query<ChargeRow>(CHARGE_STATEMENT, [
    asked.map(({ key }) => key),
    asked.map(({ limit }) => limit),
    asked.map(({ window }) => window),
    asked.map(({ peek = false }) => (peek ? 0 : 1)),
    asked.map((each) => gridTime(each, now)),
    asked.map(({ want = 0 }) => want),
    asked.map((each) => gridTime(each, each.until ?? now)),
    changes.map(({ key }) => key),
    changes.map(({ time }) => time),
    changes.map(({ count }) => count),
    now,
    now + CLOCK_SKEW,
  ]);
  return asked.map((each, index) => toGrant(each, rows[index]!, now));
};

const sqliteExchange: Exchange = (store, asked, changes, now) =>
  store.transaction(async (trx) => {
    const stored = await readWindows(trx, asked);
    const kept = asked.map((each) => {
      const changed = changes.filter(({ key }) => key === each.key);
      return liveHits(stored.get(each.key) ?? [], changed, now - each.window, now + CLOCK_SKEW);
    });
    const fits = asked.every(({ limit }, index) => countHits(kept[index]!) < limit);
    const rows = asked.map((each, index) => chargeHits(each, kept[index]!, fits, now));
    await writeWindows(trx, asked, kept, now);
    return rows.map((row, index) => toGrant(asked[index]!, row, now));
  });

function toGrant(
  { limit, window }: WindowRequest,
  { accepted, used, oldest, leased }: ChargeRow,
  now: number,
): WindowGrant {
  const wait = oldest === null ? 0 : oldest + window - now;
  return {
    accepted,
    leased,
    remaining: accepted ? limit - used : 0,
    // The oldest entry may be a lease, whose time is in the future.
    resetIn: Math.min(window, Math.max(0, wait)),
  };
}

/** Number of hits by time. */
type Hits = Map<number, number>;
type Pair = readonly [time: number, count: number];

const countHits = (hits: Hits) => hits.values().reduce((sum, count) => sum + count, 0);

function liveHits(
  stored: readonly Pair[],
  changes: readonly WindowChange[],
  after: number,
  latest: number,
): Hits {
  const hits: Hits = new Map();
  const all = [...stored, ...changes.map(({ time, count }): Pair => [time, count])];
  for (const [time, count] of all) {
    if (time <= after) continue;
    const at = Math.min(time, latest);
    hits.set(at, (hits.get(at) ?? 0) + count);
  }
  return new Map([...hits].filter(([, count]) => count > 0).sort(([a], [b]) => a - b));
}

/** Adds the hit and the lease to the hits of one key. */
function chargeHits(asked: WindowRequest, hits: Hits, fits: boolean, now: number): ChargeRow {
  const { limit, peek = false, want = 0, until = now } = asked;
  const used = countHits(hits);
  const taken = peek ? 0 : 1;
  const leased = Math.max(0, Math.min(want, Math.floor(limit / 2) - used - taken));
  const add = (time: number, count: number) => {
    const at = gridTime(asked, time);
    if (count > 0) hits.set(at, (hits.get(at) ?? 0) + count);
  };
  if (fits) add(now, taken);
  const [oldest = null] = hits.keys();
  add(until, leased);
  return { accepted: used < limit, used: used + (fits ? taken : 0), oldest, leased };
}

async function readWindows(
  trx: Trx,
  asked: readonly WindowRequest[],
): Promise<Map<string, Pair[]>> {
  const rows = await trx
    .selectFrom('auth_limit_windows')
    .select(['key', 'hits'])
    .where(
      'key',
      'in',
      asked.map(({ key }) => key),
    )
    .execute();
  return new Map(rows.map(({ key, hits }) => [key as string, JSON.parse(hits) as Pair[]]));
}

async function writeWindows(
  trx: Trx,
  asked: readonly WindowRequest[],
  kept: readonly Hits[],
  now: number,
): Promise<void> {
  const rows = asked.map(({ key, window }, index) => ({
    key,
    hits: JSON.stringify([...kept[index]!]),
    expires_at: now + CLOCK_SKEW + window,
  }));
  await trx
    .insertInto('auth_limit_windows')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((set) => ({
        hits: set.ref('excluded.hits'),
        expires_at: set.ref('excluded.expires_at'),
      })),
    )
    .execute();
}
