import type { NowOrLater } from '../base/and-then.ts';

/** A request for one hit: `key` allows at most `limit` hits in any `window` milliseconds. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
  /** Only checks the limit. The hit itself is charged later, or never. */
  readonly peek?: boolean;
  /** Whether a process may lease hits of this limit in advance (`leased-windows.ts`). */
  readonly leased?: boolean;
}

/** The state of a key after a charge. */
export interface WindowState {
  readonly accepted: boolean;
  readonly remaining: number;
  /** Milliseconds until the oldest hit leaves the window; 0 when there is none. */
  readonly resetIn: number;
}

/**
 * Sliding windows: a hit is accepted if and only if fewer than `limit` accepted hits lie in (now −
 * window, now]. Rejected hits are not recorded. Several charges pass together or not at all.
 */
export interface Windows {
  consume(charges: readonly Charge[], now: number): NowOrLater<readonly WindowState[]>;
  /** Removes hits that were accepted at `at`. */
  refund(charges: readonly Charge[], at: number): NowOrLater<void>;
  /** Gives the leases of this process back. */
  close(): Promise<void>;
}
