import { first } from '../present.ts';
import { getNullableType, isInputObjectType } from 'graphql';
import type { GraphQLInputObjectType, GraphQLType } from 'graphql';
import type { RowKey } from '../model.ts';
import type { EntityFact } from './facts.ts';
import { namesKey } from './keys.ts';
import { namedColumn, takes } from './named-columns.ts';
import type { Shapes } from './shapes.ts';

/** An argument or a field of an input. */
export interface Named {
  readonly name: string;
  readonly type: GraphQLType;
}

/**
 * The unique keys of an entity, each as its columns: `id`, the columns of a key of several, unique
 * columns and unique indexes.
 *
 * @example uniqueKeys(shapes, article) // [['id'], ['slug'], ['author_id', 'number']]
 */
export function uniqueKeys(shapes: Shapes, entity: EntityFact): string[][] {
  const columns = shapes.columns.get(entity.name) ?? [];
  const indexes = entity.directives.indexes.flatMap(({ unique, fields }) => {
    const named = fields.map((field) => namedColumn(shapes, entity, field)?.column);
    return unique && named.every((column) => column !== undefined) ? [named as string[]] : [];
  });
  const parts = columns.find(({ name }) => name === 'id')?.parts ?? [];
  return [
    ['id'],
    ...(parts.length > 1 ? [[...parts]] : []),
    ...columns.filter(({ unique }) => unique).map(({ name }) => [name]),
    ...indexes,
  ];
}

/** The column that an argument of a key names, when its type fits. */
function columnOf(shapes: Shapes, entity: EntityFact, { name, type }: Named): string | undefined {
  const isId = namesKey(name, entity) && !entity.fields.has(name);
  const column = namedColumn(shapes, entity, isId ? 'id' : name);
  const given = String(getNullableType(type));
  return column && !column.json && takes(shapes, column, given) ? column.column : undefined;
}

/**
 * The unique keys that these arguments can give, each as argument → column.
 *
 * @param prefix of the names in the result: `where.`
 */
export function keysAmong(
  shapes: Shapes,
  entity: EntityFact,
  given: readonly Named[],
  prefix = '',
): RowKey {
  const named = given.map((each) => ({ name: each.name, column: columnOf(shapes, entity, each) }));
  return uniqueKeys(shapes, entity).flatMap((key) => {
    const parts = key.map((column) => named.find((each) => each.column === column));
    return parts.every((part) => part !== undefined)
      ? [Object.fromEntries(parts.map((part) => [prefix + part!.name, part!.column!]))]
      : [];
  });
}

/** The key of an input such as `ArticleKey`: undefined if a field of it is part of no key. */
export function keyOfInput(
  shapes: Shapes,
  entity: EntityFact,
  type: GraphQLType,
  prefix = '',
): RowKey | undefined {
  const input = getNullableType(type);
  if (!isInputObjectType(input)) return undefined;
  const fields = fieldsOf(input);
  const keys = keysAmong(shapes, entity, fields, prefix);
  const keyFields = new Set(keys.flatMap((key) => Object.keys(key)));
  return keys.length > 0 && keyFields.size === fields.length ? keys : undefined;
}

const fieldsOf = (input: GraphQLInputObjectType): Named[] =>
  Object.values(input.getFields()).map(({ name, type }) => ({ name, type }));

/** Whether a key is the id alone, which is the usual one. */
export const isById = (key: RowKey): boolean =>
  key.length === 1 && Object.values(first(key)).join() === 'id';

/** The columns of all keys. */
export const columnsOf = (key: RowKey): string[] => key.flatMap((each) => Object.values(each));
