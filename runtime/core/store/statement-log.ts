import type { LogEvent } from 'kysely';
import { CHANGE_COUNTER } from './change-counter.ts';
import type { Query, Store } from './store.ts';

/** Is called with each statement that has run, its parameters, its milliseconds and its error. */
export type NoteStatement = (
  sql: string,
  parameters: readonly unknown[],
  ms: number,
  error?: unknown,
) => void;

/** Joins several functions into one; undefined when there is none. */
export function noteAll(notes: readonly (NoteStatement | undefined)[]): NoteStatement | undefined {
  const present = notes.filter((note) => note !== undefined);
  if (present.length < 2) return present[0];
  return (...statement) => {
    for (const note of present) note(...statement);
  };
}

/** What Kysely calls after each statement of its builder. */
export const kyselyLog =
  (note: NoteStatement) =>
  ({ query, queryDurationMillis, ...event }: LogEvent): void =>
    note(
      query.sql,
      query.parameters,
      queryDurationMillis,
      event.level === 'error' ? event.error : undefined,
    );

/**
 * A store that reports each statement that does not go through Kysely, which has a log of its own.
 * It is only made where statements are logged, so that other servers measure nothing.
 */
export function notingStore(store: Store, note: NoteStatement): Store {
  const measure = <T>(sql: string, parameters: readonly unknown[], run: () => T): T => {
    const begun = performance.now();
    const done = (error?: unknown) => note(sql, parameters, performance.now() - begun, error);
    try {
      const result = run();
      if (result instanceof Promise) result.then(() => done(), done);
      else done();
      return result;
    } catch (error) {
      done(error);
      throw error;
    }
  };
  const { valueNow, writeOne } = store;
  // Some members are getters, which a spread would read only once.
  return Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(store)), {
    query: (sql, parameters, bounds) =>
      measure(sql, parameters, () => store.query(sql, parameters, bounds)),
    answer: (statement, parameters, bounds) =>
      measure(statement.text, parameters, () => store.answer(statement, parameters, bounds)),
    answerRows: (statement, parameters, bounds) =>
      measure(statement.text, parameters, () => store.answerRows(statement, parameters, bounds)),
    ...(valueNow && {
      valueNow: (sql, values) =>
        sql === CHANGE_COUNTER
          ? valueNow(sql, values)
          : measure(sql, values, () => valueNow(sql, values)),
    }),
    valueLater: (sql, values) => measure(sql, values, () => store.valueLater(sql, values)),
    ...(writeOne && { writeOne: notingWrites(writeOne, note) }),
    transact: (work, bounds, known) =>
      store.transact((query) => work(notingQuery(query, measure)), bounds, known),
  } satisfies Partial<Store>) as Store;
}

/**
 * Also reports writes that share a commit. A write that would have to wait is not run; its caller
 * runs it in another way.
 */
function notingWrites(
  write: NonNullable<Store['writeOne']>,
  note: NoteStatement,
): NonNullable<Store['writeOne']> {
  return (sql, parameters, asker) => {
    const begun = performance.now();
    const done = (error?: unknown) => note(sql, parameters, performance.now() - begun, error);
    const rows = write(sql, parameters, asker);
    rows?.then(() => done(), done);
    return rows;
  };
}

type MeasuredStatement = <T>(sql: string, parameters: readonly unknown[], run: () => T) => T;

const notingQuery =
  (query: Query, measure: MeasuredStatement): Query =>
  (sql, parameters, bounds) =>
    measure(sql, parameters, () => query(sql, parameters, bounds));
