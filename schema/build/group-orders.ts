import { getNamedType, isEnumType, isInputObjectType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType, GraphQLNamedType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import { FIGURES, isAggregateWord } from './aggregate-types.ts';
import { valueOf } from './aggregate-members.ts';
import type { EntityFact } from './facts.ts';
import type { Refusal, Shapes } from './shapes.ts';

/** Why an `orderBy` input of groups cannot be used; undefined when it can. */
export function groupOrderRefusal(
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
  const named = getNamedType(field.type);
  if (!isAggregateWord(field.name)) return unknown(type, field, ['count', 'key', ...FIGURES]);
  if (field.name === 'count') return isDirection(named) ? undefined : noDirection(type, field);
  if (!isInputObjectType(named)) return noDirection(type, field);
  // The order of the entity may have more: relations cannot be a part of the key of a group.
  if (field.name === 'key') return undefined;
  for (const each of Object.values(named.getFields())) {
    const found = entity.fields.get(each.name);
    if (!found || valueOf(shapes, found) === undefined)
      return unknown(named, each, [...entity.fields.keys()]);
    if (!isDirection(getNamedType(each.type))) return noDirection(named, each);
  }
  return undefined;
}

/** `ASC` and `DESC`, or an input with `direction` and `nulls`. */
function isDirection(type: GraphQLNamedType): boolean {
  if (isInputObjectType(type)) {
    const { direction } = type.getFields();
    return direction !== undefined && isDirection(getNamedType(direction.type));
  }
  return (
    isEnumType(type) &&
    ['ASC', 'DESC'].every((word) => type.getValue(word) ?? type.getValue(word.toLowerCase()))
  );
}

const noDirection = ({ name }: GraphQLInputObjectType, field: GraphQLInputField): Refusal => ({
  ...at(field),
  why: `${name}.${field.name} has to be an enum of ASC and DESC`,
});

function unknown(
  { name }: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal {
  const fix = didYouMean(field.name, known);
  return {
    ...at(field),
    why: `${name}.${field.name} is none of ${known.join(', ')}`,
    ...(fix && { fix }),
  };
}

const at = ({ astNode }: GraphQLInputField): Pick<Refusal, 'code' | 'node'> => ({
  code: 'AGGREGATE_FIELD',
  ...(astNode && { node: astNode.name }),
});
