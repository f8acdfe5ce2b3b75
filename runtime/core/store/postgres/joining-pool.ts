import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Abandoned } from './abandoned.ts';
import type { Asker, Bounds } from '../bounds.ts';
import { isSerializationFailure } from '../transactions/transaction-failures.ts';
import type {
  Scopes,
  TransactionConnection,
  TransactionScope,
} from '../transactions/transaction-scope.ts';

export interface JoiningPoolOptions {
  readonly pool: pg.Pool;
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
      const client = await pool.connect();
      if (!scope) return client as unknown as PostgresPoolClient;
      const connection = new ScopeConnection(client, scope, options);
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

const ENDS = new Set(['commit', 'rollback']);

/** A client of the pool during a transaction. At the time limit, its statement is cancelled. */
class ScopeConnection implements TransactionConnection {
  readonly #client: pg.PoolClient;
  readonly #options: JoiningPoolOptions;
  readonly #asker: Asker;
  readonly #scope: TransactionScope;

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
    return (this.#client as unknown as { processID?: number }).processID;
  }

  async query(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (ENDS.has(sql)) return this.#client.query(sql);
    return this.#tracked(sql, parameters, this.#asker);
  }

  /** With bounds, the statement also ends when its client is gone. */
  async run(sql: string, parameters: readonly unknown[], bounds?: Bounds) {
    const asker = bounds ? eitherOf(bounds.asker, this.#asker) : this.#asker;
    return (await this.#tracked(sql, parameters, asker)).rows;
  }

  release(): void {
    // A cancel request may arrive late, so the connection is not reused.
    this.#client.release(this.#options.abandoned.isTold(this.#client));
  }

  async #tracked(
    sql: string,
    parameters: readonly unknown[],
    asker: Asker,
  ): Promise<pg.QueryResult> {
    const running = this.#options.abandoned.began(this.#client, asker);
    try {
      return await this.#client.query(sql, parameters as unknown[]);
    } catch (error) {
      if (isSerializationFailure(error)) this.#scope.lose(error);
      throw error;
    } finally {
      this.#options.abandoned.ended(running);
    }
  }
}

const eitherOf = (first: Asker, second: Asker): Asker => ({
  get cancelled() {
    return first.cancelled || second.cancelled;
  },
});
