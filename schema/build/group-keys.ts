import { isEnumType, type GraphQLEnumValue } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import { snakeCase } from '../names.ts';
import { valueOf } from './aggregate-members.ts';
import { memberRefusal } from './aggregate-refusal.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import type { Refusal, Shapes } from './shapes.ts';

/**
 * The fields that the values of an enum group by: `CREATED_AT_DAY` is `createdAt day`.
 *
 * @example groupKeys(shapes, 'PostGroupBy', post) // { STATUS: 'status', CREATED_AT_DAY: 'createdAt day' }
 */
export function groupKeys(
  shapes: Shapes,
  name: string,
  entity: EntityFact,
): Readonly<Record<string, string>> | Refusal {
  const type = shapes.facts.schema.getType(name);
  if (!isEnumType(type)) return { why: `${name} is no enum with fields of ${entity.name}` };
  const keys: Record<string, string> = {};
  for (const value of type.getValues()) {
    const key = keyOf(shapes, entity, value.name);
    if (key === undefined) return noField(shapes, entity, type.name, value);
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

function noField(
  shapes: Shapes,
  entity: EntityFact,
  type: string,
  value: GraphQLEnumValue,
): Refusal {
  const known = [...entity.fields.values()]
    .filter((field) => valueOf(shapes, field) !== undefined)
    .map(({ name }) => snakeCase(name).toUpperCase());
  const all = `one of ${known.join(', ')}; a time may have _HOUR _DAY _WEEK _MONTH _YEAR behind it`;
  return memberRefusal(
    value,
    `${type}.${value.name} names no field of ${entity.name} that rows can be grouped by`,
    didYouMean(value.name, known) ?? all,
  );
}
