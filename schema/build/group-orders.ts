import { getNamedType, isEnumType, isInputObjectType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType, GraphQLNamedType } from 'graphql';
import { FIGURES, isAggregateWord } from './aggregate-types.ts';
import { hasValue } from './aggregate-members.ts';
import { firstRefusal, memberRefusal, noneOf } from './aggregate-refusal.ts';
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
  const named = getNamedType(field.type);
  if (!isAggregateWord(field.name)) return noneOf(type, field, ['count', 'key', ...FIGURES]);
  if (field.name === 'count') return isDirection(named) ? undefined : noDirection(type, field);
  if (!isInputObjectType(named)) return noDirection(type, field);
  // The order of the entity may have more: relations cannot be a part of the key of a group.
  if (field.name === 'key') return undefined;
  return firstRefusal(Object.values(named.getFields()), (each) => {
    if (!hasValue(shapes, entity, each.name)) return noneOf(named, each, [...entity.fields.keys()]);
    return isDirection(getNamedType(each.type)) ? undefined : noDirection(named, each);
  });
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

const noDirection = ({ name }: GraphQLInputObjectType, field: GraphQLInputField): Refusal =>
  memberRefusal(field, `${name}.${field.name} has to be an enum of ASC and DESC`);
