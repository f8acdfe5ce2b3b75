import type { Kysely, Transaction, TransactionBuilder } from 'kysely';
import { AppError } from '../../errors.ts';
import { createMutex, type Mutex } from './semaphore.ts';
import type { Dialect, TransactionOptions } from '../store.ts';
import type { Pace } from './pace.ts';
import type { IsolationLevel } from '../../context/isolation.ts';
import type { Hold, Opening, Scopes, TransactionScope } from './transaction-scope.ts';

type Builder = Pick<TransactionBuilder<any>, 'execute' | 'setIsolationLevel'>;

/** How to begin a transaction when none is running. */
export interface Beginning<Begins extends Builder = Builder> {
  readonly db: Kysely<any>;
  readonly scopes: Scopes;
  readonly dialect: Dialect;
  readonly builder: Begins;
  /** Begins a transaction without the query builder, which takes less time. */
  readonly begin?: (hold: Hold, pace: Pace | undefined) => Promise<void>;
  readonly pace?: Pace | undefined;
  /** See `TransactionOptions.opened`. */
  readonly opened?: string | undefined;
  /** Milliseconds; unlimited when absent. */
  readonly timeout?: number | undefined;
  /** The isolation level; that of the database when absent. */
  readonly isolation?: string | undefined;
  /** How often it is run again after a serialization failure; never when absent. */
  readonly retries?: number | undefined;
}

/** Adds the options of one transaction. */
export function beginningWith<B extends Beginning>(beginning: B, options: TransactionOptions): B {
  const { isolation } = options;
  return {
    ...beginning,
    ...options,
    ...(isolation && { builder: beginning.builder.setIsolationLevel(isolation) }),
  };
}

/** Runs `work` in a new transaction, or in a savepoint of the running one. */
export async function beginOrJoin<T>(
  beginning: Beginning,
  work: (trx: Transaction<any>) => Promise<T>,
): Promise<T> {
  const { db, scopes, builder } = beginning;
  const open = scopes.current();
  if (open) {
    assertIsolated(open, beginning);
    return open.nested(() => work(db as Transaction<any>));
  }
  return retried(beginning, (opening) =>
    scopes.open(opening, (bounded) => builder.execute((trx) => bounded(() => work(trx)))),
  );
}

/**
 * Runs `work` in a transaction that begins with the first statement of `work`, or in the running
 * one.
 */
export async function beginLaterOrJoin<T>(
  beginning: Beginning,
  work: () => Promise<T>,
): Promise<T> {
  const { scopes } = beginning;
  const open = scopes.current();
  if (open) {
    assertIsolated(open, beginning);
    return open.nested(work);
  }
  const begin = beginOf(beginning);
  return retried(beginning, async (opening) => scopes.openLater(opening, begin, work));
}

/** The same for work that may finish without waiting, see `Store.transactionIfNeeded`. */
export function beginIfNeededOrJoin<T>(
  beginning: Beginning,
  work: () => T | Promise<T>,
  { retries = 0, timeout, opened }: TransactionOptions = {},
): T | Promise<T> {
  const { scopes, dialect } = beginning;
  const open = scopes.current();
  if (open) return open.nested(async () => work());
  const begin = beginOf(beginning);
  const isolation = DEFAULT_ISOLATION[dialect];
  const attempt = (repeats: Repeats) =>
    scopes.openLater({ timeout, opened, isolation, repeats }, begin, work);
  const fails = (error: unknown) => retries > 0 && isSerializationFailure(error);
  const done = attempt(fails);
  if (!(done instanceof Promise)) return done;
  return done.catch((error: unknown) => {
    if (!fails(error)) throw withReason(error);
    return again({ ...beginning, retries }, async (repeats) => attempt(repeats));
  });
}

const beginOf =
  ({ begin, builder, pace }: Beginning) =>
  (hold: Hold) =>
    begin ? begin(hold, pace) : builder.execute(hold);

/**
 * The isolation levels of the databases. SQLite has one writer at a time, so its transactions are
 * serializable.
 */
const DEFAULT_ISOLATION: Readonly<Record<Dialect, IsolationLevel>> = {
  sqlite: 'serializable',
  postgres: 'read committed',
};

const LEVELS = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];
const strictness = (isolation: string) => LEVELS.indexOf(isolation.replace('snapshot', LEVELS[2]!));

const isolationOf = ({ dialect, isolation }: Beginning) =>
  (dialect === 'sqlite' ? DEFAULT_ISOLATION.sqlite : isolation) as IsolationLevel | undefined;

function assertIsolated(open: TransactionScope, beginning: Beginning): void {
  const wanted = isolationOf(beginning);
  if (wanted === undefined || strictness(wanted) <= strictness(open.isolation)) return;
  throw new AppError(
    500,
    'TRANSACTION_ISOLATION',
    `A nested transaction asks for ${wanted}, and the one around it is ${open.isolation}: ask for ${wanted} there`,
  );
}

/**
 * A lock that a repeated transaction holds. New transactions wait for it, so that it does not fail
 * again.
 */
const RETRYING = new WeakMap<Scopes, Mutex>();

/** See `Opening.repeats`. */
type Repeats = (error: unknown) => boolean;

async function retried<T>(
  beginning: Beginning,
  attempt: (opening: Opening) => Promise<T>,
): Promise<T> {
  const { scopes, retries = 0, timeout, opened, dialect } = beginning;
  const isolation = isolationOf(beginning) ?? DEFAULT_ISOLATION[dialect];
  const mutex = RETRYING.get(scopes);
  if (retries > 0 && mutex?.held) (await mutex.acquire())();
  const fails = (error: unknown) => retries > 0 && isSerializationFailure(error);
  try {
    return await attempt({ timeout, opened, isolation, repeats: fails });
  } catch (error) {
    if (!fails(error)) throw withReason(error);
    return again(beginning, (repeats) => attempt({ timeout, opened, isolation, repeats }));
  }
}

async function again<T>(
  { scopes, retries = 0 }: Beginning,
  attempt: (repeats: Repeats) => Promise<T>,
): Promise<T> {
  const mutex = RETRYING.get(scopes) ?? createMutex();
  RETRYING.set(scopes, mutex);
  const release = await mutex.acquire();
  try {
    for (let left = retries; ; left -= 1) {
      const repeats = (error: unknown) => left > 1 && isSerializationFailure(error);
      try {
        return await attempt(repeats);
      } catch (error) {
        if (left <= 1 || !isSerializationFailure(error)) throw withReason(error);
      }
    }
  } finally {
    release();
  }
}

const RETRIES = 3;

/** Runs a transaction that only the server's own code takes part in again when it failed so. */
export async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = RETRIES; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0 || !isSerializationFailure(error)) throw withReason(error);
    }
  }
}

/** `serialization_failure` and `deadlock_detected`, see PostgreSQL's appendix "Error Codes". */
const CODES: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/** Whether the same work may succeed when it is run again. */
function isSerializationFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, severity, cause } = error as { code?: unknown; severity?: string; cause?: unknown };
  return (severity !== undefined && CODES.has(code)) || isSerializationFailure(cause);
}

/** What a caller sees of a transaction that is not run again: a failure of the database has a reason. */
const withReason = (error: unknown) =>
  error instanceof AppError || !isSerializationFailure(error)
    ? error
    : new AppError(409, 'CONFLICT', 'Other changes were made at the same time: try again', {
        cause: error,
        extensions: { reason: 'SERIALIZATION' },
      });
