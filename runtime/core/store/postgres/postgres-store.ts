import { Kysely, PostgresDialect, PostgresIntrospector, sql, type TableMetadata } from 'kysely';
import type { Logger } from '../../config/log.ts';
import { type OwnSettings, ownTransactions } from '../own-transaction.ts';
import { kyselyLog, type NoteStatement } from '../statement-log.ts';
import type { Store } from '../store.ts';
import {
  beginIfNeededOrJoin,
  beginLaterOrJoin,
  beginningWith,
  beginOrJoin,
  repeated,
} from '../transactions/begin-transaction.ts';
import { joiningDatabase, joiningStore } from '../transactions/joining.ts';
import { reentrant } from '../transactions/reentrant-lock.ts';
import { createScopes } from '../transactions/transaction-scope.ts';
import { addressOf } from './address.ts';
import { answersOf } from './answers.ts';
import { betweenServers } from './between-servers.ts';
import { joiningPool } from './joining-pool.ts';
import { reached } from './losses.ts';
import { describePool, openPool, type PoolerMode } from './pool.ts';
import { ReadReplicas } from './read-replicas.ts';
import { ask, partsOf, transact } from './statements.ts';

/** The most connections of a process, one of which listens and holds locks. */
const CONNECTIONS = 6;

/** A schema change that waits for a lock delays every later query, so its wait is limited. */
const LOCK_TIMEOUT = '5s';
const UNLIMITED =
  'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/** Milliseconds that a replica may be behind. */
const MAX_LAG = 10_000;

export interface PostgresOptions {
  readonly own?: OwnSettings | undefined;
  /** The most connections, one of which listens and holds locks. */
  readonly connections?: number | undefined;
  /** See `PoolerMode`. */
  readonly pooler?: PoolerMode | undefined;
  /** The same database without a pooler. */
  readonly direct?: string | undefined;
  /** What PostgreSQL shows as the name of the program. */
  readonly application?: string | undefined;
  readonly log?: Logger | undefined;
  /** Called with each statement that has run. */
  readonly note?: NoteStatement | undefined;
  /**
   * Whether another program owns the database. A SQLite file must then exist, and keeps its journal
   * mode.
   */
  readonly foreign?: boolean | undefined;
  /** Addresses of read replicas, and how many milliseconds behind they may be. */
  readonly replicas?: readonly string[] | undefined;
  readonly maxLag?: number | undefined;
  /** Whether every statement that writes is refused: a SQLite file must be there. */
  readonly readOnly?: boolean | undefined;
  /** See `PoolOptions`. */
  readonly unlimited?: boolean | undefined;
  readonly makesSchema?: boolean | undefined;
}

/** Opens PostgreSQL at `url`. Connections are made on first use and then reused. */
export function postgresStore(url: string, options: PostgresOptions = {}): Store {
  const { application = 'twofold', note } = options;
  const own = ownTransactions(options.own);
  const max = Math.max(1, (options.connections ?? CONNECTIONS) - 1);
  const open = (address: string, most: number) =>
    partsOf(openPool(address, { ...options, max: most, application }), most);
  const parts = open(url, max);
  const { pool, statements, abandoned } = parts;
  const scopes = createScopes();
  const { presence } = statements;
  const joining = joiningPool({ pool, presence, scopes, abandoned });
  const dialect = new PostgresDialect({ pool: joining });
  const { schema } = addressOf(url);
  if (schema !== undefined) dialect.createIntrospector = (of) => new SchemaIntrospector(of, schema);
  const plain = new Kysely<any>({ dialect, ...(note && { log: kyselyLog(note) }) });
  const builder = plain.transaction();
  const db = joiningDatabase(plain, { scopes, dialect: 'postgres', timeout: own.timeout });
  const beginning = { db, scopes, dialect: 'postgres', builder } as const;
  const between = betweenServers({ ...options, statements, url, application });
  const { query, textOf } = parts;
  const { replicas: urls = [], maxLag = MAX_LAG, log } = options;
  const replicas =
    urls.length > 0
      ? new ReadReplicas({ primary: parts, urls, open: (at) => open(at, max + 1), maxLag, log })
      : undefined;
  const transaction: Store['transaction'] = (work, options = {}) =>
    beginOrJoin(beginningWith(beginning, options), work);
  return joiningStore(
    {
      dialect: 'postgres',
      db,
      own,
      transaction,
      transactionLater: (work, options = {}) =>
        beginLaterOrJoin(beginningWith(beginning, options), work),
      transactionIfNeeded: (work, options = {}) =>
        beginIfNeededOrJoin(beginningWith(beginning, options), work),
      transact: (work, bounds) =>
        repeated(() => reached(() => transact(parts, work, bounds), bounds?.asker)),
      writeOne: (text, values, asker) =>
        repeated(() => reached(() => ask(parts, { text, values, asker }, 'unknown'), asker)),
      structuralTransaction: (work) =>
        transaction(async (trx) => {
          await sql.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'; ${UNLIMITED}`).execute(trx);
          return work(trx);
        }),
      query: ((text, values, bounds) => query(text, values, bounds?.asker)) as Store['query'],
      valueLater: (sql, values) => textOf(sql, values) as Promise<string | null>,
      ...answersOf(parts, max, replicas),
      describe: () => describePool(statements),
      replicas,
      lock: reentrant(between.lock),
      listen: between.listen,
      notify: between.notify,
      isLost: () => presence.lost,
      close: async () => {
        presence.close();
        await replicas?.close();
        await between.close();
        await db.destroy();
      },
    },
    scopes,
  );
}

/** The tables of one schema, where those of others are of other projects. */
class SchemaIntrospector extends PostgresIntrospector {
  readonly #schema: string;

  constructor(db: Kysely<any>, schema: string) {
    super(db);
    this.#schema = schema;
  }

  override async getTables(): Promise<TableMetadata[]> {
    return (await super.getTables()).filter(({ schema }) => schema === this.#schema);
  }
}
