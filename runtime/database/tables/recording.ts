import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Dialect } from '@twofold/runtime/store';

type Execute = (query: CompiledQuery) => Promise<QueryResult<any>>;

/** A query builder whose statements all go to `execute`. */
export function kyselyOver(dialect: Dialect, execute: Execute): Kysely<any> {
  return new Kysely<any>({ dialect: dialectOver(dialect, execute) });
}

function dialectOver(dialect: Dialect, execute: Execute): KyselyDialect {
  const connection: DatabaseConnection = {
    executeQuery: execute,
    async *streamQuery(query) {
      yield await execute(query);
    },
  };
  const driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    // Savepoints and nested transactions belong to the transaction that is open already.
    beginTransaction: async () => {},
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return dialect === 'sqlite'
    ? {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      }
    : {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      };
}
