import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Abandoned } from './abandoned.ts';
import type { Asker, Bounds } from '../bounds.ts';
import type { ReachingClient } from './connecting.ts';
import { isSerializationFailure } from '../transactions/transaction-failures.ts';
import { DatabaseLost, type LostOutcome } from '../unreachable.ts';
import { isRead, lossOf, reached } from './losses.ts';
import type { Presence } from './presence.ts';
import type {
  Scopes,
  TransactionConnection,
  TransactionScope,
} from '../transactions/transaction-scope.ts';

export interface JoiningPoolOptions {
  readonly pool: pg.Pool;
  readonly presence: Presence;
  readonly scopes: Scopes;
  readonly abandoned: Abandoned;
}

/**
 * The pool of the query builder: code inside a transaction gets the connection of that transaction.
 */
export function joiningPool(options: JoiningPoolOptions): PostgresPool {
  const { pool, scopes } = options;
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const joined = scopes.current();
      if (joined) return joinedClient(joined);
      const scope = scopes.beginning();
      if (!scope) return plainClient(options, await pool.connect());
      const connection = new ScopeConnection(await connected(options), scope, options);
      scope.connect(connection);
      return connection as unknown as PostgresPoolClient;
    },
  };
}

/** The client for code inside a transaction, whose beginner releases the connection. */
function joinedClient(scope: TransactionScope): PostgresPoolClient {
  const query = async (sql: string, parameters: readonly unknown[]) => {
    await scope.ready();
    return (scope.connection as ScopeConnection).query(sql, parameters);
  };
  return { query, release: () => {} } as unknown as PostgresPoolClient;
}

/** A connection for a transaction, which has done nothing yet. */
const connected = ({ pool, presence }: JoiningPoolOptions) =>
  pool.connect().catch(async (error: unknown) => {
    throw await lossOf(presence, error, 'none');
  });

/** The client outside of a transaction: what only reads is done again when it is lost. */
function plainClient({ pool, presence }: JoiningPoolOptions, first: pg.PoolClient) {
  let client: pg.PoolClient | undefined = first;
  const ask = async (sql: string, parameters: readonly unknown[]) => {
    client ??= await pool.connect();
    return client.query(sql, parameters as unknown[]).catch(async (error: unknown) => {
      const loss = await lossOf(presence, error, isRead(sql) ? undefined : 'unknown');
      if (loss instanceof DatabaseLost) client = void client?.release(true);
      throw loss;
    });
  };
  return {
    query: (sql: string, parameters: readonly unknown[]) => reached(() => ask(sql, parameters)),
    release: () => client?.release(),
  } as unknown as PostgresPoolClient;
}

const NOTHING = { command: 'ROLLBACK', rowCount: 0, rows: [] };

/** A client of the pool during a transaction. At the time limit, its statement is cancelled. */
class ScopeConnection implements TransactionConnection {
  /** Undefined once it is lost. */
  #client: pg.PoolClient | undefined;
  readonly #options: JoiningPoolOptions;
  readonly #asker: Asker;
  readonly #scope: TransactionScope;
  #begun = false;

  constructor(client: pg.PoolClient, scope: TransactionScope, options: JoiningPoolOptions) {
    this.#client = client;
    this.#options = options;
    this.#scope = scope;
    this.#asker = {
      get cancelled() {
        return scope.closed;
      },
    };
  }

  get processID(): number | undefined {
    return (this.#client as { readonly processID?: number } | undefined)?.processID;
  }

  async query(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (sql === 'commit') return this.#sent(sql, [], 'unknown');
    // What is lost has rolled back by itself.
    if (sql === 'rollback' && !this.#client) return NOTHING as unknown as pg.QueryResult;
    if (sql === 'rollback') return this.#sent(sql);
    if (!this.#begun) return reached(() => this.#begin(sql), this.#asker);
    return this.#tracked(sql, parameters, this.#asker);
  }

  /** A connection that was lost while nobody used it is replaced: nothing was done on it. */
  async #begin(sql: string): Promise<pg.QueryResult> {
    this.#client ??= await connected(this.#options);
    const result = await this.#sent(sql);
    this.#begun = true;
    return result;
  }

  async #sent(
    sql: string,
    parameters: readonly unknown[] = [],
    outcome: LostOutcome = 'none',
  ): Promise<pg.QueryResult> {
    try {
      if (!this.#client) throw new DatabaseLost('none', undefined, true);
      return await this.#client.query(sql, parameters as unknown[]);
    } catch (error) {
      const idle = (this.#client as unknown as ReachingClient | undefined)?.fatal;
      if (idle && this.#begun) {
        this.#client = void this.#client?.release(true);
        throw idle;
      }
      const loss = await lossOf(this.#options.presence, error, outcome);
      const isLost = loss instanceof DatabaseLost;
      if (isLost) this.#client = void this.#client?.release(true);
      if (this.#begun && (isLost || isSerializationFailure(error))) this.#scope.lose(loss);
      throw loss;
    }
  }

  /** With bounds, the statement also ends when its client is gone. */
  async run(sql: string, parameters: readonly unknown[], bounds?: Bounds) {
    const asker = bounds ? eitherOf(bounds.asker, this.#asker) : this.#asker;
    return (await this.#tracked(sql, parameters, asker)).rows;
  }

  release(): void {
    // A cancel request may arrive late, so the connection is not reused.
    this.#client?.release(this.#options.abandoned.isTold(this.#client));
  }

  async #tracked(
    sql: string,
    parameters: readonly unknown[],
    asker: Asker,
  ): Promise<pg.QueryResult> {
    const { abandoned } = this.#options;
    const running = this.#client && abandoned.began(this.#client, asker);
    try {
      return await this.#sent(sql, parameters);
    } finally {
      abandoned.ended(running);
    }
  }
}

const eitherOf = (first: Asker, second: Asker): Asker => ({
  get cancelled() {
    return first.cancelled || second.cancelled;
  },
});
