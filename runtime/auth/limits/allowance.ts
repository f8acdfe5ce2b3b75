import { SECOND } from '../base/time.ts';
import {
  gridTime,
  type WindowChange,
  type WindowGrant,
  type WindowRequest,
} from './stored-windows.ts';
import type { Charge, WindowState } from './windows.ts';

/** Hits of one key that this process may accept without the database, from `since` to `until`. */
interface HitLease {
  readonly since: number;
  readonly until: number;
  readonly size: number;
  left: number;
  /** Number of used hits by time, with the time rounded as in the database. */
  readonly used: Map<number, number>;
  isClosed: boolean;
}

/** A lease ends after ten seconds or a quarter of the window, whichever is shorter. */
const MAX_LEASE_TIME = 10 * SECOND;

/** Size of the first lease, in hits. */
const FIRST_LEASE_SIZE = 8;

/** A process leases at most a sixteenth of a limit at a time. */
const LEASE_DIVISOR = 16;

/**
 * Milliseconds that a refill waits for refills of other keys, so that one statement serves them
 * all. For a short lease it is an eighth of the lease instead.
 */
const REFILL_DELAY = 100;

/** Whether a limit is large enough to be leased: a lease of one hit would save nothing. */
export const isLeasable = ({ limit }: Charge): boolean => limit >= 2 * LEASE_DIVISOR;

/** The state of one key in this process: its leases, and the last window from the database. */
export class Allowance {
  readonly charge: Charge;
  /** Milliseconds that a refill may wait for others. */
  readonly refillDelay: number;
  readonly #most: number;
  readonly #length: number;
  #leases: HitLease[] = [];
  #want: number;
  /** Hits since the last request for a lease. */
  #hits = 0;
  #since = 0;
  #isAsking = false;
  /** Hits in the window that are not in a lease of this process. */
  #others = 0;
  #oldestLeaves = 0;

  constructor(charge: Charge) {
    this.charge = charge;
    this.#most = Math.floor(charge.limit / LEASE_DIVISOR);
    this.#want = Math.min(FIRST_LEASE_SIZE, this.#most);
    this.#length = Math.min(MAX_LEASE_TIME, Math.floor(charge.window / 4));
    this.refillDelay = Math.min(REFILL_DELAY, Math.floor(this.#length / 8));
  }

  isFor({ limit, window }: Charge): boolean {
    return limit === this.charge.limit && window === this.charge.window;
  }

  hasLeft(now: number): boolean {
    return this.#open(now) !== undefined;
  }

  /** Uses a leased hit. Returns undefined when none is left. */
  take(now: number): WindowState | undefined {
    this.#hits += 1;
    const lease = this.#open(now);
    if (!lease) return undefined;
    lease.left -= 1;
    add(lease.used, gridTime(this.charge, now), 1);
    return this.#state(now);
  }

  /**
   * Undoes a hit that was used at `at`.
   *
   * @returns false when no open lease contains that hit.
   */
  giveBack(at: number): boolean {
    const time = gridTime(this.charge, at);
    const lease = this.#leases.find(({ used }) => used.has(time));
    if (!lease) return false;
    lease.left += 1;
    add(lease.used, time, -1);
    return true;
  }

  /** Whether to lease more hits now, before a request has to wait for them. */
  isLow(now: number): boolean {
    if (this.#isAsking) return false;
    const open = this.#leases.filter((lease) => isOpen(lease, now));
    const left = open.reduce((sum, lease) => sum + lease.left, 0);
    const until = Math.max(...open.map((lease) => lease.until));
    return left <= this.#want / 2 || until - now < this.#length / 4;
  }

  /** The lease to request with the next statement. Only one request for a lease runs at a time. */
  ask(now: number): Pick<WindowRequest, 'want' | 'until'> {
    if (this.#isAsking) return {};
    this.#isAsking = true;
    this.#want = this.#demand(now);
    return { want: this.#want, until: now + this.#length };
  }

  /** Removes used-up and ended leases, and returns the changes that settle them. */
  settle(now: number): WindowChange[] {
    const done = this.#leases.filter((lease) => lease.left === 0 || !isOpen(lease, now));
    this.#leases = this.#leases.filter((lease) => !done.includes(lease));
    return done.flatMap((lease) => settlementOf(this.charge, lease));
  }

  /** Stores the answer of the database to a request. */
  receive(
    { until }: WindowRequest,
    { leased, remaining, resetIn }: WindowGrant,
    now: number,
  ): void {
    const held = this.#leases.reduce((sum, { size }) => sum + size, 0);
    this.#others = Math.max(0, this.charge.limit - remaining - held);
    this.#oldestLeaves = now + resetIn;
    if (until === undefined) return;
    this.#isAsking = false;
    const lease = { since: now, until, size: leased, left: leased };
    if (leased > 0) this.#leases.push({ ...lease, used: new Map(), isClosed: false });
  }

  /** Handles a failed request. Its unsettled hits stay counted as used in the database. */
  fail({ until }: WindowRequest): void {
    if (until !== undefined) this.#isAsking = false;
  }

  /** Whether no lease is open or requested. */
  hasEnded(now: number): boolean {
    return !this.#isAsking && !this.#leases.some((lease) => isOpen(lease, now));
  }

  /** Whether no state is left, so that the allowance can be removed. */
  isEmpty(): boolean {
    return !this.#isAsking && this.#leases.length === 0;
  }

  /** Ends all leases. */
  close(): void {
    for (const lease of this.#leases) lease.isClosed = true;
  }

  #open(now: number): HitLease | undefined {
    return this.#leases.find((lease) => lease.left > 0 && isOpen(lease, now));
  }

  /**
   * The hits that a lease would need at the current rate, between `FIRST_LEASE_SIZE` and `#most`.
   */
  #demand(now: number): number {
    const elapsed = Math.max(now - this.#since, this.#length / 4);
    const expected = Math.ceil((this.#hits * this.#length) / elapsed);
    this.#since = now;
    this.#hits = 0;
    return Math.min(this.#most, Math.max(FIRST_LEASE_SIZE, expected));
  }

  #state(now: number): WindowState {
    const { limit, window } = this.charge;
    const used = this.#leases.reduce((sum, { size, left }) => sum + size - left, 0);
    return {
      accepted: true,
      remaining: Math.max(0, limit - this.#others - used),
      // When the oldest hit has left the window, the time of the next one is not known here. It
      // leaves within one window.
      resetIn: this.#oldestLeaves > now ? this.#oldestLeaves - now : window,
    };
  }
}

/**
 * A lease also ends when the clock is set back to a time before the lease, because the database
 * counts its hits at a later time.
 */
const isOpen = ({ since, until, isClosed }: HitLease, now: number) =>
  !isClosed && now >= since && now <= until;

/** The change that removes a lease from the window and adds its used hits at their own times. */
function settlementOf(charge: Charge, { until, size, used }: HitLease): WindowChange[] {
  const { key } = charge;
  return [
    { key, time: gridTime(charge, until), count: -size },
    ...used.entries().map(([time, count]) => ({ key, time, count })),
  ];
}

function add(counts: Map<number, number>, time: number, count: number): void {
  const sum = (counts.get(time) ?? 0) + count;
  if (sum > 0) counts.set(time, sum);
  else counts.delete(time);
}
