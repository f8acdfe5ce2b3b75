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
import { knownCodec, type ScalarCodec } from './known.ts';

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
    const known = project.scalars.find(
      ({ name, source }) => name === type.name && source === 'known',
    );
    const codec = mapping ? ownCodec(mapping) : knownCodec(type.name, known?.column ?? 'json');
    codecs.set(type.name, codec);
    attach(type, codec, mapping);
  }
  return codecs;
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

const ownCodec = (mapping: ScalarFunctions): ScalarCodec => ({
  input: mapping.parseValue,
  output: mapping.serialize,
  plain: false,
});

function attach(
  type: GraphQLScalarType,
  codec: ScalarCodec,
  mapping: ScalarFunctions | undefined,
): void {
  type.coerceOutputValue = type.serialize = codec.output;
  type.coerceInputValue = type.parseValue = codec.input;
  const literal = (node: ConstValueNode) =>
    mapping?.parseLiteral ? mapping.parseLiteral(node) : codec.input(readLiteral(node));
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
