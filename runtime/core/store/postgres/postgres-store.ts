import { availableParallelism } from 'node:os';
import { Kysely, PostgresDialect, PostgresIntrospector, sql, type TableMetadata } from 'kysely';
import type pg from 'pg';
import { type Abandoned, abandonedStatements } from './abandoned.ts';
import {
  beginIfNeededOrJoin,
  beginLaterOrJoin,
  beginningWith,
  beginOrJoin,
  repeated,
} from '../transactions/begin-transaction.ts';
import { joiningDatabase, joiningStore } from '../transactions/joining.ts';
import type { Logger } from '../../config/log.ts';
import type { JsonText } from '../large-text.ts';
import { addressOf } from './address.ts';
import { betweenServers } from './between-servers.ts';
import { driver, wireClass } from './wire.ts';
import { describePool, openPool, type PoolerMode, type StatementPool } from './pool.ts';
import { reentrant } from '../transactions/reentrant-lock.ts';
import { joiningPool } from './joining-pool.ts';
import { createStatementNames, type StatementNames } from './statement-names.ts';
import { type AnswerMemory, bytesOf, createAnswerMemory } from '../answer-memory.ts';
import { type Asker, type Bounds, type ReadStatement, unwanted } from '../bounds.ts';
import { createLongStatements, type LongStatements } from './long-statements.ts';
import { type OwnSettings, ownTransactions } from '../own-transaction.ts';
import type { Query, Store } from '../store.ts';
import { DatabaseLost, type LostOutcome } from '../unreachable.ts';
import { isRead, lossOf, reached } from './losses.ts';
import { createPipelines, isBroken, type Pipelines } from './pipelines.ts';
import { createScopes } from '../transactions/transaction-scope.ts';
import { kyselyLog, type NoteStatement } from '../statement-log.ts';
import { type Settle, ValueQuery } from './value-query.ts';

/** The most connections of a process, one of which listens and holds locks. */
const CONNECTIONS = 6;

/** A schema change that waits for a lock delays every later query, so its wait is limited. */
const LOCK_TIMEOUT = '5s';
const UNLIMITED =
  'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/**
 * The most connections for long statements; the others stay free for short ones. A database on this
 * machine has no more processors than the server, and one elsewhere keeps this one busy with answers.
 */
const LONG_CONNECTIONS = { slow: Math.min(4, Math.max(2, availableParallelism())), quick: 4 };

/** The most connections on which short statements follow each other: two do the work of eight. */
const PIPELINES = 2;

