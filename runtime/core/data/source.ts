import type { Sql } from './fragment.ts';
import type { Selection } from './plan.ts';
import { reference, type Scope } from './scope.ts';

/** Where the columns of an object come from. */
export interface Source {
  /** Notes that the column is used, and gives its name in the query. */
  ref(column: string): string;
  /** Joins may be added to the query that the object stands in; absent where they may not. */
  readonly joins?: Sql[];
}

/** Writes an object of the answer. Lists are given it, because objects hold lists and lists hold objects. */
export type WriteObject = (selection: Selection, source: Source) => Sql;

/** Columns of one table of the query. */
export function tableSource(scope: Scope, alias: string, joins: Sql[]): Source {
  // SQLite is a third faster with a join; PostgreSQL may choose a plan for it that loses the order of the rows.
  return {
    ref: (column) => reference(alias, column),
    ...(scope.dialect === 'sqlite' && { joins }),
  };
}

/** Columns of an inner query, which has to select what is used. */
export function innerSource(scope: Scope, alias: string, used: Set<string>, joins: Sql[]): Source {
  const source = tableSource(scope, alias, joins);
  return { ...source, ref: (column) => (used.add(column), source.ref(column)) };
}
