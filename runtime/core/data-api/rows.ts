import { parseExact } from '../data/sql/exact-json.ts';
import type { Column, Entity, Field } from '@twofold/schema';
import type { Rules } from '../data/access/access.ts';
import { decodeRow, propertyOf, type EntityModel } from '../data/model.ts';
import type { Planned } from '../data/plan.ts';
import { ROW_KEY } from '../data/sql/scope.ts';

export type Row = Record<string, unknown>;

/**
 * The fields with rules, as the reader has to read them. A field that the caller may read only in
 * some rows is read with its conditions. A field that they may read in no row is refused.
 */
export function ruledFields(entity: EntityModel, rules: Rules): Planned[] {
  return ruled(entity).flatMap(({ field, column }): Planned[] => {
    const access = rules.field(entity.entity, field, 'READ');
    const key = propertyOf(entity, column);
    if (access.kind === 'all') return [];
    if (access.kind === 'none') return [{ kind: 'refused', key, code: access.code }];
    return [{ kind: 'column', key, column: column.name, only: access.conditions }];
  });
}

/** What is needed to turn the reader's texts into rows. */
export interface RowReading {
  readonly entity: EntityModel;
  /** See `Reader.marker`. */
  readonly marker: string;
}

export const rowOf = (text: string | null, reading: RowReading): Row | null =>
  text === null ? null : shown(parseExact(text), reading);

/** Parses the text of a list into rows. */
export const rowsOf = (text: string | null, reading: RowReading): Row[] =>
  text === null ? [] : parseExact(text).map((item: Row) => shown(item, reading));

/** The row without the fields that the caller may not read. */
function shown({ [ROW_KEY]: stored, ...ruledValues }: any, { entity, marker }: RowReading): Row {
  const row = decodeRow(entity, stored);
  for (const [property, value] of Object.entries(ruledValues))
    if (typeof value === 'object' && value !== null && marker in value) delete row[property];
  return row;
}

interface Ruled {
  readonly field: Field;
  readonly column: Column;
}

const RULED = new WeakMap<Entity, readonly Ruled[]>();

/** The fields of the entity that have rules and are stored in columns. */
function ruled({ entity, columns }: EntityModel): readonly Ruled[] {
  const known = RULED.get(entity);
  if (known) return known;
  const found = entity.fields.flatMap((field): Ruled[] => {
    const { source } = field;
    const shownColumn =
      source.kind === 'column' || (source.kind === 'one' && source.key === 'own')
        ? columns.get(source.column)
        : undefined;
    return field.rules.length > 0 && shownColumn ? [{ field, column: shownColumn }] : [];
  });
  RULED.set(entity, found);
  return found;
}
