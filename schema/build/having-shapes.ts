import { getNamedType, isInputObjectType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import { FIGURES, isFigure } from './aggregate-types.ts';
import { hasValue } from './aggregate-members.ts';
import { firstRefusal, memberRefusal, noneOf } from './aggregate-refusal.ts';
import type { EntityFact } from './facts.ts';
import { wordsOf, wordsRefusal } from './comparison-input.ts';
import { knownWord, LOGICAL } from './filter-words.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';

/** Why a `having` input cannot be used; undefined when it can. */
export function havingRefusal(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
): Refusal | undefined {
  const type = shapes.facts.schema.getType(name);
  if (!isInputObjectType(type)) return { why: `${name} is no input type` };
  return firstRefusal(Object.values(type.getFields()), (field) =>
    wordRefusal(shapes, type, field, entity),
  );
}

function wordRefusal(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  entity: EntityFact,
): Refusal | undefined {
  const { name } = field;
  const named = getNamedType(field.type);
  if (LOGICAL.some((word) => word === name) && named === type) return undefined;
  if (name === 'count') return operatorsRefusal(type, field);
  if (!isFigure(name)) return unknownWord(type, field, ['count', ...FIGURES, ...LOGICAL]);
  if (!isInputObjectType(named))
    return memberRefusal(
      field,
      `${type.name}.${name} has to be an input with fields of ${entity.name}`,
    );
  return firstRefusal(Object.values(named.getFields()), (each) =>
    hasValue(shapes, entity, each.name)
      ? operatorsRefusal(named, each)
      : unknownWord(named, each, [...entity.fields.keys()]),
  );
}

function operatorsRefusal(
  { name: owner }: GraphQLInputObjectType,
  field: GraphQLInputField,
): Refusal | undefined {
  const named = getNamedType(field.type);
  const place = `${owner}.${field.name}`;
  if (!isInputObjectType(named))
    return memberRefusal(field, `${place} has to be an input with words, such as gte`);
  const words = wordsOf(named, place, 'scalar');
  return isRefusal(words) ? words : undefined;
}

const unknownWord = (
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal =>
  knownWord(field.name) === undefined ? noneOf(type, field, known) : wordsRefusal(type, [field]);
