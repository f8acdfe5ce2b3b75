import type { LogEvent } from 'kysely';
import type { Query, Store } from './store.ts';

/** Is called with each statement that has run, its parameters and its milliseconds. */
export type NoteStatement = (sql: string, parameters: readonly unknown[], ms: number) => void;

/** What Kysely calls after each statement of its builder. */
export const kyselyLog =
  (note: NoteStatement) =>
  ({ query, queryDurationMillis }: LogEvent): void =>
    note(query.sql, query.parameters, queryDurationMillis);

/**
 * The store with a note of each statement that does not go through Kysely, which has a log of its
 * own. Made only where statements are logged, so that other servers measure nothing.
 */
export function notingStore(store: Store, note: NoteStatement): Store {
  const measure = <T>(sql: string, parameters: readonly unknown[], run: () => T): T => {
    const begun = performance.now();
    const done = () => note(sql, parameters, performance.now() - begun);
    const result = run();
    if (result instanceof Promise) result.then(done, done);
    else done();
    return result;
  };
  const { valueNow, writeTogether } = store;
  return {
    ...store,
    query: (sql, parameters) => measure(sql, parameters, () => store.query(sql, parameters)),
    answer: (statement, parameters, bounds) =>
      measure(statement.text, parameters, () => store.answer(statement, parameters, bounds)),
    answerRows: (statement, parameters, bounds) =>
      measure(statement.text, parameters, () => store.answerRows(statement, parameters, bounds)),
    valueNow: valueNow && ((sql, values) => measure(sql, values, () => valueNow(sql, values))),
    valueLater: (sql, values) => measure(sql, values, () => store.valueLater(sql, values)),
    writeTogether:
      writeTogether && ((sql, values) => measure(sql, values, () => writeTogether(sql, values))),
    transact: (work, bounds) =>
      store.transact((query) => work(notingQuery(query, measure)), bounds),
  };
}

type MeasuredStatement = <T>(sql: string, parameters: readonly unknown[], run: () => T) => T;

const notingQuery =
  (query: Query, measure: MeasuredStatement): Query =>
  (sql, parameters, bounds) =>
    measure(sql, parameters, () => query(sql, parameters, bounds));
