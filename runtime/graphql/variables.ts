import { type GraphQLSchema, getVariableValues, isNonNullType, type OperationDefinitionNode, type VariableValues } from 'graphql';
import { coercerOf } from './input-coercer.ts';

type Signature = VariableValues['sources'][string]['signature'];
export type ReadVariables = ReturnType<typeof getVariableValues>;

/** What the definitions of an operation come to, known since its variables were read once. */
const SIGNATURES = new WeakMap<OperationDefinitionNode, readonly Signature[]>();

/** Nothing is added to it: whoever has it has it with everybody else. */
const NONE: ReadVariables = { variableValues: Object.freeze({ sources: Object.freeze({ __proto__: null }), coerced: Object.freeze({ __proto__: null }) }) as never };

/**
 * The variables of a request as graphql-js reads them. It looks at the definitions anew for every request; here that is
 * done once for a document, and whatever is not right is left to graphql-js, which says what is wrong with it.
 */
export function readVariables(schema: GraphQLSchema, node: OperationDefinitionNode, given: Readonly<Record<string, unknown>>): ReadVariables {
  if (!node.variableDefinitions?.length) return NONE;
  const signatures = SIGNATURES.get(node);
  const variableValues = signatures && coerceAll(signatures, given);
  if (variableValues) return { variableValues };
  const read = getVariableValues(schema, node.variableDefinitions ?? [], given, { maxErrors: 20, hideSuggestions: true });
  if (!signatures && read.variableValues) SIGNATURES.set(node, Object.values(read.variableValues.sources).map(({ signature }) => signature));
  return read;
}

/** Undefined when a value is missing or wrong, or a default has to be taken. */
function coerceAll(signatures: readonly Signature[], given: Readonly<Record<string, unknown>>): VariableValues | undefined {
  const sources: Record<string, VariableValues['sources'][string]> = { __proto__: null } as never;
  const coerced: Record<string, unknown> = { __proto__: null } as never;
  for (const signature of signatures) {
    const { name, type } = signature;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (signature.default !== undefined || isNonNullType(type)) return undefined;
      sources[name] = { signature };
      continue;
    }
    const taken = coercerOf(type)(value);
    if (taken === undefined) return undefined;
    sources[name] = { signature, value };
    coerced[name] = taken;
  }
  return { sources, coerced };
}
