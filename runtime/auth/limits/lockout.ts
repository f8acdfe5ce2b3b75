import { AppError, failure } from '@twofold/runtime/errors';
import type { Store } from '@twofold/runtime/kernel';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { retryAfter } from '../base/time.ts';
import {
  afterFailure,
  lockedUntil,
  type LockOptions,
  type LockState,
  placesLeft,
  UNLOCKED,
} from './lock-state.ts';

/** An identifier and the bucket in which its failures count. A known device has its own. */
export interface LockKey {
  readonly identifierHash: string;
  readonly bucket: string;
}

/** Permission to compare one password. The holder must call `fail`, `succeed` or `release`. */
export interface Ticket {
  /** Counts a failure. `locked` is true if this failure caused the lock. */
  fail(): Promise<{ readonly locked: boolean; readonly until: number; readonly failures: number }>;
  /** Deletes the failures. @returns how many there were. */
  succeed(): Promise<{ readonly failures: number }>;
  release(): void;
}

export interface Lockout {
  /**
   * Waits until a password of this identifier may be compared. No more compares run at once than
   * failures are left until the lock, so that fifty parallel guesses get only five tries.
   *
   * @throws AppError 423 when it is locked, 503 when too many wait already.
   */
  enter(key: LockKey, signal: AbortSignal): Promise<Ticket>;
  /** Deletes the failures of one bucket after a completed sign-in. @returns how many there were. */
  forget(key: LockKey): Promise<{ readonly failures: number }>;
  /** The lock states of several identifiers in one bucket. Those without a failure are absent. */
  states(
    db: Db,
    identifierHashes: readonly string[],
    bucket: string,
  ): Promise<ReadonlyMap<string, LockState>>;
  /** Deletes every failure of an identifier, in all buckets. @returns whether there was one. */
  clear(db: Db, identifierHash: string): Promise<boolean>;
}

/** Compares of one identifier. `epoch` counts finished ones, `holders` running and waiting ones. */
interface Reservation {
  holders: number;
  inFlight: number;
  epoch: number;
  readonly waiting: Set<() => void>;
}

const MAX_WAITING = 256;

export function createLockout(store: Store, options: LockOptions, now: () => number): Lockout {
  const reservations = new Map<string, Reservation>();

  const drop = (name: string, reservation: Reservation) => {
    reservation.holders -= 1;
    if (reservation.holders === 0) reservations.delete(name);
  };

  const leave = (name: string, reservation: Reservation) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      reservation.inFlight -= 1;
      reservation.epoch += 1;
      for (const wake of [...reservation.waiting]) wake();
      drop(name, reservation);
    };
  };

  return {
    enter: async (key, signal) => {
      const name = `${key.identifierHash}|${key.bucket}`;
      const reservation = reservations.get(name) ?? {
        holders: 0,
        inFlight: 0,
        epoch: 0,
        waiting: new Set(),
      };
      reservations.set(name, reservation);
      reservation.holders += 1;
      await reserve({ store, options, now }, key, reservation, signal).catch((error: unknown) => {
        drop(name, reservation);
        throw error;
      });
      const release = leave(name, reservation);
      return {
        release,
        fail: () => countFailure(store, options, key, now()).finally(release),
        succeed: () => forget(store, key).finally(release),
      };
    },
    forget: (key) => forget(store, key),
    states: readLocks,
    clear: async (db, identifierHash) =>
      Number(
        (
          await db
            .deleteFrom('auth_identifier_locks')
            .where('identifier_hash', '=', identifierHash)
            .executeTakeFirst()
        ).numDeletedRows,
      ) > 0,
  };
}

interface Locks {
  readonly store: Store;
  readonly options: LockOptions;
  readonly now: () => number;
}

