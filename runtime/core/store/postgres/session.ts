import type pg from 'pg';

/** Milliseconds after which a lost connection is made again. */
const AGAIN_AFTER = 1000;

/**
 * PostgreSQL then notices within half a minute that this machine has vanished, and frees its locks.
 */
const NOTICE_LOSS = `select set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`;

/** Takes what another server has sent. */
export type Hear = (payload: string) => void;

export interface SessionOptions {
  readonly connect: () => pg.Client;
  /** Whether the connection is one to PostgreSQL itself, with a session of its own. */
  readonly isDirect: () => boolean;
  /** Called when the connection is lost, with whether it listened. */
  readonly onLost: (listened: boolean) => void;
}

/**
 * The one connection of a store that is not for statements of requests: it listens, and it holds
 * the locks. It is made when it is needed, and made again while something listens.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #heard = new Map<string, Set<Hear>>();
  #client: Promise<pg.Client> | undefined;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<any[]> {
    const client = await (this.#client ??= this.#open());
    return (await client.query(sql, values as unknown[])).rows;
  }

  /** @returns a function that ends it. */
  async listen(channel: string, hear: Hear): Promise<() => void> {
    const heard = this.#heard.get(channel) ?? new Set();
    this.#heard.set(channel, heard.add(hear));
    // A connection that is made now listens to all channels by itself.
    if (this.#client) await this.query(`listen ${channel}`);
    else await this.query('select');
    return () => void heard.delete(hear);
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
    // Without a listener, its error would end the process. The end follows.
    client.on('error', () => {});
    client.on('notification', ({ channel, payload = '' }) =>
      this.#heard.get(channel)?.forEach((hear) => hear(payload)),
    );
    try {
      await client.connect();
      if (this.#options.isDirect()) await client.query(NOTICE_LOSS);
      for (const channel of this.#heard.keys()) await client.query(`listen ${channel}`);
    } catch (error) {
      this.#client = undefined;
      await client.end().catch(() => {});
      throw error;
    }
    client.on('end', () => this.#lose());
    return client;
  }

  #lose(): void {
    this.#client = undefined;
    if (this.#closed) return;
    this.#options.onLost(this.#heard.size > 0);
    this.#retry();
  }

  #retry(): void {
    if (this.#heard.size === 0) return;
    setTimeout(() => {
      if (!this.#closed && !this.#client) this.query('select').catch(() => this.#retry());
    }, AGAIN_AFTER).unref();
  }
}
