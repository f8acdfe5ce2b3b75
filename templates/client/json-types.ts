import type { ColumnType, Project } from '@twofold/schema';
import type { JsonType } from './operation.ts';

const BUILTIN: Readonly<Record<string, JsonType>> = {
  ID: { input: 'string | number', output: 'string' },
  String: { input: 'string', output: 'string' },
  Int: { input: 'number', output: 'number' },
  Float: { input: 'number', output: 'number' },
  Boolean: { input: 'boolean', output: 'boolean' },
};

/** The TypeScript type of a stored type's JSON. */
const JSON_TYPES: Readonly<Record<ColumnType, string>> = {
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
  bytes: 'string',
};

/** Scalars whose JSON is not that of their stored type. */
const BY_NAME: Readonly<Record<string, string>> = {
  BigInt: 'string',
  Timestamp: 'number',
  Void: 'null',
};

/** The JSON types of a project's scalars: those of the manifest, then the known ones. */
export function jsonTypes(
  { scalars }: Pick<Project, 'scalars'>,
  own: Readonly<Record<string, string>>,
): Record<string, JsonType> {
  const known = scalars
    .filter(({ source }) => source === 'known')
    .map(({ name, column }) => [name, both(BY_NAME[name] ?? JSON_TYPES[column])] as const);
  const given = Object.entries(own).map(([name, type]) => [name, both(type)] as const);
  return { ...BUILTIN, ...Object.fromEntries([...known, ...given]) };
}

const both = (type: string): JsonType => ({ input: type, output: type });