/** Waits for a place among the compares of an identifier. @throws AppError 423, 503 */
async function reserve(
  { store, options, now }: Locks,
  key: LockKey,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { epoch } = reservation;
    const state = await readLock(store.db, key);
    const until = lockedUntil(state, options, now());
    if (until !== null) throw accountLocked(until - now());
    if (signal.aborted) throw failure.badRequest('Invalid request');
    // A compare that finished while the row was read has changed the row.
    if (reservation.epoch !== epoch) continue;
    if (placesLeft(state, options, now()) > reservation.inFlight)
      return void (reservation.inFlight += 1);
    if (reservation.waiting.size >= MAX_WAITING)
      throw failure.unavailable(undefined, { headers: { 'Retry-After': '1' } });
    await nextRelease(reservation, signal);
  }
}

/** A 423 response (RFC 4918). It is the same for an identifier without an account. */
function accountLocked(wait: number): AppError {
  return new AppError(423, 'ACCOUNT_LOCKED', 'Account locked', {
    headers: { 'Retry-After': retryAfter(wait) },
  });
}

function nextRelease(reservation: Reservation, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      signal.removeEventListener('abort', wake);
      reservation.waiting.delete(wake);
      resolve();
    };
    reservation.waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}

async function countFailure(store: Store, options: LockOptions, key: LockKey, now: number) {
  return store.transaction(async (trx: Trx) => {
    if (store.dialect === 'postgres')
      await trx
        .insertInto('auth_identifier_locks')
        .values(toRow(key, UNLOCKED))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    const before = await readLock(trx, key, store.dialect === 'postgres');
    const after = afterFailure(before, options, now);
    await trx
      .insertInto('auth_identifier_locks')
      .values(toRow(key, after))
      .onConflict((conflict) =>
        conflict.columns(['identifier_hash', 'bucket']).doUpdateSet(toRow(key, after)),
      )
      .execute();
    const locked =
      after !== before && (after.lockedUntil > now || after.totalSinceSuccess >= options.hardAfter);
    return {
      locked,
      until: lockedUntil(after, options, now) ?? now,
      failures: after.totalSinceSuccess,
    };
  });
}

async function forget(
  store: Store,
  { identifierHash, bucket }: LockKey,
): Promise<{ failures: number }> {
  const row = await store.db
    .deleteFrom('auth_identifier_locks')
    .where('identifier_hash', '=', identifierHash)
    .where('bucket', '=', bucket)
    .returning('total_since_success')
    .executeTakeFirst();
  return { failures: row?.total_since_success ?? 0 };
}

async function readLock(
  db: Db,
  { identifierHash, bucket }: LockKey,
  forUpdate = false,
): Promise<LockState> {
  const query = db
    .selectFrom('auth_identifier_locks')
    .selectAll()
    .where('identifier_hash', '=', identifierHash)
    .where('bucket', '=', bucket);
  const row = await (forUpdate ? query.forUpdate() : query).executeTakeFirst();
  return row ? fromRow(row) : UNLOCKED;
}

async function readLocks(
  db: Db,
  identifierHashes: readonly string[],
  bucket: string,
): Promise<ReadonlyMap<string, LockState>> {
  if (identifierHashes.length === 0) return new Map();
  const rows = await db
    .selectFrom('auth_identifier_locks')
    .selectAll()
    .where('identifier_hash', 'in', identifierHashes)
    .where('bucket', '=', bucket)
    .execute();
  return new Map(rows.map((row) => [row.identifier_hash, fromRow(row)]));
}

const fromRow = (row: RowOf<'auth_identifier_locks'>): LockState => ({
  recent: JSON.parse(row.recent) as number[],
  lockedUntil: row.locked_until,
  lockCount: row.lock_count,
  totalSinceSuccess: row.total_since_success,
  lastFailureAt: row.last_failure_at,
});

function toRow({ identifierHash, bucket }: LockKey, state: LockState) {
  return {
    identifier_hash: identifierHash,
    bucket,
    recent: JSON.stringify(state.recent),
    locked_until: state.lockedUntil,
    lock_count: state.lockCount,
    total_since_success: state.totalSinceSuccess,
    last_failure_at: state.lastFailureAt,
  };
}
