import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, type Transaction } from 'kysely';
import { AppError } from '../../errors.ts';
import { type AnswerMemory, createAnswerMemory } from '../answer-memory.ts';
import {
  beginIfNeededOrJoin,
  beginLaterOrJoin,
  beginningWith,
  beginOrJoin,
} from '../transactions/begin-transaction.ts';
import { firstOf, joiningDatabase, joiningStore } from '../transactions/joining.ts';
import { reentrant } from '../transactions/reentrant-lock.ts';
import { createMutex, type Mutex } from '../transactions/semaphore.ts';
import { sharedReads, type SharedReads } from './shared-reads.ts';
import { sharedWrites } from './shared-writes.ts';
import { fileAnswers, INLINE, memoryAnswers, type SqliteAnswers } from './sqlite-answers.ts';
import { openSqlite, type SqliteConnection } from './sqlite-connection.ts';
import { beginDirectly, runAlone, sqliteDialect, type SqliteHandles } from './sqlite-dialect.ts';
import { sqliteThreads } from './sqlite-threads.ts';
import { createTransact, type Transact } from './sqlite-transact.ts';
import type { PostgresOptions } from '../postgres/postgres-store.ts';
import { ownTransactions } from '../own-transaction.ts';
import type { Connections, Store } from '../store.ts';
import { kyselyLog } from '../statement-log.ts';
import { createScopes } from '../transactions/transaction-scope.ts';

/** The most long statements that run at a time. */
const THREADS = Math.max(2, Math.min(4, availableParallelism()));

/** Opens the embedded database in `file`, or in memory. Missing folders are created. */
export function sqliteStore(
  file: string,
  options: Pick<PostgresOptions, 'own' | 'note' | 'foreign' | 'readOnly'> = {},
): Store {
  const { note, foreign, readOnly } = options;
  const own = ownTransactions(options.own);
  const memory = createAnswerMemory();
  const opened = openHandles(file, { memory, foreign, readOnly });
  const { handles, shared, answers, transact, close } = opened;
  const writes = sharedWrites(handles.writer, handles.mutex);
  const scopes = createScopes();
  const plain = new Kysely<any>({
    dialect: sqliteDialect(handles, scopes),
    ...(note && { log: kyselyLog(note) }),
  });
  const builder = plain.transaction();
  const db = joiningDatabase(plain, { scopes, dialect: 'sqlite', timeout: own.timeout });
  const begin = beginDirectly(handles, scopes, writes);
  const beginning = { db, scopes, dialect: 'sqlite', builder, begin } as const;
  return joiningStore(
    {
      dialect: 'sqlite',
      db,
      own,
      transaction: (work, options = {}) => beginOrJoin(beginningWith(beginning, options), work),
      transactionLater: (work, options = {}) =>
        beginLaterOrJoin(beginningWith(beginning, options), work),
      transactionIfNeeded: (work, options = {}) =>
        beginIfNeededOrJoin(beginningWith(beginning, options), work),
      transact: (work, bounds) => transact(bounds, work),
      structuralTransaction: (work) =>
        withoutForeignKeys(handles, () => beginOrJoin(beginning, checked(handles, work))),
      query: async (sql, parameters) => (await runAlone(handles, sql, parameters)).rows as never,
      valueLater: async (sql, parameters) =>
        firstOf((await runAlone(handles, sql, parameters)).rows) as string | null,
      ...answers,
      memory,
      connections: () => connectionsOf(handles.mutex, opened.connections()),
      // In memory there is one handle, on which another transaction may be open.
      ...(shared && {
        valueNow: shared.value,
        readTogether: shared.together,
      }),
      writeOne: (sql, parameters) => writes.write(sql, parameters),
      lock: reentrant((name, work) => withFileLock(file, name, work)),
      tryLock: (name) => tryFileLock(file, name),
      close: async () => {
        writes.flush();
        shared?.renew();
        await close();
        await db.destroy();
      },
    },
    scopes,
  );
}

interface Opening {
  readonly memory: AnswerMemory;
  readonly foreign: boolean | undefined;
  readonly readOnly: boolean | undefined;
}

interface Opened {
  readonly handles: SqliteHandles;
  readonly answers: SqliteAnswers;
  readonly transact: Transact;
  /** Undefined in memory. */
  readonly shared: SharedReads | undefined;
  /** Connections other than the writer. */
  connections(): Connections;
  /** Closes everything except the handles. */
  close(): Promise<void>;
}

function openHandles(file: string, opening: Opening): Opened {
  const mutex = createMutex();
  if (file !== MEMORY) return openFile(file, mutex, opening);
  const one = openSqlite(file);
  return {
    handles: { reader: one, writer: one, mutex },
    answers: memoryAnswers(one, mutex, opening.memory),
    transact: createTransact({ writer: one, mutex }),
    shared: undefined,
    connections: () => ({ used: 0, idle: 0, waiting: 0 }),
    close: async () => {},
  };
}

