import { getNamedType, isInputObjectType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import { FIGURES, isFigure } from './aggregate-types.ts';
import { valueOf } from './aggregate-members.ts';
import type { EntityFact } from './facts.ts';
import { wordsOf, wordsRefusal } from './comparison-input.ts';
import { knownWord } from './filter-words.ts';
import { isRefusal } from './shapes.ts';
import type { Refusal, Shapes } from './shapes.ts';

/** Why a `having` input cannot be used; undefined when it can. */
export function havingRefusal(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
): Refusal | undefined {
  const type = shapes.facts.schema.getType(name);
  if (!isInputObjectType(type)) return { why: `${name} is no input type` };
  for (const field of Object.values(type.getFields())) {
    const refusal = memberRefusal(shapes, type, field, entity);
    if (refusal) return refusal;
  }
  return undefined;
}

function memberRefusal(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  entity: EntityFact,
): Refusal | undefined {
  const { name } = field;
  const named = getNamedType(field.type);
  if (/^(?:and|or|not)$/.test(name) && named === type) return undefined;
  if (name === 'count') return operatorsRefusal(type, field);
  if (!isFigure(name)) return unknownWord(type, field, ['count', ...FIGURES, 'and', 'or', 'not']);
  if (!isInputObjectType(named))
    return refused(field, `${type.name}.${name} has to be an input with fields of ${entity.name}`);
  for (const each of Object.values(named.getFields())) {
    const found = entity.fields.get(each.name);
    if (!found || valueOf(shapes, found) === undefined)
      return unknownWord(named, each, [...entity.fields.keys()]);
    const refusal = operatorsRefusal(named, each);
    if (refusal) return refusal;
  }
  return undefined;
}

function operatorsRefusal(
  { name: owner }: GraphQLInputObjectType,
  field: GraphQLInputField,
): Refusal | undefined {
  const named = getNamedType(field.type);
  const place = `${owner}.${field.name}`;
  if (!isInputObjectType(named))
    return refused(field, `${place} has to be an input with words, such as gte`);
  const words = wordsOf(named, place, 'scalar');
  return isRefusal(words) ? words : undefined;
}

function unknownWord(
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal {
  if (knownWord(field.name) !== undefined) return wordsRefusal(type, [field]);
  const fix = didYouMean(field.name, known);
  const why = `${type.name}.${field.name} is none of ${known.join(', ')}`;
  return { ...refused(field, why), ...(fix && { fix }) };
}

function refused(field: GraphQLInputField, why: string): Refusal {
  const node = field.astNode?.name;
  return { code: 'AGGREGATE_FIELD', why, ...(node && { node }) };
}
