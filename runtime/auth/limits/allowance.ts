import { SECOND } from '../time.ts';
import {
  gridTime,
  type WindowChange,
  type WindowGrant,
  type WindowRequest,
} from './stored-windows.ts';
import type { Charge, WindowState } from './windows.ts';

/**
 * Hits of one key that this process may use without asking the database, from `since` until
 * `until`.
 */
interface HitLease {
  readonly since: number;
  readonly until: number;
  readonly size: number;
  left: number;
  /** Used hits by their time, rounded as the database keeps it. */
  readonly used: Map<number, number>;
  isClosed: boolean;
}

/** A lease ends after ten seconds or a quarter of the window, whichever is shorter. */
const LONGEST = 10 * SECOND;

/** Hits of a first lease. */
const FIRST = 8;

/** A process leases at most a sixteenth of a limit at a time. */
const SHARE = 16;

/**
 * A refill waits for others, so that one statement does for all: 100 ms, or an eighth of a lease
 * that is short.
 */
const PATIENCE = 100;

/** Whether a limit is large enough to be leased: a lease of one hit would save nothing. */
export const isLeasable = ({ limit }: Charge): boolean => limit >= 2 * SHARE;

/**
 * What this process holds of one key: its leases, and what the database last said of the window.
 */
export class Allowance {
  readonly charge: Charge;
  /** Milliseconds that a refill may wait. */
  readonly patience: number;
  readonly #most: number;
  readonly #length: number;
  #leases: HitLease[] = [];
  #want: number;
  /** Hits that came since the last lease was asked for. */
  #hits = 0;
  #since = 0;
  #isAsking = false;
  /** Hits in the window that no lease of this process holds. */
  #others = 0;
  #oldestLeaves = 0;

  constructor(charge: Charge) {
    this.charge = charge;
    this.#most = Math.floor(charge.limit / SHARE);
    this.#want = Math.min(FIRST, this.#most);
    this.#length = Math.min(LONGEST, Math.floor(charge.window / 4));
    this.patience = Math.min(PATIENCE, Math.floor(this.#length / 8));
  }

  isFor({ limit, window }: Charge): boolean {
    return limit === this.charge.limit && window === this.charge.window;
  }

  hasLeft(now: number): boolean {
    return this.#open(now) !== undefined;
  }

  /** Uses a leased hit; undefined when there is none. */
  take(now: number): WindowState | undefined {
    this.#hits += 1;
    const lease = this.#open(now);
    if (!lease) return undefined;
    lease.left -= 1;
    add(lease.used, gridTime(this.charge, now), 1);
    return this.#state(now);
  }

  /**
   * Takes back a hit that was used at `at`.
   *
   * @returns false when no lease knows of it, or the lease was settled.
   */
  giveBack(at: number): boolean {
    const time = gridTime(this.charge, at);
    const lease = this.#leases.find(({ used }) => used.has(time));
    if (!lease) return false;
    lease.left += 1;
    add(lease.used, time, -1);
    return true;
  }

  /** Whether it is time to lease more, before a request has to wait for it. */
  isLow(now: number): boolean {
    if (this.#isAsking) return false;
    const open = this.#leases.filter((lease) => isOpen(lease, now));
    const left = open.reduce((sum, lease) => sum + lease.left, 0);
    const until = Math.max(...open.map((lease) => lease.until));
    return left <= this.#want / 2 || until - now < this.#length / 4;
  }

  /** What to lease with the next statement. One statement at a time asks for a lease. */
  ask(now: number): Pick<WindowRequest, 'want' | 'until'> {
    if (this.#isAsking) return {};
    this.#isAsking = true;
    this.#want = this.#demand(now);
    return { want: this.#want, until: now + this.#length };
  }

  /**
   * The changes that settle the leases which are used up or have ended. They are forgotten here.
   */
  settle(now: number): WindowChange[] {
    const done = this.#leases.filter((lease) => lease.left === 0 || !isOpen(lease, now));
    this.#leases = this.#leases.filter((lease) => !done.includes(lease));
    return done.flatMap((lease) => settlementOf(this.charge, lease));
  }

  /** Takes the answer of the database in. */
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

  /**
   * The database did not answer. What was settled with the question stays counted as used there.
   */
  fail({ until }: WindowRequest): void {
    if (until !== undefined) this.#isAsking = false;
  }

  /** Whether there is nothing to take from it. */
  hasEnded(now: number): boolean {
    return !this.#isAsking && !this.#leases.some((lease) => isOpen(lease, now));
  }

  /** Whether it may be forgotten. */
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
   * As many hits as a lease would take at the pace since the last one, between the first size and
   * the most.
   */
  #demand(now: number): number {
    const elapsed = Math.max(now - this.#since, this.#length / 4);
    const expected = Math.ceil((this.#hits * this.#length) / elapsed);
    this.#since = now;
    this.#hits = 0;
    return Math.min(this.#most, Math.max(FIRST, expected));
  }

  #state(now: number): WindowState {
    const { limit, window } = this.charge;
    const used = this.#leases.reduce((sum, { size, left }) => sum + size - left, 0);
    return {
      accepted: true,
      remaining: Math.max(0, limit - this.#others - used),
      // When the oldest has left, the next one is not known here: it leaves within a window.
      resetIn: this.#oldestLeaves > now ? this.#oldestLeaves - now : window,
    };
  }
}

/**
 * A lease ends as well when the clock was set back to before it: the database counts its hits later
 * than that.
 */
const isOpen = ({ since, until, isClosed }: HitLease, now: number) =>
  !isClosed && now >= since && now <= until;

/** The lease leaves the window, and the hits that were used of it come in at their own times. */
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
