import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Abandoned } from './abandoned.ts';
import type { Scopes, TransactionConnection, TransactionScope } from './transaction-scope.ts';

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
  readonly #asker: { readonly cancelled: boolean };

  constructor(client: pg.PoolClient, scope: TransactionScope, options: JoiningPoolOptions) {
    this.#client = client;
    this.#options = options;
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
    return this.#tracked(() => this.#client.query(sql, parameters as unknown[]));
  }

  async run(sql: string, parameters: readonly unknown[]) {
    return (await this.query(sql, parameters)).rows;
  }

  release(): void {
    // A cancel request may arrive late, so the connection is not reused.
    this.#client.release(this.#options.abandoned.isTold(this.#client));
  }

  async #tracked<T>(ask: () => Promise<T>): Promise<T> {
    const running = this.#options.abandoned.began(this.#client, this.#asker);
    try {
      return await ask();
    } finally {
      this.#options.abandoned.ended(running);
    }
  }
}
