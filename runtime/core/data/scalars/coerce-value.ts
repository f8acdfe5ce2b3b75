import {
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isObjectType,
  isScalarType,
  type GraphQLScalarType,
  Kind,
  parseType,
  type TypeNode,
} from 'graphql';

/** An error whose message is printed after the field's name. */
class ValueError extends Error {}

/** What is needed to coerce a value. */
export interface Coercion {
  readonly schema: GraphQLSchema;
  /** Reads a scalar, as a caller gives it or as own code does. */
  readonly scalar: (type: GraphQLScalarType, value: unknown) => unknown;
}

/** Parses a scalar as a caller gives it. */
export const givenValue: Coercion['scalar'] = (type, value) => type.coerceInputValue(value);

/**
 * Coerces a value as an argument of this type: scalars, enums and lists by GraphQL's rules, and
 * objects stored as JSON field by field.
 *
 * @param type As the SDL prints it: `[String!]!`.
 * @throws Error with the problem: `is not a valid Int`.
 */
export function coerceValue(coercion: Coercion, type: string, value: unknown): unknown {
  return coerce(coercion, typeNode(type), value, '');
}

const NODES = new Map<string, TypeNode>();

/** The types of a schema are few, and parsing one takes longer than coercing a value. */
function typeNode(text: string): TypeNode {
  const node = NODES.get(text) ?? parseType(text, { noLocation: true });
  NODES.set(text, node);
  return node;
}

function coerce(coercion: Coercion, node: TypeNode, value: unknown, at: string): unknown {
  if (node.kind === Kind.NON_NULL_TYPE) {
    if (value === null || value === undefined) throw new ValueError(`${at}is required`);
    return coerce(coercion, node.type, value, at);
  }
  if (value === null || value === undefined) return null;
  if (node.kind === Kind.LIST_TYPE) {
    if (!Array.isArray(value)) throw new ValueError(`${at}is not a list`);
    return value.map((item, index) => coerce(coercion, node.type, item, `[${index}] ${at}`));
  }
  return coerceNamed(coercion, node.name.value, value, at);
}

function coerceNamed(coercion: Coercion, name: string, value: unknown, at: string): unknown {
  const type = coercion.schema.getType(name);
  if (isObjectType(type)) return coerceObject(coercion, type, value, at);
  if (isEnumType(type)) {
    const names = type.getValues().map((each) => each.name);
    if (!names.includes(value as string))
      throw new ValueError(`${at}must be one of ${names.join(', ')}`);
    return value;
  }
  if (!isScalarType(type)) throw new ValueError(`${at}cannot be seeded: it is a ${name}`);
  try {
    const coerced = coercion.scalar(type, value);
    if (coerced !== undefined) return coerced;
  } catch {
    // It is reported like a value of the wrong type.
  }
  throw new ValueError(`${at}is not a valid ${name}`);
}

function coerceObject(
  coercion: Coercion,
  type: GraphQLObjectType,
  value: unknown,
  at: string,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ValueError(`${at}must be an object`);
  const fields = type.getFields();
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw new ValueError(`${at}has no field ${unknown}`);
  const entries = Object.values(fields).map(
    (field) =>
      [
        field.name,
        coerce(
          coercion,
          typeNode(String(field.type)),
          (value as Record<string, unknown>)[field.name],
          `${field.name} ${at}`,
        ),
      ] as const,
  );
  return Object.fromEntries(
    entries.filter(([name, coerced]) => coerced !== null || Object.hasOwn(value, name)),
  );
}
