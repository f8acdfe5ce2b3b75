import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import type { Filter, FilterShape } from '../model.ts';
import { wordsOf } from './comparison-input.ts';
import { fieldFacts, scalarType, type FieldFact } from './facts.ts';
import { commonFilter, fillShape, unknownMember } from './filter-members.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';

/**
 * How an input becomes a condition on an object without `id`, which a column of JSON holds.
 *
 * @example
 * objectShape(shapes, addressFilter, 'Address') // { id: 'AddressFilter', entity: 'Address', filters: [{ kind: 'operators', name: 'city', … }] }
 */
export function objectShape(
  shapes: Shapes,
  input: GraphQLInputObjectType,
  of: string,
): FilterShape | Refusal {
  const present = shapes.filters.get(input.name);
  if (present && present.entity !== of)
    return {
      why: `${input.name} filters ${present.entity} elsewhere, and here it would filter ${of}`,
    };
  const known = shapes.refused.get(input.name) ?? present;
  if (known) return known;
  const members = membersOf(shapes, of);
  return fillShape(shapes, input, of, (field) =>
    memberFilter(shapes, { input, field, members, of }),
  );
}

/** The fields of an object without a table. */
export function membersOf({ facts }: Shapes, of: string): ReadonlyMap<string, FieldFact> {
  const type = facts.types.get(of)?.type;
  return type ? fieldFacts(type, facts.types) : new Map();
}

interface Member {
  readonly input: GraphQLInputObjectType;
  readonly field: GraphQLInputField;
  readonly members: ReadonlyMap<string, FieldFact>;
  readonly of: string;
}

function memberFilter(shapes: Shapes, { input, field, members, of }: Member): Filter | Refusal {
  const { name } = field;
  const member = members.get(name);
  const common = member ? undefined : commonFilter(input, field);
  if (common) return common;
  if (!member) return unknownMember(input, field, [...members.keys()], of);
  const named = getNamedType(field.type);
  const place = `${input.name}.${name}`;
  if (isListType(getNullableType(field.type)))
    return { why: `${place} is a list; write an input with "in" for it` };
  const { list, kind } = member.type;
  if (!isInputObjectType(named)) {
    if (list || kind === 'object') return { why: `${place} has to be an input with words` };
    return named === member.named
      ? { kind: 'equals', name, column: name }
      : { why: `${place} is ${named.name}, and the field is ${member.named.name}` };
  }
  if (kind === 'object' && !list) {
    const shape = objectShape(shapes, named, member.named.name);
    return isRefusal(shape) ? shape : { kind: 'object', name, column: name, shape: shape.id };
  }
  const words = wordsOf(named, place, aboutMember(shapes, member));
  return isRefusal(words) ? words : { kind: 'operators', name, column: name, operators: words };
}

function aboutMember({ facts }: Shapes, { type, named }: FieldFact) {
  if (type.list) return type.kind === 'object' ? 'none' : 'list';
  return scalarType(named, facts) === 'json' ? 'json' : 'scalar';
}
