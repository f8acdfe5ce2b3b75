import type { Column, Field, FilterOperator } from '@twofold/schema';
import type { EntityModel, Model } from '../data/model.ts';
import { propertyOf } from '../data/model.ts';

/** A member of `data` or `where` that is one column. */
export interface ColumnMember {
  readonly name: string;
  readonly column: Column;
  /** The GraphQL type of its values, without the last `!`. */
  readonly type: string;
}

/** The members of an entity that are columns: its fields, and the keys of its relations. */
export function columnMembers(entity: EntityModel): readonly ColumnMember[] {
  return entity.entity.columns.map((column) => ({
    name: propertyOf(entity, column),
    column,
    type: typeOf(entity, column),
  }));
}

function typeOf(entity: EntityModel, column: Column): string {
  const field = column.field === undefined ? undefined : entity.fields.get(column.field);
  if (field?.source.kind === 'column') return nullable(field);
  if (column.type === 'id') return 'ID';
  return column.list ? `[${column.scalar}]` : column.scalar;
}

const nullable = ({ type }: Field) => type.text.replace(/!$/, '');

const EQUALITY: readonly FilterOperator[] = ['eq', 'ne', 'in', 'notIn', 'isNull'];
const ORDER: readonly FilterOperator[] = ['lt', 'lte', 'gt', 'gte'];
const TEXT: readonly FilterOperator[] = ['contains', 'startsWith', 'endsWith'];

/** The operators of a filter over a column; none over JSON and bytes. */
export function operatorsOf({ type, list }: Column): readonly FilterOperator[] {
  if (list || type === 'json' || type === 'bytes') return ['isNull'];
  if (type === 'boolean' || type === 'id' || type === 'uuid') return EQUALITY;
  return type === 'text' ? [...EQUALITY, ...ORDER, ...TEXT] : [...EQUALITY, ...ORDER];
}

/** The sets of columns that identify at most one row. */
export function uniqueKeys({ entity }: EntityModel): readonly (readonly string[])[] {
  return [
    ['id'],
    ...entity.columns.filter(({ unique }) => unique).map(({ name }) => [name]),
    ...entity.indexes.filter(({ unique, fold }) => unique && !fold).map(({ columns }) => columns),
  ];
}

/** The entities that a relation leads to, with what one more relation needs. */
export const relationsOf = ({ fields }: EntityModel, { entities }: Model) =>
  [...fields.values()].flatMap((field) => {
    const { source } = field;
    return (source.kind === 'one' || source.kind === 'many') && entities.has(source.entity)
      ? [{ field, source }]
      : [];
  });
