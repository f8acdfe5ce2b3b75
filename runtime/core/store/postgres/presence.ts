import type pg from 'pg';
import type { Logger } from '../../config/log.ts';
import { DatabaseLost, isNotYet, refusesWrites, unreachable } from '../unreachable.ts';

/** Milliseconds after a loss within which a request waits for the database to come back. */
const BACK_WITHIN = 5_000;
const PROBE_EVERY = 100;
/** A network may swallow a probe. */
const PROBE_WITHIN = 2_000;

/** What a connection shows: the process that answers, and whether it refuses writes. */
export const LOOK = `select pg_backend_pid() as id,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as closed`;

type Wait = (gone: DatabaseLost | undefined) => void;

export interface PresenceOptions {
  readonly url: string;
  readonly readOnly: boolean;
  readonly log: Logger | undefined;
  /** Takes a connection; fails when there is none. */
  readonly connect: () => Promise<pg.PoolClient>;
}

/**
 * Knows whether the database gives connections. While it does not, one probe asks for all who wait,
 * and the log has one line for the loss and one for the return.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #waiting = new Set<() => void>();
  #lost: { readonly at: number; readonly cause: unknown } | undefined;
  /** Whether it must take writes; undefined before the first connection. */
  #needsWrites: boolean | undefined;
  #closed = false;
  #suspects = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /** @throws an error when a database that took writes does not take them on this connection. */
  made(closed: boolean): void {
    this.#needsWrites ??= !closed && !this.#options.readOnly;
    if (closed && this.#needsWrites) throw refusesWrites();
  }

  /** Calls `wait` when the database is back, or with an error five seconds after the loss. */
  await(wait: Wait): void {
    if (!this.#lost || this.#closed) return wait(undefined);
    const { at, cause } = this.#lost;
    const settle = () => {
      clearTimeout(timer);
      this.#waiting.delete(settle);
      wait(this.#lost && !this.#closed ? new DatabaseLost(undefined, cause) : undefined);
    };
    const timer = setTimeout(settle, Math.max(0, at + BACK_WITHIN - performance.now()));
    this.#waiting.add(settle);
  }

  /** @returns false when waiting does not help: it has never answered, or says why it does not. */
  lose(cause: unknown): boolean {
    if (this.#needsWrites === undefined || this.#closed || !isNotYet(cause)) return false;
    if (this.#lost) return true;
    this.#lost = { at: performance.now(), cause };
    const reason = unreachable(cause, this.#options.url)?.problems[0] ?? String(cause);
    this.#options.log?.error({ reason }, `DATABASE_LOST  ${reason}`);
    this.#probeLater();
    return true;
  }

  /** Looks whether the database is there, after a connection has ended. */
  suspect(): void {
    if (this.#lost || this.#closed || this.#suspects) return;
    this.#suspects = true;
    void this.#probe()
      .catch((error: unknown) => this.lose(error))
      .finally(() => (this.#suspects = false));
  }

  /** A statement was refused because it writes. @returns whether a later connection takes it. */
  async refused(): Promise<boolean> {
    if (!this.#needsWrites || this.#closed) return false;
    await this.#probe().catch((reason: unknown) => this.lose(reason));
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const settle of [...this.#waiting]) settle();
  }

  #probeLater(): void {
    const probe = () => {
      if (this.#closed) return;
      this.#probe().then(
        () => this.#back(),
        () => this.#probeLater(),
      );
    };
    setTimeout(probe, PROBE_EVERY).unref();
  }

  async #probe(): Promise<void> {
    const client = await this.#options.connect();
    let isGood = false;
    try {
      const late = AbortSignal.timeout(PROBE_WITHIN);
      const { rows } = await Promise.race([client.query(LOOK), rejected(late)]);
      isGood = !(rows[0].closed && this.#needsWrites);
    } finally {
      client.release(!isGood);
    }
    if (isGood) return;
    throw refusesWrites();
  }

  #back(): void {
    const seconds = (performance.now() - (this.#lost?.at ?? 0)) / 1000;
    this.#lost = undefined;
    this.#options.log?.info(`DATABASE_BACK  the database answers, after ${seconds.toFixed(1)} s`);
    for (const settle of [...this.#waiting]) settle();
  }
}

/** Rejects as the driver does when a connection takes too long. */
const rejected = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('timeout expired'))),
  );
