import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { InternalError } from '../../errors.ts';
import type { Mutex } from '../transactions/semaphore.ts';
import { withinBounds } from './sqlite-answers.ts';
import type { SqliteConnection, SqliteResult } from './sqlite-connection.ts';
import { type Pace, timed } from '../transactions/pace.ts';
import type { SharedWrites } from './shared-writes.ts';
import { lostFailure } from '../transactions/transaction-failures.ts';
import type { Hold, Scopes, TransactionScope } from '../transactions/transaction-scope.ts';
import { quotedName } from '../tables/quoting.ts';

/** The two handles of one database. For a database in memory they are the same. */
export interface SqliteHandles {
  readonly reader: SqliteConnection;
  readonly writer: SqliteConnection;
  /**
   * Held by the running transaction or write. A write that is blocked inside SQLite would block the
   * whole process.
   */
  readonly mutex: Mutex;
}

const READS = /^\s*(select|values|explain|pragma)\b/i;

/** Kysely over `node:sqlite`. Reads have their own handle, so that none waits for a transaction. */
export function sqliteDialect(handles: SqliteHandles, scopes: Scopes): KyselyDialect {
  return {
    createAdapter: () => new PooledSqliteAdapter(),
    createDriver: () => sqliteDriver(handles, scopes),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely would queue all queries behind one connection; the two handles order only writes. */
class PooledSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class Connection implements DatabaseConnection {
  readonly #handles: SqliteHandles;
  release: (() => void) | null = null;

  constructor(handles: SqliteHandles) {
    this.#handles = handles;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return toQueryResult<Row>(
      this.release
        ? this.#handles.writer.run(sql, parameters)
        : await runAlone(this.#handles, sql, parameters),
    );
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new InternalError('streaming from SQLite is not offered: read in pages');
  }
}

/** A connection for code inside a transaction that another connection began. */
class JoinedConnection extends Connection {
  readonly #writer: SqliteConnection;
  readonly #scope: TransactionScope;

  constructor(handles: SqliteHandles, scope: TransactionScope) {
    super(handles);
    this.#writer = handles.writer;
    this.#scope = scope;
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    await this.#scope.ready();
    return toQueryResult<Row>(runInside(this.#writer, sql, parameters));
  }
}

/** Runs one statement outside a transaction. */
export async function runAlone(
  handles: SqliteHandles,
  sql: string,
  parameters: readonly unknown[],
): Promise<SqliteResult> {
  if (READS.test(sql) && handles.reader !== handles.writer)
    return handles.reader.run(sql, parameters);
  const release = await handles.mutex.acquire();
  try {
    return handles.writer.run(sql, parameters);
  } finally {
    release();
  }
}

function toQueryResult<Row>({ rows, changes, insertId }: SqliteResult): QueryResult<Row> {
  return {
    rows: rows as Row[],
    numAffectedRows: changes,
    ...(insertId !== undefined && { insertId }),
  };
}

/** Runs one statement of an open transaction: it must not be written when there is none. */
function runInside(
  writer: SqliteConnection,
  sql: string,
  parameters: readonly unknown[],
): SqliteResult {
  if (!writer.inTransaction()) throw lostFailure();
  return writer.run(sql, parameters);
}

function connect({ writer }: SqliteHandles, scope: TransactionScope | undefined): void {
  scope?.connect({
    run: async (sql, parameters, bounds) => {
      const run = () => runInside(writer, sql, parameters).rows;
      return bounds ? withinBounds(writer, bounds, run) : run();
    },
    valueNow: (sql, parameters) => writer.value(sql, parameters),
  });
}

/** Begins a transaction, see `Beginning.begin`. */
export type BeginDirectly = (hold: Hold, pace: Pace | undefined) => Promise<void>;

/**
 * Begins transactions without Kysely, which would take most of the time of a small one. Short ones
 * share a commit.
 */
export function beginDirectly(
  handles: SqliteHandles,
  scopes: Scopes,
  shared: SharedWrites,
): BeginDirectly {
  return async (hold, pace) => {
    const work = () => {
      connect(handles, scopes.beginning());
      return pace ? timed(pace, hold) : hold();
    };
    await (pace?.short ? shared.transaction(work) : alone(handles, work));
  };
}

async function alone({ writer, mutex }: SqliteHandles, work: () => Promise<void>): Promise<void> {
  const release = await mutex.acquire();
  try {
    writer.run('begin immediate', []);
    await work();
    writer.run('commit', []);
  } catch (error) {
    // SQLite may have rolled back by itself.
    if (writer.inTransaction()) writer.run('rollback', []);
    throw error;
  } finally {
    release();
  }
}

function sqliteDriver(handles: SqliteHandles, scopes: Scopes): Driver {
  const finish = async (connection: DatabaseConnection, command: 'commit' | 'rollback') => {
    const { release } = connection as Connection;
    try {
      // When the disk is full SQLite rolls back by itself. A second rollback would fail and hide
      // that error.
      if (command === 'commit' || handles.writer.inTransaction()) handles.writer.exec(command);
    } finally {
      (connection as Connection).release = null;
      release?.();
    }
  };
  const savepoint = (command: string) => async (connection: DatabaseConnection, name: string) => {
    await connection.executeQuery(CompiledQuery.raw(`${command} ${quotedName(name)}`));
  };
  return {
    init: async () => {},
    acquireConnection: async () => {
      const joined = scopes.current();
      if (joined) return new JoinedConnection(handles, joined);
      connect(handles, scopes.beginning());
      return new Connection(handles);
    },
    beginTransaction: async (connection) => {
      const release = await handles.mutex.acquire();
      try {
        handles.writer.exec('begin immediate');
        (connection as Connection).release = release;
      } catch (error) {
        release();
        throw error;
      }
    },
    commitTransaction: (connection) => finish(connection, 'commit'),
    rollbackTransaction: (connection) => finish(connection, 'rollback'),
    savepoint: savepoint('savepoint'),
    rollbackToSavepoint: savepoint('rollback to'),
    releaseSavepoint: savepoint('release'),
    releaseConnection: async () => {},
    destroy: async () => {
      handles.reader.close();
      if (handles.writer !== handles.reader) handles.writer.close();
    },
  };
}
