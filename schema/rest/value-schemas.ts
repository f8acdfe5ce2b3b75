import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import type { ColumnType, Project } from '../model.ts';
import { knownScalar } from '../scalars.ts';
import type { JsonSchema } from '../routes/route.ts';
import { deprecation } from '../sunset.ts';

/** Scalars whose JSON type differs from their stored type. */
const BY_NAME: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  Long: { type: ['integer', 'string'] },
  SafeInt: { type: 'integer' },
  Timestamp: { type: 'integer', description: 'Milliseconds since 1970' },
  JSONObject: { type: 'object' },
  EmailAddress: { type: 'string', format: 'email' },
  URL: { type: 'string', format: 'uri' },
  IPv4: { type: 'string', format: 'ipv4' },
  IPv6: { type: 'string', format: 'ipv6' },
};

const BY_COLUMN: Readonly<Record<ColumnType, JsonSchema>> = {
  id: { type: 'string' },
  text: { type: 'string' },
  integer: { type: 'integer' },
  bigint: { type: 'string', pattern: '^-?[0-9]+$' },
  real: { type: 'number' },
  decimal: { type: 'string', description: 'A decimal number, exact' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time' },
  json: {},
  uuid: { type: 'string', format: 'uuid' },
  bytes: { type: 'string', contentEncoding: 'base64' },
};

/**
 * A scalar or enum in JSON. The form of a user's own scalar is unknown: only its function knows it.
 *
 * @example leafSchema(project, 'DateTime') // { type: 'string', format: 'date-time' }
 */
export function leafSchema({ enums }: Project, name: string): JsonSchema {
  if (enums.some((type) => type.name === name)) return reference(name);
  const known = knownScalar(name);
  return known ? (BY_NAME[name] ?? BY_COLUMN[known.column]) : {};
}

export const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The same schema, with null allowed. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (Array.isArray(type)) return { ...schema, type: [...type, 'null'] };
  if (Array.isArray(schema['anyOf']))
    return { ...schema, anyOf: [...schema['anyOf'], { type: 'null' }] };
  return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** The schema of an input value. Other input types are references. */
function inputValueSchema(project: Project, type: GraphQLType): JsonSchema {
  return isNonNullType(type) ? nonNull(project, type.ofType) : nullable(nonNull(project, type));
}

function nonNull(project: Project, type: GraphQLType): JsonSchema {
  if (isListType(type)) return { type: 'array', items: inputValueSchema(project, type.ofType) };
  if (isInputObjectType(type)) return reference(type.name);
  return isEnumType(type) || isScalarType(type) ? inputLeaf(project, type.name) : {};
}

/** The schema of an input scalar. Keys may also be sent as numbers. */
const inputLeaf = (project: Project, name: string): JsonSchema =>
  name === 'ID' ? { type: ['string', 'integer'] } : leafSchema(project, name);

/** An input object, without the fields in `skip`. */
export function inputObjectSchema(
  project: Project,
  type: GraphQLInputObjectType,
  skip: readonly string[] = [],
): JsonSchema {
  const fields = Object.values(type.getFields()).filter(({ name }) => !skip.includes(name));
  const required = fields
    .filter(
      (field) =>
        isNonNullType(field.type) &&
        field.defaultValue === undefined &&
        field.default === undefined,
    )
    .map(({ name }) => name);
  const properties = fields.map(
    (field) => [field.name, inputMemberSchema(project, field)] as const,
  );
  return {
    type: 'object',
    ...(type.description && { description: type.description }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(type.isOneOf && { minProperties: 1, maxProperties: 1 }),
    additionalProperties: false,
  };
}

/** A field of an input, or an argument. */
export function inputMemberSchema(
  project: Project,
  { type, description, deprecationReason }: GraphQLInputField | GraphQLArgument,
): JsonSchema {
  return {
    ...described(inputValueSchema(project, type), description),
    ...deprecation(deprecationReason),
  };
}

/** JSON Schema 2020-12 allows a description beside a reference. */
export const described = (
  schema: JsonSchema,
  description: string | null | undefined,
): JsonSchema => (description ? { ...schema, description } : schema);
