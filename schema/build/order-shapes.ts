import { getNamedType, isEnumType, isInputObjectType } from 'graphql';
import type { GraphQLEnumType, GraphQLInputObjectType, GraphQLNamedType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { OrderShape } from '../model.ts';
import { snakeCase } from '../names.ts';
import type { EntityFact } from './facts.ts';
import { columnNames, namedColumn } from './named-columns.ts';
import { isRefusal } from './shapes.ts';
import type { Refusal, Shapes } from './shapes.ts';

/**
 * How an `orderBy` input or enum becomes an order, or why it cannot be inferred.
 *
 * @example
 * orderShape(shapes, 'PostOrder', post) // { id: 'PostOrder', entity: 'Post', form: { kind: 'enum', values: […] } }
 */
export function orderShape(shapes: Shapes, name: string, entity: EntityFact): OrderShape | Refusal {
  const present = shapes.orders.get(name);
  if (present)
    return present.entity === entity.name
      ? present
      : {
          why: `${name} orders ${present.entity} elsewhere, and here it would order ${entity.name}`,
        };
  const form = orderForm(shapes, shapes.facts.schema.getType(name), entity);
  if (isRefusal(form)) return form;
  const shape = { id: name, entity: entity.name, form };
  shapes.orders.set(name, shape);
  return shape;
}

type Form = OrderShape['form'];

function orderForm(
  shapes: Shapes,
  type: GraphQLNamedType | undefined,
  entity: EntityFact,
): Form | Refusal {
  if (isEnumType(type)) return enumForm(shapes, type, entity);
  if (!isInputObjectType(type))
    return { why: `${type?.name} is neither an enum nor an input type` };
  return pairForm(shapes, type, entity) ?? fieldsForm(shapes, type, entity);
}

/** `NAME_ASC`, `createdAt_DESC`, `nameDesc`; a value without a direction is ascending. */
function enumForm(shapes: Shapes, type: GraphQLEnumType, entity: EntityFact): Form | Refusal {
  const values: { value: string; column: string; descending: boolean }[] = [];
  for (const { name } of type.getValues()) {
    const [, stem = name, direction] = /^(.+?)(?:_(asc|desc)|(Asc|Desc))$/i.exec(name) ?? [];
    const suffix = direction ?? (/(Asc|Desc)$/.exec(name)?.[1] || 'asc');
    const column = columnForWord(shapes, entity, stem) ?? columnForWord(shapes, entity, name);
    if (!column) return unknownWord(shapes, entity, `${type.name}.${name}`, stem);
    values.push({ value: name, column, descending: suffix.toLowerCase() === 'desc' });
  }
  return { kind: 'enum', values };
}

/** `CREATED_AT` and `createdAt` mean the field `createdAt`. */
function columnForWord(shapes: Shapes, entity: EntityFact, word: string): string | undefined {
  const snake = snakeCase(word === word.toUpperCase() ? word.toLowerCase() : word);
  const exact = namedColumn(shapes, entity, word);
  const field = exact
    ? undefined
    : columnNames(shapes, entity).find((name) => snakeCase(name) === snake);
  const column = exact ?? (field === undefined ? undefined : namedColumn(shapes, entity, field));
  return column && !column.json ? column.column : undefined;
}

/** `{ field: PostOrderField!, direction: SortDirection }` */
function pairForm(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
): Form | Refusal | undefined {
  const fields = Object.values(type.getFields());
  const by = fields.find(({ name }) => name === 'field' || name === 'by');
  const named = by && getNamedType(by.type);
  if (!by || !isEnumType(named) || fields.length > 2) return undefined;
  const direction = fields.find((field) => field !== by);
  if (direction && !isDirection(getNamedType(direction.type))) return undefined;
  const values: { value: string; column: string }[] = [];
  for (const { name } of named.getValues()) {
    const column = columnForWord(shapes, entity, name);
    if (!column) return unknownWord(shapes, entity, `${named.name}.${name}`, name);
    values.push({ value: name, column });
  }
  return { kind: 'pair', field: by.name, ...(direction && { direction: direction.name }), values };
}

/** `{ name: SortDirection, createdAt: SortDirection }` */
function fieldsForm(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
): Form | Refusal {
  const fields: { name: string; column: string }[] = [];
  for (const field of Object.values(type.getFields())) {
    if (!isDirection(getNamedType(field.type)))
      return { why: `${type.name}.${field.name} has to be an enum of ASC and DESC` };
    const column = columnForWord(shapes, entity, field.name);
    if (!column) return unknownWord(shapes, entity, `${type.name}.${field.name}`, field.name);
    fields.push({ name: field.name, column });
  }
  return { kind: 'fields', fields };
}

function isDirection(type: GraphQLNamedType): boolean {
  if (!isEnumType(type)) return false;
  const words = new Set(type.getValues().map((value) => value.name.toUpperCase()));
  return words.has('ASC') && words.has('DESC') && words.size === 2;
}

function unknownWord(shapes: Shapes, entity: EntityFact, place: string, word: string): Refusal {
  const fix = didYouMean(word, columnNames(shapes, entity));
  return {
    why: `${place} names no field of ${entity.name} that can be sorted`,
    ...(fix && { fix }),
  };
}
