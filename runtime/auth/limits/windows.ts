import type { NowOrLater } from '../and-then.ts';

/** One hit that is asked for: at most `limit` in any `window` milliseconds under `key`. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
  /** Only look: the hit itself is charged later, or never. */
  readonly peek?: boolean;
  /** Whether a process may take some hits of this limit in advance (`leased-windows.ts`). */
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
 * Sliding windows: a hit is accepted iff fewer than `limit` accepted hits lie in (now − window,
 * now]. Rejected hits are not recorded. Several charges pass together or not at all.
 */
export interface Windows {
  consume(charges: readonly Charge[], now: number): NowOrLater<readonly WindowState[]>;
  /** Takes back hits that were accepted at `at`. */
  refund(charges: readonly Charge[], at: number): NowOrLater<void>;
  /** Gives back what this process holds in advance. */
  close(): Promise<void>;
}