/**
 * Opens three connections in this thread: for answers, which have limits, for reads of the
 * project's own code, and for all writes.
 */
function openFile(file: string, mutex: Mutex, opening: Opening): Opened {
  const { memory, foreign, readOnly = false } = opening;
  if (!readOnly) mkdirSync(dirname(file), { recursive: true });
  const writer = openSqlite(file, { foreign, readOnly });
  const reader = openSqlite(file, { foreign, readOnly });
  const answering = openSqlite(file, { foreign, readOnly });
  answering.bound(INLINE);
  const shared = sharedReads(answering);
  const threads = sqliteThreads({ file, most: THREADS, memory });
  const apart = sqliteThreads({ file, most: 1, memory, writes: !readOnly });
  const handles = { reader, writer: renewing(writer, shared), mutex };
  return {
    handles,
    transact: createTransact({ ...handles, apart, renew: shared.renew }),
    answers: fileAnswers({ reader: answering, shared, threads }),
    shared,
    // The two readers answer at once, so that nothing is seen while they are used.
    connections: () =>
      sumOf([{ used: 0, idle: 2, waiting: 0 }, threads.connections(), apart.connections()]),
    close: async () => {
      await threads.close();
      await apart.close();
      answering.close();
    },
  };
}

const sumOf = (all: readonly Connections[]): Connections => ({
  used: all.reduce((sum, { used }) => sum + used, 0),
  idle: all.reduce((sum, { idle }) => sum + idle, 0),
  waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
});

/** Together with the writer, which a transaction holds. */
const connectionsOf = ({ held, waiting }: Mutex, others: Connections): Connections =>
  sumOf([others, { used: Number(held), idle: Number(!held), waiting }]);

/** Wraps the writer so that the next read sees what it wrote. */
function renewing(writer: SqliteConnection, { renew }: SharedReads): SqliteConnection {
  return {
    ...writer,
    run: (sql, parameters) => {
      renew();
      return writer.run(sql, parameters);
    },
    exec: (sql) => {
      renew();
      writer.exec(sql);
    },
  };
}

/**
 * Rebuilding a table drops it, and a drop with enforced foreign keys deletes rows that refer to it.
 * Enforcement can only be switched outside a transaction, so it is off during all of this one, and
 * the keys are checked before the commit. See "Making Other Kinds Of Table Schema Changes" in
 * SQLite's ALTER TABLE documentation.
 */
async function withoutForeignKeys<T>(handles: SqliteHandles, work: () => Promise<T>): Promise<T> {
  const release = await handles.mutex.acquire();
  try {
    handles.writer.exec('pragma foreign_keys = off');
  } finally {
    release();
  }
  try {
    return await work();
  } finally {
    const again = await handles.mutex.acquire();
    handles.writer.exec('pragma foreign_keys = on');
    handles.writer.forget();
    handles.reader.forget();
    again();
  }
}

type Work<T> = (trx: Transaction<any>) => Promise<T>;

const checked =
  <T>(handles: SqliteHandles, work: Work<T>): Work<T> =>
  async (trx) => {
    const result = await work(trx);
    assertForeignKeys(handles);
    return result;
  };

function assertForeignKeys(handles: SqliteHandles): void {
  const { rows } = handles.writer.run('pragma foreign_key_check', []);
  const [first] = rows;
  if (!first) return;
  const { table, parent } = first;
  const keys = rows.slice(0, 5).map(({ rowid }) => String(rowid));
  throw new AppError(
    500,
    'ROWS_IN_THE_WAY',
    `${rows.length} rows would refer to rows that are not there: of ${table}, to ${parent} (rowid ${keys.join(', ')})\n   fix  remove those rows, or make the field optional and empty it, and try again\nNothing was changed.`,
    { extensions: { object: table, atRisk: rows.length, keys } },
  );
}

/** The name of a database that only one process can see. */
const MEMORY = ':memory:';

/**
 * Across processes, a lock is SQLite's own on a file beside the database: it is released when the
 * process ends in any way.
 */
async function withFileLock<T>(file: string, name: string, work: () => Promise<T>): Promise<T> {
  if (file === MEMORY) return work();
  const lock = open(file, name);
  try {
    while (!take(lock)) await sleep(25);
    return await work();
  } finally {
    lock.close();
  }
}

/** Takes the lock if it is free. @returns what releases it; null when another holder has it. */
function tryFileLock(file: string, name: string): (() => void) | null {
  if (file === MEMORY) return () => {};
  const lock = open(file, name);
  if (take(lock)) return () => lock.close();
  lock.close();
  return null;
}

const open = (file: string, name: string) =>
  new DatabaseSync(`${file}.${name.replaceAll(/[^a-z0-9-]/gi, '-')}.lock`, { timeout: 0 });

function take(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return false;
    throw error;
  }
}
