import {
  type ConstValueNode,
  GraphQLError,
  type GraphQLSchema,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLScalarType,
  valueFromASTUntyped,
} from 'graphql';
import type { Project } from '@twofold/schema';
import { ConfigError } from '../../errors.ts';
import { formIn, knownCodec, type ScalarCodec } from './known.ts';

/** A scalar of the user's own: `src/scalars.ts`. */
export interface ScalarFunctions {
  serialize(value: any): unknown;
  parseValue(value: unknown): unknown;
  parseLiteral?(node: any, variables?: any): unknown;
}

/**
 * Attaches parsing and serialising functions to every scalar of the schema.
 *
 * @returns the codecs by name.
 * @throws ConfigError for a mapping of a scalar that the schema does not have, or that lacks one of
 * its two functions.
 */
export function attachScalars(
  schema: GraphQLSchema,
  project: Project,
  mappings: Readonly<Record<string, ScalarFunctions>>,
): ReadonlyMap<string, ScalarCodec> {
  assertMappings(schema, mappings);
  const codecs = new Map<string, ScalarCodec>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || isSpecifiedScalarType(type)) continue;
    const mapping = mappings[type.name];
    const stored = project.scalars.find(({ name }) => name === type.name);
    const known = stored?.source === 'known' ? stored.column : 'json';
    const form = formIn(type.name, stored?.column ?? 'json');
    const codec = mapping ? ownCodec(mapping, form) : knownCodec(type.name, known);
    codecs.set(type.name, codec);
    FORMS.set(type, mapping ? form : codec.input);
    attach(type, codec, mapping && { ...mapping, form });
  }
  return codecs;
}

type Convert = (value: unknown) => unknown;

const FORMS = new WeakMap<GraphQLScalarType, Convert>();

/**
 * Checks a value that own code gives: it has the form that own code gets, so it is not parsed.
 *
 * @throws GraphQLError for anything else.
 */
export const ownValue = (type: GraphQLScalarType, value: unknown): unknown =>
  (FORMS.get(type) ?? type.coerceInputValue)(value);

/** A value of own code as a caller would send it: it differs for scalars of the project's own. */
export function asSent(type: GraphQLScalarType, value: unknown): unknown {
  const form = FORMS.get(type);
  if (!form || form === type.coerceInputValue) return value;
  try {
    return type.coerceOutputValue(form(value));
  } catch {
    return value;
  }
}

function assertMappings(
  schema: GraphQLSchema,
  mappings: Readonly<Record<string, ScalarFunctions>>,
): void {
  const problems = Object.entries(mappings).flatMap(([name, mapping]) => {
    if (!isScalarType(schema.getType(name)))
      return [`scalars: ${name} is not a scalar of the schema`];
    return typeof mapping.serialize === 'function' && typeof mapping.parseValue === 'function'
      ? []
      : [`scalars: ${name} needs serialize and parseValue`];
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

const ownCodec = (mapping: ScalarFunctions, form: Convert): ScalarCodec => ({
  input: (value) => form(mapping.parseValue(value)),
  output: mapping.serialize,
  plain: false,
});

function attach(
  type: GraphQLScalarType,
  codec: ScalarCodec,
  mapping: (Pick<ScalarFunctions, 'parseLiteral'> & { readonly form: Convert }) | undefined,
): void {
  type.coerceOutputValue = type.serialize = codec.output;
  type.coerceInputValue = type.parseValue = codec.input;
  const literal = (node: ConstValueNode) =>
    mapping?.parseLiteral
      ? mapping.form(mapping.parseLiteral(node))
      : codec.input(readLiteral(node));
  type.coerceInputLiteral = literal;
  type.parseLiteral = literal as GraphQLScalarType['parseLiteral'];
}

/** A literal as plain data; numbers that JavaScript cannot hold stay text. */
function readLiteral(node: ConstValueNode): unknown {
  if (node.kind === 'IntValue')
    return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value;
  if (node.kind === 'FloatValue' && String(Number(node.value)) !== node.value) return node.value;
  const value = valueFromASTUntyped(node);
  if (value === undefined) throw new GraphQLError('a value is missing');
  return value;
}
