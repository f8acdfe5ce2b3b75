import type { Sql } from './fragment.ts';
import type { Selection } from '../plan.ts';
import type { EntityModel } from '../model.ts';
import { named, reference, rowOf, type Scope } from './scope.ts';

/** The table or the inner query whose columns an object shows. */
export interface Source {
  /** Notes that the column is used, and gives its name in the query. */
  ref(column: string): string;
  /** Joins that an object adds to its query; absent where it may not add any. */
  readonly joins?: Sql[];
}

/** Writes an object of the answer. Lists get it as a parameter, to avoid a cycle of imports. */
export type WriteObject = (selection: Selection, source: Source) => Sql;

/** Columns of one table of the query. */
export function tableSource(
  scope: Scope,
  entity: EntityModel,
  alias: string,
  joins: Sql[],
): Source {
  // SQLite is a third faster with a join. On PostgreSQL the plan of a join may lose the order of
  // the rows.
  return {
    ref: (column) => reference(entity, alias, column),
    ...(scope.dialect === 'sqlite' && { joins }),
  };
}

/**
 * Columns of an inner query, which has the names of the model. It must select every column that is
 * used.
 */
export function innerSource(
  scope: Scope,
  entity: EntityModel,
  {
    alias,
    used,
    joins,
  }: { readonly alias: string; readonly used: Set<string>; readonly joins: Sql[] },
): Source {
  const one = (column: string) => (used.add(column), named(alias, column));
  return {
    ref: (column) => rowOf(entity, column, one),
    ...(scope.dialect === 'sqlite' && { joins }),
  };
}
