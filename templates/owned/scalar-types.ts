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

/** graphql-codegen's `scalars`: how values of each scalar look in TypeScript. */
export function scalarTypes({
  scalars,
  ids,
}: Project): Record<string, string | { input: string; output: string }> {
  const named = scalars
    .filter(({ source }) => source === 'known')
    .map(({ name, column }) => [name, valueType(column, ids)] as const);
  const own = scalars
    .filter(({ source }) => source === 'user')
    .map(({ name }) => [name, 'any'] as const);
  // A resolver may answer with a key as the database has it; what comes in is always text.
  return {
    ...Object.fromEntries([...named, ...own]),
    ID: { input: 'string', output: 'string | number' },
  };
}
