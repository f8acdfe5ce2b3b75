import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import type { Random } from '../generator/random.ts';

/** Values for each scalar, few enough that random conditions meet random rows. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  ID: ['1', '2', '3', '4', '"5"', '99'],
  Int: ['0', '1', '2', '3', '-4'],
  Float: ['0', '0.5', '1.5', '2'],
  String: ['"a"', '"b"', '"ab"', '"Ä"', '"50%"', '""'],
  Boolean: ['true', 'false'],
  DateTime: ['"2026-01-02T03:04:05.000Z"', '"2027-01-01T00:00:00.000Z"'],
  Date: ['"2026-01-02"', '"2027-01-01"'],
  BigInt: ['"9007199254740993"', '"7"', '0'],
  Decimal: ['"1.10"', '"2"', '"0.01"'],
  UUID: ['"0190163d-8694-739b-aea5-966c26f8ad91"', '"0190163d-8694-739b-aea5-966c26f8ad92"'],
  JSON: ['{ a: 1 }', '[1, 2]', '"x"'],
};

/** Fields whose value is the clock's. */
const CLOCK = new Set(['createdAt', 'updatedAt', '__typename']);
const DEEPEST_INPUT = 3;

/**
 * A random operation over any root field of an API, with random arguments and a random selection.
 * Cursors are left out: `pages` follows them.
 */
export function randomOperation(schema: GraphQLSchema, random: Random): string {
  const isWrite = random.chance(0.4);
  const root = isWrite ? schema.getMutationType() : schema.getQueryType();
  const fields = Object.values((root ?? schema.getQueryType()!).getFields());
  const field = random.pick(fields.filter(({ name }) => name !== 'node'));
  return `${isWrite && root ? 'mutation' : 'query'} { ${fieldText(schema, field, random, 0)} }`;
}

function fieldText(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  random: Random,
  depth: number,
): string {
  const args = field.args.flatMap((argument) => argumentText(argument, random));
  const call = args.length > 0 ? `(${args.join(', ')})` : '';
  return `${field.name}${call}${selection(schema, field.type, random, depth)}`;
}

function argumentText(argument: GraphQLArgument, random: Random): string[] {
  const { name, type } = argument;
  if (['after', 'before', 'last'].includes(name)) return [];
  if (!isNonNullType(type) && random.chance(0.5)) return [];
  if (['limit', 'first'].includes(name)) return [`${name}: ${1 + random.whole(5)}`];
  if (name === 'offset') return [`offset: ${random.whole(3)}`];
  return [`${name}: ${inputValue(type, random, 0)}`];
}

function inputValue(type: GraphQLInputType, random: Random, depth: number): string {
  if (!isNonNullType(type) && random.chance(0.05)) return 'null';
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const items = Array.from({ length: 1 + random.whole(2) }, () =>
      inputValue(nullable.ofType as GraphQLInputType, random, depth),
    );
    return `[${items.join(', ')}]`;
  }
  const named = getNamedType(nullable);
  if (isInputObjectType(named)) return inputObject(named, random, depth);
  if (isEnumType(named)) return random.pick(named.getValues()).name;
  return random.pick(VALUES[named.name] ?? ['null']);
}

function inputObject(type: GraphQLInputObjectType, random: Random, depth: number): string {
  const fields = Object.values(type.getFields());
  const required = fields.filter(({ type: of }) => isNonNullType(of));
  const optional = fields.filter(
    ({ type: of }) =>
      !isNonNullType(of) && !(depth >= DEEPEST_INPUT && isInputObjectType(getNamedType(of))),
  );
  const chosen = new Set(required);
  for (let some = 1 + random.whole(2); some > 0 && optional.length > 0; some--)
    chosen.add(random.pick(optional));
  const parts = [...chosen].map(
    ({ name, type: of }) => `${name}: ${inputValue(of, random, depth + 1)}`,
  );
  return `{ ${parts.join(', ')} }`;
}

function selection(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  random: Random,
  depth: number,
): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return '';
  if (!isObjectType(named)) return ' { __typename }';
  const fields = Object.values(named.getFields()).filter(({ name }) => !CLOCK.has(name));
  const leaves = fields.filter(({ type: of }) => !isCompositeType(getNamedType(of)));
  const branches = fields.filter((field) => !leaves.includes(field));
  const wrapped = leaves.length === 0 || /Connection$|Edge$/.test(named.name);
  const chosen = wrapped
    ? fields.filter(({ name }) => name !== 'pageInfo' || random.chance(0.5))
    : [
        ...leaves.filter(() => random.chance(0.7)),
        ...branches.filter(() => random.chance(depth < 2 ? 0.3 : 0)),
      ];
  const texts = chosen
    .filter((field) => depth < 5 || !isCompositeType(getNamedType(field.type)))
    .map((field) => fieldText(schema, field, random, wrapped ? depth : depth + 1));
  return ` { ${['__typename', ...texts].join(' ')} }`;
}
