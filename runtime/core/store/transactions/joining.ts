import type { Kysely, TransactionBuilder } from 'kysely';
import { InternalError } from '../../errors.ts';
import { runAfterCommit } from './after-commit.ts';
import { beginOrJoin, type Beginning } from './begin-transaction.ts';
import { type Bounds, forWriting, unwanted } from '../bounds.ts';
import type { Dialect, Query, Store } from '../store.ts';
import type { Scopes, TransactionScope } from './transaction-scope.ts';

export interface JoiningParts {
  readonly scopes: Scopes;
  readonly dialect: Dialect;
  /** Milliseconds that a transaction of the query builder may stay open. */
  readonly timeout: number;
}

/**
 * Wraps a query builder so that `transaction()` joins the running transaction as a savepoint, if
 * there is one. Builders derived from it (`withSchema`, `withPlugin` …) do so too.
 */
export function joiningDatabase(db: Kysely<any>, parts: JoiningParts): Kysely<any> {
  const { scopes, dialect, timeout } = parts;
  const joined = (made: Kysely<any>) => joiningDatabase(made, parts);
  const { transaction, withSchema, withPlugin, withoutPlugins, withTables } = bound(db);
  return Object.assign(db, {
    transaction: () => joiningBuilder({ db, scopes, dialect, builder: transaction(), timeout }),
    startTransaction: refuseControlled,
    withSchema: (schema: string) => joined(withSchema(schema)),
    withPlugin: (plugin: Parameters<Kysely<any>['withPlugin']>[0]) => joined(withPlugin(plugin)),
    withoutPlugins: () => joined(withoutPlugins()),
    withTables: () => joined(withTables()),
  });
}

function bound(db: Kysely<any>) {
  return {
    transaction: db.transaction.bind(db),
    withSchema: db.withSchema.bind(db),
    withPlugin: db.withPlugin.bind(db),
    withoutPlugins: db.withoutPlugins.bind(db),
    withTables: db.withTables.bind(db),
  };
}

/** Refuses a controlled transaction: it has no callback, so no other code could take part in it. */
function refuseControlled(): never {
  throw new InternalError(
    'startTransaction() is not offered: use transaction().execute(async (trx) => { … })',
  );
}

function joiningBuilder(beginning: Beginning<TransactionBuilder<any>>): TransactionBuilder<any> {
  const { builder } = beginning;
  const configured = (next: Partial<Beginning<TransactionBuilder<any>>>) =>
    joiningBuilder({ ...beginning, ...next });
  return {
    setIsolationLevel: (isolation) =>
      configured({ builder: builder.setIsolationLevel(isolation), isolation }),
    setAccessMode: (mode) => configured({ builder: builder.setAccessMode(mode) }),
    execute: (work) => beginOrJoin(beginning, work),
  } as TransactionBuilder<any>;
}

/** Wraps a store so that its statements and transactions join the running one. */
export function joiningStore(
  store: Omit<Store, 'afterCommit' | 'keep' | 'untouched' | 'scope'>,
  scopes: Scopes,
): Store {
  return {
    ...store,
    query: ((sql, parameters, bounds) => {
      const scope = scopes.current();
      return scope
        ? statement(scope)(sql, parameters, bounds)
        : store.query(sql, parameters, bounds);
    }) as Store['query'],
    valueLater: (sql, parameters) => {
      const scope = scopes.current();
      if (!scope) return store.valueLater(sql, parameters);
      return statement(scope)(sql, parameters).then((rows) => firstOf(rows) as string | null);
    },
    answer: (read, parameters, bounds) => {
      const scope = scopes.current();
      return scope
        ? statement(scope)(read.text, parameters, bounds).then(firstOf)
        : store.answer(read, parameters, bounds);
    },
    answerRows: (read, parameters, bounds) => {
      const scope = scopes.current();
      return scope
        ? statement(scope)(read.text, parameters, bounds)
        : store.answerRows(read, parameters, bounds);
    },
    transact: (work, bounds, known) => {
      const scope = scopes.current();
      if (!scope) return store.transact(work, bounds);
      const query = innermost(scopes, bounds && forWriting(bounds));
      // A statement outside of a savepoint that fails would end the whole transaction in
      // PostgreSQL.
      if (known?.single && store.dialect === 'sqlite') return work(query);
      return scope.nested(() => work(query));
    },
    structuralTransaction: (work) => {
      if (scopes.current())
        throw new InternalError('tables cannot be changed inside a transaction');
      return store.structuralTransaction(work);
    },
    ...(store.valueNow && { valueNow: joiningValue(store.valueNow, scopes) }),
    ...(store.writeOne && {
      // Undefined inside a transaction. The caller then uses `transact`, which joins the
      // transaction.
      writeOne: (sql, parameters, asker) =>
        scopes.current() ? undefined : store.writeOne?.(sql, parameters, asker),
    }),
    afterCommit: (work) => {
      const scope = scopes.current();
      const following = () => runAfterCommit(work);
      if (scope) scope.afterCommit(following);
      else following();
    },
    get untouched() {
      return scopes.current()?.untouched ?? true;
    },
    scope: scopes.current,
    keep: (work) => {
      const scope = scopes.current();
      return scope ? scope.keep(work) : work();
    },
  };
}

const statement =
  (scope: TransactionScope): Query =>
  async (sql, parameters, bounds) => {
    await scope.ready();
    if (bounds?.asker.cancelled) throw unwanted();
    return scope.connection.run(sql, parameters, bounds);
  };

/** The first column of the first row; null when there is none. */
export const firstOf = ([row]: readonly Record<string, unknown>[]): unknown =>
  (row && Object.values(row)[0]) ?? null;

/**
 * Runs a statement in the current savepoint, which may be deeper than the one where the work began.
 *
 * @param writing the bounds of statements that have none of their own.
 */
const innermost =
  (scopes: Scopes, writing: Bounds | undefined): Query =>
  async (sql, parameters, bounds = writing) => {
    const scope = scopes.current();
    if (!scope) throw new InternalError('a statement of a transaction was run outside of it');
    return statement(scope)(sql, parameters, bounds);
  };

function joiningValue(
  value: NonNullable<Store['valueNow']>,
  scopes: Scopes,
): NonNullable<Store['valueNow']> {
  return (sql, parameters) => {
    const scope = scopes.current();
    // A transaction that has not begun has written nothing.
    return scope?.connected ? scope.connection.valueNow?.(sql, parameters) : value(sql, parameters);
  };
}
