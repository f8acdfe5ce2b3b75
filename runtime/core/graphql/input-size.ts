import {
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLSchema,
} from 'graphql';
import { remembered } from '@twofold/schema';

/** The most values in the input of one request, independent of `server.body_limit`. */
export const INPUT_VALUES = 200_000;

/** The most levels of nesting in a body, because reading them is recursive. */
export const NESTING = 64;

/** @example isNestedBeyond({ list: [1] }, 1) // true */
export function isNestedBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value))
    if (typeof item === 'object' && isNestedBeyond(item, levels - 1)) return true;
  return false;
}

/**
 * Counts the values that coercion reads: each item of a list, and each field of an object's type,
 * given or not. An empty object of a type with many fields costs as much as a full one, and a
 * megabyte holds 300,000 of them.
 *
 * @returns a number above `INPUT_VALUES` as soon as there are more; the rest is not counted.
 * @example inputSize([{ name: 'Ada' }], type) // 2, where the type of the item has two fields
 */
export function inputSize(value: unknown, type: GraphQLInputType, counted = 0): number {
  if (isNonNullType(type)) return inputSize(value, type.ofType, counted);
  if (typeof value !== 'object' || value === null) return counted + 1;
  if (isListType(type)) return listSize(value, type.ofType, counted);
  return isInputObjectType(type) ? objectSize(value, type.getFields(), counted) : counted + 1;
}

/** A single value in the place of a list is a list with one item. */
function listSize(value: object, type: GraphQLInputType, counted: number): number {
  let sum = counted;
  for (const item of Array.isArray(value) ? value : [value]) {
    if (sum > INPUT_VALUES) break;
    sum = inputSize(item, type, sum);
  }
  return sum;
}

type Fields = Readonly<Record<string, { readonly type: GraphQLInputType }>>;

function objectSize(value: object, fields: Fields, counted: number): number {
  let sum = counted + Object.keys(fields).length;
  for (const [name, member] of Object.entries(value)) {
    if (sum > INPUT_VALUES) break;
    if (typeof member === 'object' && member !== null && Object.hasOwn(fields, name))
      sum = inputSize(member, (fields[name] as Fields[string]).type, sum);
  }
  return sum;
}

/** @example tooLarge('Variable "$list"') // Variable "$list" has more than 200000 values: … */
export const tooLarge = (what: string): string =>
  `${what} has more than ${INPUT_VALUES} values: send it in several requests`;

/**
 * The value with objects that inherit nothing, for a schema with an input field such as
 * `constructor`: graphql-js would take what each object inherits for a given value.
 *
 * @example ownMembers(schema, { input: {} })
 */
export function ownMembers<Value>(schema: GraphQLSchema, value: Value): Value {
  return namesInherited(schema) ? (bare(value) as Value) : value;
}

const namesInherited = remembered((schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).some(
    (type) =>
      isInputObjectType(type) &&
      Object.keys(type.getFields()).some((name) => name in Object.prototype),
  ),
);

function bare(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(bare);
  const members = Object.entries(value).map(([name, member]) => [name, bare(member)] as const);
  return Object.setPrototypeOf(Object.fromEntries(members), null);
}
