import type { ColumnType, IdKind, Project } from '@twofold/schema';

/** TypeScript type of a value of each stored type, as resolvers and rows have it. */
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

/** TypeScript type of a stored value. Keys are numbers, or text when they are UUIDs. */
export function valueType(type: ColumnType, ids: IdKind): string {
  return type === 'id' ? (ids === 'integer' ? 'number' : 'string') : VALUES[type];
}

/**
 * A value of a scalar as own code gets it: `BigInt` is text there as on the wire, whatever column
 * holds it.
 */
export const scalarType = (scalar: string, column: ColumnType, ids: IdKind): string =>
  scalar === 'BigInt' ? 'string' : valueType(column, ids);

/** A resolver may also answer with a number or a bigint for text of digits. */
const knownType = (name: string, column: ColumnType, ids: IdKind) =>
  name === 'BigInt'
    ? { input: 'string', output: 'string | number | bigint' }
    : scalarType(name, column, ids);

/** graphql-codegen's `scalars`: how values of each scalar look in TypeScript. */
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
  // A resolver may answer with a key as the database has it; what comes in is always text.
  return {
    ...Object.fromEntries([...named, ...own]),
    ID: { input: 'string', output: 'string | number' },
  };
}
