import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
} from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import { snakeCase } from '../names.ts';
import { hasValue, memberRefusal, valueOf } from './aggregate-members.ts';
import { FIGURES, isAggregateWord, isFigure } from './aggregate-types.ts';
import { wordsOf, wordsRefusal } from './comparison-input.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { knownWord, LOGICAL } from './filter-words.ts';
import { Refusal, type Shapes } from './shapes.ts';

/**
 * The fields that the values of an enum group by: `CREATED_AT_DAY` is `createdAt day`.
 *
 * @example groupKeys(shapes, 'PostGroupBy', post) // { STATUS: 'status', CREATED_AT_DAY: 'createdAt day' }
 */
export function groupKeys(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
): Readonly<Record<string, string>> {
  const type = shapes.facts.schema.getType(name);
  if (!isEnumType(type)) throw new Refusal(`${name} is no enum with fields of ${entity.name}`);
  const keys: Record<string, string> = {};
  for (const value of type.getValues()) {
    const key = keyOf(shapes, entity, value.name);
    if (key === undefined) {
      const known = [...entity.fields.values()]
        .filter((field) => valueOf(shapes, field) !== undefined)
        .map((field) => snakeCase(field.name).toUpperCase());
      throw memberRefusal(
        value,
        `${name}.${value.name} names no field of ${entity.name} that rows can be grouped by`,
        didYouMean(value.name, known) ??
          `one of ${known.join(', ')}; a time may have _HOUR _DAY _WEEK _MONTH _YEAR behind it`,
      );
    }
    keys[value.name] = key;
  }
  return keys;
}

function keyOf(shapes: Shapes, entity: EntityFact, word: string): string | undefined {
  const whole = fieldOf(shapes, entity, word);
  if (whole) return whole.name;
  const [, stem, unit] = /^(.+?)_?(HOUR|DAY|WEEK|MONTH|YEAR)$/i.exec(word) ?? [];
  const field = stem === undefined ? undefined : fieldOf(shapes, entity, stem.replace(/_$/, ''));
  const value = field && valueOf(shapes, field);
  const fits = value === 'timestamp' || (value === 'date' && unit?.toLowerCase() !== 'hour');
  return field && fits ? `${field.name} ${unit?.toLowerCase()}` : undefined;
}

/** `CREATED_AT` and `createdAt` mean the field `createdAt`. */
function fieldOf(shapes: Shapes, entity: EntityFact, word: string): FieldFact | undefined {
  const snake = snakeCase(word === word.toUpperCase() ? word.toLowerCase() : word);
  const field =
    entity.fields.get(word) ??
    [...entity.fields.values()].find(({ snakeName }) => snakeName === snake);
  return field && valueOf(shapes, field) !== undefined ? field : undefined;
}

/** Refuses a `having` input that cannot be used. */
export function assertHaving(shapes: Shapes, name: string, entity: EntityFact): void {
  const { type, fields } = inputOf(shapes, name);
  for (const field of fields) {
    const named = getNamedType(field.type);
    if (LOGICAL.some((word) => word === field.name) && named === type) continue;
    if (field.name === 'count') assertOperators(type, field);
    else if (!isFigure(field.name))
      throw unknownWord(type, field, ['count', ...FIGURES, ...LOGICAL]);
    else if (!isInputObjectType(named))
      throw memberRefusal(
        field,
        `${name}.${field.name} has to be an input with fields of ${entity.name}`,
      );
    else
      for (const each of Object.values(named.getFields())) {
        if (!hasValue(shapes, entity, each.name))
          throw unknownWord(named, each, [...entity.fields.keys()]);
        assertOperators(named, each);
      }
  }
}

function inputOf({ facts }: Shapes, name: string) {
  const type = facts.schema.getType(name);
  if (!isInputObjectType(type)) throw new Refusal(`${name} is no input type`);
  return { type, fields: Object.values(type.getFields()) };
}

function assertOperators({ name: owner }: GraphQLInputObjectType, field: GraphQLInputField): void {
  const named = getNamedType(field.type);
  const place = `${owner}.${field.name}`;
  if (!isInputObjectType(named))
    throw memberRefusal(field, `${place} has to be an input with words, such as gte`);
  wordsOf(named, place, 'scalar');
}

const unknownWord = (
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal =>
  knownWord(field.name) === undefined ? noneOf(type, field, known) : wordsRefusal(type, [field]);

/** The refusal of a member of an input whose name is none of those that it can have. */
const noneOf = (
  { name: owner }: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal =>
  memberRefusal(
    field,
    `${owner}.${field.name} is none of ${known.join(', ')}`,
    didYouMean(field.name, known),
  );

/** Refuses an `orderBy` input of groups that cannot be used. */
export function assertGroupOrder(shapes: Shapes, name: string, entity: EntityFact): void {
  const { type, fields } = inputOf(shapes, name);
  for (const field of fields) {
    const named = getNamedType(field.type);
    if (!isAggregateWord(field.name)) throw noneOf(type, field, ['count', 'key', ...FIGURES]);
    if (field.name === 'count') assertDirection(type, field);
    else if (!isInputObjectType(named)) throw noDirection(type, field);
    // The order of the entity may have more: relations cannot be a part of the key of a group.
    else if (field.name !== 'key')
      for (const each of Object.values(named.getFields())) {
        if (!hasValue(shapes, entity, each.name))
          throw noneOf(named, each, [...entity.fields.keys()]);
        assertDirection(named, each);
      }
  }
}

function assertDirection(type: GraphQLInputObjectType, field: GraphQLInputField): void {
  if (!isDirection(getNamedType(field.type))) throw noDirection(type, field);
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
