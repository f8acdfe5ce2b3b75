import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  type GraphQLType,
} from 'graphql';

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function';

/** A resolver may return an error instead of throwing it. */
export function assertNoError<T>(value: T): T {
  if (value instanceof Error) throw value;
  return value;
}

/** The kinds of values that the scalars of the specification serialise unchanged. */
export type Leaf = 'text' | 'integer' | 'number' | 'truth';

export function leafOf(type: GraphQLType): Leaf | undefined {
  if (type === GraphQLString || type === GraphQLID) return 'text';
  if (type === GraphQLInt) return 'integer';
  if (type === GraphQLFloat) return 'number';
  return type === GraphQLBoolean ? 'truth' : undefined;
}

/** Returns a value that needs no serialising; undefined for one that the scalar must convert. */
export function leafValue(leaf: Leaf, value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return leaf === 'text' ? value : undefined;
  if (typeof value === 'number')
    return (leaf === 'integer' && (value | 0) === value) ||
      (leaf === 'number' && Number.isFinite(value))
      ? value
      : undefined;
  return typeof value === 'boolean' && leaf === 'truth' ? value : undefined;
}

/**
 * Fails at the field whose value JSON cannot represent, instead of failing for the whole answer.
 * @throws TypeError
 */
export function assertJson<T>(value: T): T {
  if (typeof value === 'object' || typeof value === 'bigint') JSON.stringify(value);
  return value;
}
