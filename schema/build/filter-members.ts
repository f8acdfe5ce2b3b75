import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
} from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { Filter, FilterShape } from '../model.ts';
import { wordsOf, wordsRefusal } from './comparison-input.ts';
import { fieldFacts, scalarType, type FieldFact } from './facts.ts';
import { knownWord, LOGICAL } from './filter-words.ts';
import { knownShape, readEach, Refusal, type Shapes } from './shapes.ts';

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
  read: (field: GraphQLInputField) => Filter,
): FilterShape {
  const filters: Filter[] = [];
  const shape: FilterShape = { id: type.name, entity: of, filters };
  shapes.filters.set(type.name, shape);
  const refusals: Refusal[] = [];
  readEach(Object.values(type.getFields()), filters, read, (each) => refusals.push(each));
  const refusal = joined(refusals);
  if (!refusal) return shape;
  shapes.refused.set(type.name, refusal);
  throw refusal;
}

/** The first refusal, with the unknown operators of all refusals. */
function joined(refusals: readonly Refusal[]): Refusal | undefined {
  const words = [...new Set(refusals.flatMap((each) => each.words ?? []))];
  const first = refusals.find((each) => each.words) ?? refusals[0];
  return first && new Refusal(first.why, { ...first, ...(words.length > 0 && { words }) });
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
  return new Refusal(`${place} is no field of ${of} that can be compared`, {
    fix: didYouMean(name, known),
  });
}

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
): FilterShape {
  const known = knownShape(shapes, shapes.filters, input.name, { verb: 'filter', of });
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

function memberFilter(shapes: Shapes, { input, field, members, of }: Member): Filter {
  const { name } = field;
  const member = members.get(name);
  const common = member ? undefined : commonFilter(input, field);
  if (common) return common;
  if (!member) throw unknownMember(input, field, [...members.keys()], of);
  const named = getNamedType(field.type);
  const place = `${input.name}.${name}`;
  if (isListType(getNullableType(field.type)))
    throw new Refusal(`${place} is a list; write an input with "in" for it`);
  const { list, kind } = member.type;
  if (!isInputObjectType(named)) {
    if (list || kind === 'object') throw new Refusal(`${place} has to be an input with words`);
    if (named === member.named) return { kind: 'equals', name, column: name };
    throw new Refusal(`${place} is ${named.name}, and the field is ${member.named.name}`);
  }
  if (kind === 'object' && !list) {
    const { id } = objectShape(shapes, named, member.named.name);
    return { kind: 'object', name, column: name, shape: id };
  }
  const operators = wordsOf(named, place, aboutMember(shapes, member));
  return { kind: 'operators', name, column: name, operators };
}

function aboutMember({ facts }: Shapes, { type, named }: FieldFact) {
  if (type.list) return type.kind === 'object' ? 'none' : 'list';
  return scalarType(named, facts) === 'json' ? 'json' : 'scalar';
}
