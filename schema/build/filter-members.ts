import { getNamedType, type GraphQLInputField, type GraphQLInputObjectType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { Filter, FilterShape } from '../model.ts';
import { wordsRefusal } from './comparison-input.ts';
import { knownWord, LOGICAL } from './filter-words.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';

/**
 * The shape is registered before it is complete, because filters contain themselves through `and`
 * and through relations.
 *
 * @param of the entity, or the object without a table, that the filter is about.
 */
export function fillShape(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  of: string,
  read: (field: GraphQLInputField) => Filter | Refusal,
): FilterShape | Refusal {
  const filters: Filter[] = [];
  const shape: FilterShape = { id: type.name, entity: of, filters };
  shapes.filters.set(type.name, shape);
  const refusals: Refusal[] = [];
  for (const field of Object.values(type.getFields())) {
    const filter = read(field);
    if (isRefusal(filter)) refusals.push(filter);
    else filters.push(filter);
  }
  const refusal = joined(refusals);
  if (refusal) shapes.refused.set(type.name, refusal);
  return refusal ?? shape;
}

/** The first refusal, with the unknown operators of all refusals. */
function joined(refusals: readonly Refusal[]): Refusal | undefined {
  const words = [...new Set(refusals.flatMap((each) => each.words ?? []))];
  const first = refusals.find((each) => each.words) ?? refusals[0];
  return first && { ...first, ...(words.length > 0 && { words }) };
}

/** Members that every filter input may have, whatever it filters. */
export function commonFilter(
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
): Filter | undefined {
  const { name } = field;
  const named = getNamedType(field.type);
  const logical = LOGICAL.find((word) => word === name);
  if (logical && named === type) return { kind: logical, name };
  return name === 'isNull' && named.name === 'Boolean' ? { kind: 'isNull', name } : undefined;
}

/** The refusal of a member that is neither a field nor an operator. */
export function unknownMember(
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
  of: string,
): Refusal {
  const { name } = field;
  const place = `${type.name}.${name}`;
  if (knownWord(name) !== undefined) return wordsRefusal(type, [field]);
  const fix = didYouMean(name, known);
  return { why: `${place} is no field of ${of} that can be compared`, ...(fix && { fix }) };
}
