import { joinSql, sql, type Parameter, type Sql } from './fragment.ts';
import type { EntityModel, Model } from '../model.ts';
import { columnName } from './scope.ts';
import { stored } from './stored-as.ts';
import type { Stored } from './values.ts';

/** One column of a writing statement, with its value. */
export interface Cell {
  /** Its name in the database, quoted. */
  readonly column: string;
  readonly value: Sql;
}

/** The parameter that holds the value of a column. */
export type ParameterOf = (column: string, as: Stored) => Parameter;

/**
 * The columns and values that a statement writes. A composite key is written to each of its
 * columns, and replaces other values for them.
 *
 * @example cellsOf(model, city, ['region_id'], parameter) // "country" = ?, "region_code" = ?
 */
export function cellsOf(
  model: Model,
  entity: EntityModel,
  columns: readonly string[],
  parameterOf: ParameterOf,
): Cell[] {
  const wholeFirst = columns.toSorted(
    (a, b) => entity.partsOf(b).length - entity.partsOf(a).length,
  );
  const cells = new Map<string, Cell>();
  for (const column of wholeFirst) {
    const parts = entity.partsOf(column);
    const as = stored(model, entity, column);
    const values = as.parts ?? [as];
    parts.forEach((part, index) => {
      const name = columnName(entity, part);
      if (!cells.has(name))
        cells.set(name, { column: name, value: [parameterOf(column, values[index]!)] });
    });
  }
  return [...cells.values()];
}

/** `("title", "views") values (?, ?)` */
export const rowSql = (cells: readonly Cell[]): Sql =>
  sql`(${cells.map(({ column }) => column).join(', ')}) values (${joinSql(
    cells.map(({ value }) => value),
    ', ',
  )})`;

/** The assignments of an update: `"title" = ?, "views" = ?`. */
export const assignedSql = (cells: readonly Cell[]): Sql =>
  joinSql(
    cells.map(({ column, value }) => sql`${column} = ${value}`),
    ', ',
  );
