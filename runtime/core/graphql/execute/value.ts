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

/** A resolver may return its error. */
export function assertNoError<T>(value: T): T {
  if (value instanceof Error) throw value;
  return value;
}

/** Values that a scalar of the specification writes as they are. */
export type Leaf = 'text' | 'integer' | 'number' | 'truth';

export function leafOf(type: GraphQLType): Leaf | undefined {
  if (type === GraphQLString || type === GraphQLID) return 'text';
  if (type === GraphQLInt) return 'integer';
  if (type === GraphQLFloat) return 'number';
  return type === GraphQLBoolean ? 'truth' : undefined;
}

/** Such a value; undefined for one that the scalar has to look at. */
export function leafValue(leaf: Leaf, value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return leaf === 'text' ? value : undefined;
  if (typeof value === 'number')
    return (leaf === 'integer' && (value | 0) === value) ||
      (leaf === 'number' && Number.isFinite(value))
      ? value
      : undefined;
  return typeof value === 'boolean' && leaf === 'truth' ? value : undefined;
}

/** What JSON has no words for fails where its field is known, and not with the whole answer. @throws TypeError */
export function assertJson<T>(value: T): T {
  if (typeof value === 'object' || typeof value === 'bigint') JSON.stringify(value);
  return value;
}
