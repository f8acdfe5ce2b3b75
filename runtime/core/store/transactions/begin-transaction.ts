import type { Kysely, Transaction, TransactionBuilder } from 'kysely';
import { AppError } from '../../errors.ts';
import { afterOthers, Attempts, turnAgain } from './attempts.ts';
import type { Dialect, TransactionOptions } from '../store.ts';
import type { Pace } from './pace.ts';
import type { IsolationLevel } from '../../context/isolation.ts';
import { isSerializationFailure, withReason } from './transaction-failures.ts';
import type { Hold, Opening, Scopes, TransactionScope } from './transaction-scope.ts';

type Builder = Pick<TransactionBuilder<any>, 'execute' | 'setIsolationLevel'>;

/** How to begin a transaction when none is running. */
export interface Beginning<Begins extends Builder = Builder> extends Omit<
  TransactionOptions,
  'isolation'
> {
  readonly isolation?: string | undefined;
  readonly db: Kysely<any>;
  readonly scopes: Scopes;
  readonly dialect: Dialect;
  readonly builder: Begins;
  /** Begins a transaction without the query builder, which takes less time. */
  readonly begin?: (hold: Hold, pace: Pace | undefined) => Promise<void>;
}

/** Adds the options of one transaction. */
export function beginningWith<B extends Beginning>(beginning: B, options: TransactionOptions): B {
  const { isolation = options.usual } = options;
  return {
    ...beginning,
    ...options,
    ...(isolation &&
      beginning.dialect === 'postgres' && {
        builder: beginning.builder.setIsolationLevel(isolation),
      }),
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
): T | Promise<T> {
  const { scopes } = beginning;
  const open = scopes.current();
  if (open) return open.nested(async () => work());
  const begin = beginOf(beginning);
  const attempts = attemptsOf(beginning);
  const attempt = (opening: Opening) => scopes.openLater(opening, begin, work);
  const done = attempt(attempts.opening);
  if (!(done instanceof Promise)) return done;
  return done.catch((error: unknown) => again(beginning, { attempts, attempt, error }));
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

function attemptsOf(beginning: Beginning): Attempts {
  const asked = isolationOf(beginning) ?? beginning.usual;
  return new Attempts({ ...beginning, isolation: asked ?? DEFAULT_ISOLATION[beginning.dialect] });
}

async function retried<T>(
  beginning: Beginning,
  attempt: (opening: Opening) => Promise<T>,
): Promise<T> {
  const attempts = attemptsOf(beginning);
  if (beginning.retries) await afterOthers(beginning.scopes, beginning.opened);
  return attempt(attempts.opening).catch((error: unknown) =>
    again(beginning, { attempts, attempt, error }),
  );
}

interface Failed<T> {
  readonly attempts: Attempts;
  readonly attempt: (opening: Opening) => T | Promise<T>;
  readonly error: unknown;
}

async function again<T>(
  { scopes, opened }: Beginning,
  { attempts, attempt, error }: Failed<T>,
): Promise<T> {
  if (!attempts.repeats(error)) throw withReason(error);
  let release: (() => void) | undefined;
  try {
    for (;;) {
      release ??= await turnAgain(scopes, opened);
      await attempts.next();
      try {
        return await attempt(attempts.opening);
      } catch (failed) {
        if (!attempts.repeats(failed)) throw withReason(failed);
      }
    }
  } finally {
    release?.();
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
