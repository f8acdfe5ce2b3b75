import type { ColumnType, IdKind, Project } from '@twofold/schema';

/** The TypeScript type of each stored type, in resolvers and rows. */
const VALUES: Readonly<Record<Exclude<ColumnType, 'id'>, string>> = {
  text: 'string',
  integer: 'number',
  bigint: 'number',
  real: 'number',
  decimal: 'string',
  boolean: 'boolean',
  timestamp: 'string',
  date: 'string',
  time: 'string',
  json: 'any',
  uuid: 'string',
  bytes: 'Uint8Array',
};

/** The TypeScript type of a stored value. Keys are numbers, or strings for UUIDs. */
function valueType(type: ColumnType, ids: IdKind): string {
  return type === 'id' ? (ids === 'integer' ? 'number' : 'string') : VALUES[type];
}

/**
 * The type of a scalar in the user's code: `BigInt` is a string there as in JSON, independent of
 * its column.
 */
export const scalarType = (scalar: string, column: ColumnType, ids: IdKind): string =>
  scalar === 'BigInt' ? 'string' : valueType(column, ids);

/** For a string of digits, a resolver may also return a number or a bigint. */
const knownType = (name: string, column: ColumnType, ids: IdKind) =>
  name === 'BigInt'
    ? { input: 'string', output: 'string | number | bigint' }
    : scalarType(name, column, ids);

/** The option `scalars` of graphql-codegen: the TypeScript types of each scalar. */
export function scalarTypes({
  scalars,
  ids,
}: Project): Record<string, string | { input: string; output: string }> {
  const named = scalars
    .filter(({ source }) => source === 'known')
    .map(({ name, column }) => [name, knownType(name, column, ids)] as const);
  const own = scalars
    .filter(({ source }) => source === 'user')
    .map(({ name }) => [name, 'any'] as const);
  // A resolver may return a key as the database has it; an input key is always a string.
  return {
    ...Object.fromEntries([...named, ...own]),
    ID: { input: 'string', output: 'string | number' },
  };
}
