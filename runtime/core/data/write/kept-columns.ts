import type { Column } from '@twofold/schema';
import { uuid7 } from '../../store/uuid7.ts';
import type { Cell } from '../sql/cells.ts';
import { sql } from '../sql/fragment.ts';
import { columnName } from '../sql/scope.ts';
import type { EntityModel } from '../model.ts';
import type { Writer } from './writing.ts';

/** Fills in times and defaults of a new row. */
export function fill(
  { now, rules: { caller } }: Writer,
  values: Map<string, unknown>,
  column: Column,
): void {
  if (column.readOnly) return;
  if (column.stamp || column.default?.kind === 'now')
    values.set(column.name, currentTime(column, now));
  else if (column.default?.kind === 'caller' && caller !== null) values.set(column.name, caller);
  else if (column.default?.kind === 'value') values.set(column.name, column.default.value);
  else if (column.default?.kind === 'uuid') values.set(column.name, uuid7(now));
}

export function currentTime(column: Column, now: number): string {
  const text = new Date(now).toISOString();
  if (column.type === 'date') return text.slice(0, 10);
  return column.type === 'time' ? text.slice(11, 19) : text;
}

/** The column that counts the updates of a row: `@version`. */
export const versionColumn = ({ entity }: EntityModel): Column | undefined =>
  entity.columns.find(({ version }) => version);

/** One more than before, in an update. */
export function nextVersion(entity: EntityModel, { name }: Column): Cell {
  const column = columnName(entity, name);
  return { column, value: sql`${column} + 1` };
}
