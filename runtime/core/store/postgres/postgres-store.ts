import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
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
import { AppError } from '../../errors.ts';
import type { JsonText } from '../large-text.ts';
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
import { isNotYet, isUnsent } from '../unreachable.ts';
import { createScopes } from '../transactions/transaction-scope.ts';
import { kyselyLog, type NoteStatement } from '../statement-log.ts';
import { ValueQuery } from './value-query.ts';

/** The most connections of a process, one of which listens and holds locks. */
const CONNECTIONS = 6;

/** A schema change that waits for a lock delays every later query, so its wait is limited. */
const LOCK_TIMEOUT = '5s';

/**
 * The most connections for long statements; the others stay free for short ones. A database on this
 * machine has no more processors than the server, and one elsewhere keeps this one busy with answers.
 */
const LONG_CONNECTIONS = { slow: Math.min(4, Math.max(2, availableParallelism())), quick: 4 };

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
}

/** Opens PostgreSQL at `url`. Connections are made on first use and then reused. */
export function postgresStore(url: string, options: PostgresOptions = {}): Store {
  const { application = 'twofold', note } = options;
  const own = ownTransactions(options.own);
  const max = Math.max(1, (options.connections ?? CONNECTIONS) - 1);
  const statements = openPool(url, { ...options, max, application });
  const { pool } = statements;
  const parts: Parts = {
    pool,
    statements,
    names: createStatementNames(undefined, () => statements.pooled),
    abandoned: abandonedStatements(wireClass()),
  };
  const scopes = createScopes();
  const joining = joiningPool({ pool, scopes, abandoned: parts.abandoned });
  const dialect = new PostgresDialect({ pool: joining });
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
        repeated(() => reached(() => query(text, values, asker).catch(asCommit), asker)),
      structuralTransaction: (work) =>
        transaction(async (trx) => {
          await sql.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`).execute(trx);
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
          reached(() => query(statement.text, values, bounds.asker), bounds.asker),
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
      close: async () => {
        await between.close();
        await db.destroy();
      },
    },
    scopes,
  );
}

/** Single statements: their rows, or the first column of the first row as text. */
function statementsOf(parts: Parts) {
  const { utils } = driver();
  const query = (text: string, values: readonly unknown[], asker?: Asker) => {
    const run = () => ask(parts, { text, values, asker });
    return run().catch((error) => withFreshPlan(parts, error, text, run));
  };
  const textOf = (text: string, values: readonly unknown[], bounds?: Bounds, long = false) => {
    const asked = {
      text,
      withoutJit: long && parts.statements.pooled,
      values: values.map((value) => utils.prepareValue(value)),
      asker: bounds?.asker,
      large: bounds?.large,
    };
    const run = () => askText(parts, asked);
    return run().catch((error) =>
      isNotYet(error) ? reached(run, bounds?.asker) : withFreshPlan(parts, error, text, run),
    );
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
}

interface StatementCall {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly asker: Asker | undefined;
  readonly large?: boolean | undefined;
  readonly withoutJit?: boolean;
}

async function ask(parts: Parts, asked: StatementCall) {
  const client = await parts.pool.connect();
  let broken = false;
  try {
    return await run(parts, client, asked);
  } catch (error) {
    broken = isBroken(error);
    throw error;
  } finally {
    client.release(broken || isSpent(parts, client));
  }
}

/** An error that the database reports leaves the connection usable; any other one does not. */
const isBroken = (error: unknown) => (error as { severity?: string }).severity !== 'ERROR';

const isSpent = ({ names, abandoned }: Parts, client: pg.PoolClient) =>
  names.isWorn(client) || abandoned.isTold(client);

/** Like `ask`, with one promise in place of five: five would cost as much as a small statement. */
function askText(parts: Parts, asked: StatementCall): Promise<JsonText | null> {
  const { text, values, asker, large, withoutJit } = asked;
  const { pool, names, abandoned } = parts;
  return new Promise((resolve, reject) => {
    pool.connect((refused, client, release) => {
      if (!client) return reject(refused);
      if (asker?.cancelled) return reject((release(), unwanted()));
      const running = abandoned.began(client, asker);
      client.query(
        new ValueQuery(
          { name: names.nameOn(client, text), text, large, withoutJit },
          values,
          (error, value) => {
            abandoned.ended(running);
            release((error !== undefined && isBroken(error)) || isSpent(parts, client));
            if (error) reject(error);
            else resolve(value);
          },
        ),
      );
    });
  });
}

async function run(
  { names, abandoned }: Parts,
  client: pg.PoolClient,
  { text, values, asker }: StatementCall,
): Promise<readonly Record<string, unknown>[]> {
  if (asker?.cancelled) throw unwanted();
  const name = names.nameOn(client, text);
  const running = abandoned.began(client, asker);
  try {
    return (
      await client.query({ ...(name !== undefined && { name }), text, values: values as unknown[] })
    ).rows;
  } finally {
    abandoned.ended(running);
  }
}

async function transact<T>(
  parts: Parts,
  work: (query: Query) => Promise<T>,
  bounds: Bounds | undefined,
): Promise<T> {
  const client = await parts.pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work((text, values) =>
      run(parts, client, { text, values, asker: bounds?.asker }),
    );
    await client.query('commit').catch(asCommit);
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken || isSpent(parts, client));
  }
}

const BACK_WITHIN = 5_000;
const ASK_AGAIN = 100;
/** How often, because a statement may be what ends its connection. */
const MOST_LOST = 3;

/** Runs again, for five seconds, what a lost connection has ended before it changed anything. */
function reached<T>(run: () => Promise<T>, asker: Asker | undefined): Promise<T> {
  let until: number | undefined;
  let lost = 0;
  const again = async (error: unknown): Promise<T> => {
    if (!isNotYet(error) || asker?.cancelled) throw error;
    if (!isUnsent(error)) lost += 1;
    until ??= performance.now() + BACK_WITHIN;
    if (lost > MOST_LOST || performance.now() > until) throw unavailable('none', error);
    await pause(ASK_AGAIN);
    return run().catch(again);
  };
  return run().catch(again);
}

/** Whether a commit that was on its way has arrived is not known; without a connection it was not. */
function asCommit(error: { readonly code?: string }): never {
  throw isNotYet(error) && !isUnsent(error) ? unavailable('unknown', error) : error;
}

const unavailable = (outcome: 'none' | 'unknown', cause: unknown) =>
  new AppError(503, 'DATABASE_UNAVAILABLE', 'The database does not answer: try again', {
    cause,
    headers: { 'Retry-After': '1' },
    extensions: { outcome },
  });

/** PostgreSQL's codes of a name that it does not know, or that another one has. */
const OTHER_NAMES: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/**
 * Repeats a statement under a new name when a migration changed its result type, because PostgreSQL
 * then refuses the old plan. A name that is lost or taken shows a pooler that looks like PostgreSQL.
 */
function withFreshPlan<T>(
  { names, statements }: Parts,
  error: { readonly code?: string; readonly message?: string },
  text: string,
  run: () => Promise<T>,
): Promise<T> {
  if (OTHER_NAMES.has(error.code) && statements.loseNames()) return run();
  if (error.code !== '0A000' || !error.message?.includes('cached plan')) throw error;
  names.rename(text);
  return run();
}
