import type { Operation, Project } from '@twofold/schema';
import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** Invented values for a field's arguments, as text of the document: `(id: "1", limit: 10)`. */
export function exampleArguments(
  project: Project,
  given: readonly GraphQLArgument[],
  operation: Operation | undefined,
): string {
  if (given.length === 0) return '';
  const action = operation?.action;
  if (action?.kind === 'node') return `(${action.arg}: ${exampleNode(project)})`;
  if (action?.kind === 'nodes') return `(${action.arg}: [${exampleNode(project)}])`;
  const written = new Set(
    action && 'write' in action
      ? project.writes
          .find(({ id }) => id === action.write)
          ?.writes.filter(({ kind }) => kind !== 'nested' && kind !== 'ignored')
          .map(({ name }) => name)
      : [],
  );
  return `(${given.map(({ name, type }) => `${name}: ${exampleValue(project, type, name, written)}`).join(', ')})`;
}

const exampleNode = ({ abstracts }: Project) =>
  `"${abstracts.find(({ name }) => name === 'Node')?.members[0]}:1"`;

function exampleValue(
  project: Project,
  type: GraphQLInputType,
  name: string,
  written: ReadonlySet<string>,
): string {
  if (isNonNullType(type)) return exampleValue(project, type.ofType, name, written);
  if (isListType(type)) return `[${exampleValue(project, type.ofType, name, written)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) return exampleObject(project, type, written);
  return exampleScalar(project, type.name, name);
}

/** The required and the written members; of a one-of input, the first member. */
function exampleObject(
  project: Project,
  type: GraphQLInputObjectType,
  written: ReadonlySet<string>,
): string {
  const fields = Object.values(type.getFields());
  const chosen = type.isOneOf
    ? fields.slice(0, 1)
    : fields.filter((field) => isRequired(field) || written.has(field.name));
  const members = chosen.map(
    ({ name, type: of }) => `${name}: ${exampleValue(project, of, name, new Set())}`,
  );
  return members.length > 0 ? `{ ${members.join(', ')} }` : '{}';
}

const isRequired = ({ type, defaultValue, default: given }: GraphQLInputField) =>
  isNonNullType(type) && defaultValue === undefined && given === undefined;

const EXAMPLES: Readonly<Record<string, string>> = {
  Int: '10',
  Float: '1.5',
  Boolean: 'true',
  String: '"text"',
  EmailAddress: '"ada@example.com"',
  URL: '"https://example.com"',
  URI: '"https://example.com"',
  UUID: '"019aa000-0000-7000-8000-000000000001"',
  GUID: '"019aa000-0000-7000-8000-000000000001"',
};

const BY_COLUMN: Readonly<Record<string, string>> = {
  timestamp: '"2026-01-01T00:00:00.000Z"',
  date: '"2026-01-01"',
  time: '"12:00:00"',
  json: '{}',
  integer: '1',
  bigint: '"1"',
  decimal: '"1.5"',
  real: '1.5',
  boolean: 'true',
};

function exampleScalar({ ids, scalars }: Project, type: string, name: string): string {
  if (type === 'ID') return ids === 'uuid' ? '"019aa000-0000-7000-8000-000000000001"' : '"1"';
  if (type === 'String' && /email/i.test(name)) return '"ada@example.com"';
  return (
    EXAMPLES[type] ??
    BY_COLUMN[scalars.find((scalar) => scalar.name === type)?.column ?? 'text'] ??
    '"text"'
  );
}