/** Bytes that are reserved for the answer of a short statement until its size is known. */
const SHORT_ANSWER_BYTES = 256 * 1024;

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
  const statements = openPool(url, { ...options, max, application });
  const { pool } = statements;
  const names = createStatementNames(undefined, () => statements.pooled);
  const abandoned = abandonedStatements(wireClass());
  const isSpent = (client: pg.PoolClient) => names.isWorn(client) || abandoned.isTold(client);
  const pipelines = createPipelines({ pool, names, abandoned, isSpent }, max < 4 ? 1 : PIPELINES);
  const parts: Parts = { pool, statements, names, abandoned, isSpent, pipelines };
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
  const { query, textOf } = statementsOf(parts);
  const answering = createAnswering(max);
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
      answer: (statement, values, bounds) =>
        inAnswerBounds(answering, statement, bounds, () =>
          textOf(statement.text, values, bounds, statement.long),
        ),
      answerRows: (statement, values, bounds) =>
        inAnswerBounds(answering, statement, bounds, () =>
          query(statement.text, values, bounds.asker),
        ),
      memory: answering.memory,
      describe: () => describePool(statements),
      connections: () => ({
        used: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount + answering.long.waiting,
      }),
      lock: reentrant(between.lock),
      listen: between.listen,
      notify: between.notify,
      isLost: () => presence.lost,
      close: async () => {
        presence.close();
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

/** Single statements: their rows, or the first column of the first row as text. */
function statementsOf(parts: Parts) {
  const { utils } = driver();
  const { presence } = parts.statements;
  const query = (text: string, values: readonly unknown[], asker?: Asker) =>
    reached(() => ask(parts, { text, values, asker }, isRead(text) ? undefined : 'unknown'), asker);
  const textOf = (text: string, values: readonly unknown[], bounds?: Bounds, long = false) => {
    const asked = {
      text,
      withoutJit: long && parts.statements.pooled,
      values: values.map((value) => utils.prepareValue(value)),
      asker: bounds?.asker,
      large: bounds?.large,
    };
    const run = () => (long ? askText : askBesideOthers)(parts, asked);
    const fail = async (error: unknown) => {
      throw await lossOf(presence, error, undefined);
    };
    return run().catch((error: unknown) => {
      // The first attempt has no more promises than it needs.
      let first: Promise<JsonText | null> | undefined = Promise.reject(error);
      return reached(() => {
        const attempt = first ?? run();
        first = undefined;
        return attempt.catch(fail);
      }, bounds?.asker);
    });
  };
  return { query, textOf };
}

/** The parts that all answering statements share. */
interface Answering {
  readonly memory: AnswerMemory;
  readonly long: LongStatements;
}

const createAnswering = (max: number): Answering => ({
  memory: createAnswerMemory(),
  long: createLongStatements({
    slow: Math.min(LONG_CONNECTIONS.slow, Math.max(1, max - 3)),
    quick: Math.min(LONG_CONNECTIONS.quick, Math.max(1, max - 1)),
  }),
});

type Answered = JsonText | null | readonly Record<string, unknown>[];

/** Reserves memory for the answer of a statement, and limits the connections of long ones. */
async function inAnswerBounds<T extends Answered>(
  { memory, long }: Answering,
  statement: ReadStatement,
  bounds: Bounds,
  run: () => Promise<T>,
): Promise<T> {
  const { limits } = bounds;
  const attempt = async () => {
    const kept = statement.long ? limits.result : Math.min(limits.result, SHORT_ANSWER_BYTES);
    const room = memory.take(bounds, kept);
    if (room) await room;
    let bytes = 0;
    try {
      const answer = await run();
      bytes = bytesOf(answer);
      return answer;
    } finally {
      memory.settle(bounds, kept, bytes);
    }
  };
  return statement.long ? long.run(statement.text, attempt) : attempt();
}

/** The parts that all statements of a store share. */
interface Parts {
  readonly pool: pg.Pool;
  readonly statements: StatementPool;
  readonly names: StatementNames;
  readonly abandoned: Abandoned;
  readonly isSpent: (client: pg.PoolClient) => boolean;
  readonly pipelines: Pipelines;
}

interface StatementCall {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly asker: Asker | undefined;
  readonly large?: boolean | undefined;
  readonly withoutJit?: boolean;
}

/** @param outcome what is known when the connection is lost. */
async function ask(parts: Parts, asked: StatementCall, outcome: LostOutcome | undefined) {
  const { presence } = parts.statements;
  let client: pg.PoolClient | undefined;
  let broken = false;
  try {
    client = await parts.pool.connect();
    return await run(parts, client, asked);
  } catch (error) {
    broken = isBroken(error);
    throw await lossOf(presence, error, outcome);
  } finally {
    client?.release(broken || parts.isSpent(client));
  }
}

/** Like `ask`, with one promise in place of five: five would cost as much as a small statement. */
function askText(parts: Parts, asked: StatementCall): Promise<JsonText | null> {
  const { text, values, asker, large, withoutJit } = asked;
  const { pool, names, abandoned, pipelines } = parts;
  return new Promise((resolve, reject) => {
    pool.connect((refused, client, release) => {
      if (!client) return reject(refused);
      if (asker?.cancelled) return reject((release(), unwanted()));
      const since = performance.now();
      const running = abandoned.began(client, asker);
      client.query(
        new ValueQuery(
          { name: names.nameOn(client, text), text, large, withoutJit },
          values,
          (error, value) => {
            abandoned.ended(running);
            pipelines.took(text, performance.now() - since);
            release((error !== undefined && isBroken(error)) || parts.isSpent(client));
            if (!error) resolve(value);
            else reject(isStale(parts, error, text) ? stale(error) : error);
          },
        ),
      );
    });
  });
}

/** Like `askText`, on a connection that statements of other requests use as well. */
function askBesideOthers(parts: Parts, asked: StatementCall): Promise<JsonText | null> {
  return new Promise((resolve, reject) => {
    const alone = () => resolve(askText(parts, asked));
    const settle: Settle = (error, value) => {
      if (!error) resolve(value);
      else reject(isStale(parts, error, asked.text) ? stale(error) : error);
    };
    if (!parts.pipelines.send({ ...asked, settle, alone })) alone();
  });
}

async function run(
  parts: Parts,
  client: pg.PoolClient,
  { text, values, asker }: StatementCall,
): Promise<readonly Record<string, unknown>[]> {
  const { names, abandoned } = parts;
  if (asker?.cancelled) throw unwanted();
  const name = names.nameOn(client, text);
  const running = abandoned.began(client, asker);
  try {
    return (
      await client.query({ ...(name !== undefined && { name }), text, values: values as unknown[] })
    ).rows;
  } catch (error) {
    throw isStale(parts, error, text) ? stale(error) : error;
  } finally {
    abandoned.ended(running);
  }
}

/** The statement was not run: only its plan is lost. */
const stale = (error: unknown) => new DatabaseLost('none', error, true);

async function transact<T>(
  parts: Parts,
  work: (query: Query) => Promise<T>,
  bounds: Bounds | undefined,
): Promise<T> {
  const { presence } = parts.statements;
  const failed = async (error: unknown, outcome: LostOutcome) => {
    throw await lossOf(presence, error, outcome);
  };
  const client = await parts.pool.connect().catch((error: unknown) => failed(error, 'none'));
  let broken = false;
  try {
    await client.query('begin');
    const result = await work((text, values) =>
      run(parts, client, { text, values, asker: bounds?.asker }),
    );
    await client.query('commit').catch((error: unknown) => failed(error, 'unknown'));
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true));
    return await failed(error, 'none');
  } finally {
    client.release(broken || parts.isSpent(client));
  }
}

/** PostgreSQL's codes of a name that it does not know, or that another one has. */
const OTHER_NAMES: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/**
 * Whether a statement may be repeated under a new name: a migration changed its result type, and
 * PostgreSQL refuses the old plan. A name that is lost or taken shows a pooler that looks like
 * PostgreSQL.
 */
function isStale({ names, statements }: Parts, error: unknown, text: string): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (OTHER_NAMES.has(code)) return statements.loseNames();
  if (code !== '0A000' || !message?.includes('cached plan')) return false;
  names.rename(text);
  return true;
}
