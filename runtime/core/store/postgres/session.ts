import { EventEmitter } from 'node:events';
import type pg from 'pg';
import { AppError } from '../../errors.ts';
import type { ReachingClient } from './connecting.ts';

/** Milliseconds after which a lost connection is made again. */
const AGAIN_AFTER = 250;

/**
 * PostgreSQL then notices within half a minute that this machine has vanished, and frees its locks.
 */
const NOTICE_LOSS = `select set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`;

const UNDEFINED_TABLE = '42P01';

/** Takes what another server has sent. */
export type Hear = (payload: string) => void;
/** See `Store.listen`. */
export type Interrupt = (why: Error | undefined) => void;

const missed = () =>
  new AppError(503, 'DATABASE_UNAVAILABLE', 'Changes may have been missed: subscribe again', {
    headers: { 'Retry-After': '1' },
  });

export interface SessionOptions {
  readonly connect: () => ReachingClient;
  /** Whether the connection is one to PostgreSQL itself, with a session of its own. */
  readonly isDirect: () => boolean;
  /** Called when a connection is lost, with all that depends on it. */
  readonly onLost: () => void;
}

/**
 * The one connection of a store that is not for statements of requests: it listens, and it holds
 * the locks. It is made when it is needed, and made again while something listens.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #heard = new EventEmitter();
  readonly #interrupts = new Set<Interrupt>();
  #client: Promise<pg.Client> | undefined;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<any[]> {
    if (this.#closed) throw new Error('the store is closed');
    const client = await (this.#client ??= this.#open());
    return (await client.query(sql, values as unknown[])).rows;
  }

  /** Runs a statement about a table of ours, which is made when it is missing. */
  async queryWith(table: string, sql: string, values: readonly unknown[]): Promise<any[]> {
    return this.query(sql, values).catch(async (error: { readonly code?: string }) => {
      if (error.code !== UNDEFINED_TABLE) throw error;
      // Of two servers that make it at once, one is refused by the catalog.
      await this.query(table).catch(() => {});
      return this.query(sql, values);
    });
  }

  /** @returns a function that ends it. */
  async listen(channel: string, hear: Hear, interrupt: Interrupt): Promise<() => void> {
    this.#heard.on(channel, hear);
    this.#interrupts.add(interrupt);
    // A connection that is made now listens to all channels by itself.
    if (this.#client) await this.query(`listen ${channel}`);
    else await this.query('select');
    return () => {
      this.#heard.off(channel, hear);
      this.#interrupts.delete(interrupt);
    };
  }

  /** Gives the connection up, with all that depends on it. */
  async drop(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.drop();
  }

  async #open(): Promise<pg.Client> {
    const client = this.#options.connect();
    client.on('notification', ({ channel, payload = '' }) => this.#heard.emit(channel, payload));
    try {
      await client.connect();
      if (this.#options.isDirect()) await client.query(NOTICE_LOSS);
      await client.enterSchema(!this.#options.isDirect());
      for (const channel of this.#heard.eventNames())
        await client.query(`listen ${String(channel)}`);
    } catch (error) {
      this.#client = undefined;
      await client.end().catch(() => {});
      throw error;
    }
    client.on('end', () => this.#lose());
    for (const interrupt of this.#interrupts) interrupt(undefined);
    return client;
  }

  #lose(): void {
    this.#client = undefined;
    if (this.#closed) return;
    this.#options.onLost();
    if (this.#heard.eventNames().length === 0) return;
    for (const interrupt of this.#interrupts) interrupt(missed());
    this.#retry();
  }

  #retry(): void {
    setTimeout(() => {
      if (!this.#closed && !this.#client) this.query('select').catch(() => this.#retry());
    }, AGAIN_AFTER).unref();
  }
}
