import type { Column, Field, FilterOperator, FilterWord } from '@twofold/schema';
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

const EQUALITY: readonly FilterWord[] = ['eq', 'ne', 'in', 'notIn', 'isNull'];
const ORDER: readonly FilterOperator[] = ['lt', 'lte', 'gt', 'gte'];
const TEXT: readonly FilterWord[] = ['contains', 'startsWith', 'endsWith', 'mode'];
const LIST: readonly FilterWord[] = ['eq', 'ne', 'has', 'hasSome', 'hasEvery', 'isEmpty', 'isNull'];
const JSON_WORDS: readonly FilterWord[] = [...new Set([...EQUALITY, ...ORDER, ...TEXT, ...LIST])];

/** The operators for `count`. */
export const COUNT: readonly FilterOperator[] = ['eq', 'ne', 'in', 'notIn', ...ORDER];

/** The operators for a field with `@exists`. */
export const EXISTENCE: readonly FilterOperator[] = ['eq', 'ne'];

/**
 * Whether a member of an input over JSON is an operator. Otherwise it is a key of the JSON that is
 * compared.
 */
export const isWord = (name: string): boolean =>
  name === 'path' || JSON_WORDS.some((word) => word === name);

/** The operators for a column. Objects and bytes can only be tested for being null. */
export function operatorsOf(
  { type, list, field, parts }: Column,
  isObject: boolean,
): readonly FilterWord[] {
  if (list) return isObject ? ['isNull'] : LIST;
  if (type === 'bytes' || isObject) return ['isNull'];
  if (type === 'json') return field === undefined ? ['isNull'] : [...JSON_WORDS, 'path'];
  if (type === 'boolean' || parts) return EQUALITY;
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

/** The fields with `@count` and `@exists`. */
export const talliesOf = ({ fields }: EntityModel) =>
  [...fields.values()].flatMap(({ name, source }) =>
    source.kind === 'tally' ? [{ name, of: source.of }] : [],
  );

/** The relations of an entity to other entities of the model. */
export const relationsOf = ({ fields }: EntityModel, { entities }: Model) =>
  [...fields.values()].flatMap((field) => {
    const { source } = field;
    return (source.kind === 'one' || source.kind === 'many') && entities.has(source.entity)
      ? [{ field, source }]
      : [];
  });
