import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { Filter, FilterOperator, FilterShape } from '../model.ts';
import { aggregateFilter } from './aggregate-filter.ts';
import type { EntityFact } from './facts.ts';
import { OPERATORS } from './filter-words.ts';
import { columnNames, namedColumn, takes } from './named-columns.ts';
import { isRefusal } from './shapes.ts';
import type { NamedColumn, Refusal, Shapes } from './shapes.ts';

const QUANTIFIERS = ['some', 'every', 'none'] as const;

/**
 * How a `where` input becomes a condition on an entity, or why it cannot be inferred.
 *
 * @example
 * filterShape(shapes, 'PostFilter', post) // { id: 'PostFilter', entity: 'Post', filters: [{ kind: 'equals', name: 'status', … }] }
 */
export function filterShape(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
): FilterShape | Refusal {
  const present = shapes.filters.get(name);
  if (present && present.entity !== entity.name)
    return {
      why: `${name} filters ${present.entity} elsewhere, and here it would filter ${entity.name}`,
    };
  const refused = shapes.refused.get(name);
  if (refused) return refused;
  if (present) return present;
  const type = shapes.facts.schema.getType(name);
  if (!isInputObjectType(type)) return { why: `${name} is no input type` };
  return fillShape(shapes, type, entity);
}

/**
 * The shape is registered before it is complete, because filters contain themselves through `and`
 * and through relations.
 */
function fillShape(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
): FilterShape | Refusal {
  const filters: Filter[] = [];
  const shape: FilterShape = { id: type.name, entity: entity.name, filters };
  shapes.filters.set(type.name, shape);
  for (const field of Object.values(type.getFields())) {
    const filter = filterOf(shapes, type, field, entity);
    if (!isRefusal(filter)) filters.push(filter);
    else if (!shapes.refused.has(type.name)) shapes.refused.set(type.name, filter);
  }
  return shapes.refused.get(type.name) ?? shape;
}

function filterOf(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  entity: EntityFact,
): Filter | Refusal {
  const { name } = field;
  const logic = /^(?:and|or|not)$/i.test(name) && getNamedType(field.type) === type;
  if (logic) return { kind: name.toLowerCase() as 'and' | 'or' | 'not', name };
  const relation = relationFilter(shapes, field, entity);
  if (relation) return relation;
  const counted = aggregateFilter(entity.fields.get(name), field, `${type.name}.${name}`);
  if (counted) return counted;
  const column = namedColumn(shapes, entity, name);
  if (column && !column.json) return columnFilter(shapes, type, field, column);
  const fix = didYouMean(name, columnNames(shapes, entity));
  return {
    why: `${type.name}.${name} is no field of ${entity.name} that can be compared`,
    ...(fix && { fix }),
  };
}

function columnFilter(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  column: NamedColumn,
): Filter | Refusal {
  const named = getNamedType(field.type);
  const place = `${type.name}.${field.name}`;
  if (isListType(getNullableType(field.type)))
    return { why: `${place} is a list; write an input with "in" for it` };
  if (!isInputObjectType(named)) {
    return takes(shapes, column, named.name)
      ? { kind: 'equals', name: field.name, column: column.column }
      : { why: `${place} is ${named.name}, and the field is ${column.scalar}` };
  }
  const operators = Object.keys(named.getFields());
  const unknown = operators.find((operator) => !OPERATORS.includes(operator as FilterOperator));
  if (unknown === undefined)
    return {
      kind: 'operators',
      name: field.name,
      column: column.column,
      operators: operators as FilterOperator[],
    };
  const fix = didYouMean(unknown, OPERATORS);
  return {
    why: `${named.name}.${unknown} is no comparison we know: ${OPERATORS.join(' ')}`,
    ...(fix && { fix }),
  };
}

/** `author: UserFilter`, and `posts: PostListFilter` with `some`, `every` and `none`. */
function relationFilter(
  shapes: Shapes,
  field: GraphQLInputField,
  entity: EntityFact,
): Filter | Refusal | undefined {
  const end = entity.fields.get(field.name);
  const link = end && shapes.links.byField.get(end);
  const input = getNamedType(field.type);
  const target = link && shapes.facts.entities.get(link.entity);
  if (!end || !target || !isInputObjectType(input) || isListType(getNullableType(field.type)))
    return undefined;
  const inner = Object.keys(input.getFields());
  if (!isMany(shapes, end.name, entity)) {
    if (inner.every((name) => OPERATORS.includes(name as FilterOperator))) return undefined;
    const shape = filterShape(shapes, input.name, target);
    return isRefusal(shape)
      ? shape
      : { kind: 'one', name: field.name, field: end.name, shape: shape.id };
  }
  return manyFilter(shapes, field.name, input, target);
}

function isMany(shapes: Shapes, name: string, entity: EntityFact): boolean {
  const field = entity.fields.get(name);
  return (
    field !== undefined &&
    (field.type.list || shapes.facts.types.get(field.named.name)?.role === 'connection')
  );
}

function manyFilter(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  target: EntityFact,
): Filter | Refusal {
  const fields = Object.values(input.getFields());
  const quantifiers = QUANTIFIERS.filter((word) => input.getFields()[word]);
  const inner = new Set(fields.map((field) => getNamedType(field.type).name));
  const [only] = inner;
  if (quantifiers.length !== fields.length || inner.size !== 1 || only === undefined)
    return { why: `${input.name} has to have some, every or none, of one input type` };
  const shape = filterShape(shapes, only, target);
  return isRefusal(shape)
    ? shape
    : { kind: 'many', name, field: name, quantifiers, shape: shape.id };
}
