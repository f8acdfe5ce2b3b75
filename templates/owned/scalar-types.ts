import type { ColumnType, Project } from '@twofold/schema';

/** The TypeScript type of each stored type, in resolvers and rows. */
const VALUES: Readonly<Record<ColumnType, string>> = {
  id: 'string',
  text: 'string',
  integer: 'number',
  bigint: 'number',
  real: 'number',
  decimal: 'string',
  boolean: 'boolean',
  timestamp: 'string',
  date: 'string',
  time: 'string',
  json: 'unknown',
  uuid: 'string',
  bytes: 'Uint8Array',
};

/**
 * The type of a scalar in the user's code: `BigInt` is a string there as in JSON, independent of
 * its column.
 */
export const scalarType = (scalar: string, column: ColumnType): string =>
  scalar === 'BigInt' ? 'string' : VALUES[column];

/** For a string of digits, a resolver may also return a number or a bigint. */
const knownType = (name: string, column: ColumnType) =>
  name === 'BigInt'
    ? { input: 'string', output: 'string | number | bigint' }
    : scalarType(name, column);

/** The option `scalars` of graphql-codegen: the TypeScript types of each scalar. */
export function scalarTypes({
  scalars,
}: Project): Record<string, string | { input: string; output: string }> {
  const named = scalars
    .filter(({ source }) => source !== 'builtin')
    .map(({ name, column }) => [name, knownType(name, column)] as const);
  // A resolver may return a whole number as a key; an input key is always a string.
  return {
    ...Object.fromEntries(named),
    ID: { input: 'string', output: 'string | number' },
  };
}
