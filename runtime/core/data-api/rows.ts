import type { Entity } from '@twofold/schema';
import { type Access, callerId, type Rules } from '../data/access.ts';
import { decodeRow, propertyOf, type EntityModel } from '../data/model.ts';
import { ROW_KEY } from '../data/scope.ts';
import type { RequestContext } from '../context/request-context.ts';

export type Row = Record<string, unknown>;

/** For whom rows are shown. */
export interface Showing {
  readonly entity: EntityModel;
  readonly rules: Rules;
  readonly context: RequestContext;
}

/** The row of the text that the reader returns. */
export function rowOf(text: string | null, showing: Showing): Row | null {
  return text === null ? null : shown(JSON.parse(text)[ROW_KEY], showing);
}

/** The rows of such a text of a list. */
export const rowsOf = (text: string | null, showing: Showing): Row[] =>
  text === null ? [] : JSON.parse(text).map((item: Row) => shown(item[ROW_KEY], showing));

/** The row without the fields that the caller may not read. */
function shown(stored: any, { entity, rules, context }: Showing): Row {
  const row = decodeRow(entity, stored);
  const caller = callerId(context.principal);
  const hidden = ruled(entity).filter(({ field }) => {
    const access = rules.field(entity.entity, field, 'READ');
    return access.kind !== 'all' && !owns(access, { entity, row, caller });
  });
  // Only now, because a hidden column may say who the owner is.
  for (const { property } of hidden) delete row[property];
  return row;
}

interface Owned {
  readonly entity: EntityModel;
  readonly row: Row;
  readonly caller: number | string | null;
}

const owns = (access: Access, { entity, row, caller }: Owned) =>
  access.kind === 'owner' &&
  caller !== null &&
  access.columns.some(
    (column) => String(row[propertyOf(entity, entity.column(column))]) === String(caller),
  );

interface Ruled {
  readonly field: Entity['fields'][number];
  readonly property: string;
}

const RULED = new WeakMap<EntityModel, readonly Ruled[]>();

/** The fields with rules whose values are in the row. */
function ruled(entity: EntityModel): readonly Ruled[] {
  const known = RULED.get(entity);
  if (known) return known;
  const found = entity.entity.fields.flatMap((field): Ruled[] => {
    const { source } = field;
    const column =
      source.kind === 'column' || (source.kind === 'one' && source.key === 'own')
        ? source.column
        : undefined;
    return field.rules.length === 0 || column === undefined
      ? []
      : [{ field, property: propertyOf(entity, entity.column(column)) }];
  });
  RULED.set(entity, found);
  return found;
}
