import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { coercerOf } from './input-coercer.ts';
import { findFaults } from './input-faults.ts';

type Signature = VariableValues['sources'][string]['signature'];
type Given = Readonly<Record<string, unknown>>;
export type ReadVariables = ReturnType<typeof getVariableValues>;

/** One variable of an operation, with what does not change from request to request. */
interface Definition {
  readonly node: VariableDefinitionNode;
  readonly signature: Signature;
}

/** Kept as long as the operation. */
const DEFINITIONS = new WeakMap<OperationDefinitionNode, readonly Definition[]>();

/** Nothing is added to it: whoever has it has it with everybody else. */
const NONE: ReadVariables = {
  variableValues: Object.freeze({
    sources: Object.freeze({ __proto__: null }),
    coerced: Object.freeze({ __proto__: null }),
  }) as never,
};

/** Whoever sends more mistakes than these at once is not helped by the rest. */
const ERRORS = 20;

/**
 * The variables of a request as graphql-js reads them, or what it says is wrong with them. It looks at the definitions and
 * their types anew for every request; here that is done once for a document.
 */
export function readVariables(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
  given: Given,
): ReadVariables {
  if (!node.variableDefinitions?.length) return NONE;
  const definitions = DEFINITIONS.get(node) ?? defined(schema, node, node.variableDefinitions);
  const variableValues = coerceAll(schema, definitions, given);
  if (variableValues) return { variableValues };
  const errors = faultsOf(definitions, given);
  return errors.length > 0 ? { errors } : byGraphqlJs(schema, node.variableDefinitions, given);
}

/** The document was validated: every type is there, and one of values. */
function defined(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  nodes: readonly VariableDefinitionNode[],
): readonly Definition[] {
  const definitions = nodes.map((node) => {
    const signature: Signature = {
      name: node.variable.name.value,
      type: typeFromAST(schema, node.type) as GraphQLInputType,
      default: node.defaultValue && { literal: node.defaultValue },
    };
    return { node, signature };
  });
  DEFINITIONS.set(operation, definitions);
  return definitions;
}

const byGraphqlJs = (
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Given,
) => getVariableValues(schema, definitions, given, { maxErrors: ERRORS, hideSuggestions: true });

const valueOf = (given: Given, name: string) =>
  Object.hasOwn(given, name) ? given[name] : undefined;

/** Undefined when a value is missing or wrong. */
function coerceAll(
  schema: GraphQLSchema,
  definitions: readonly Definition[],
  given: Given,
): VariableValues | undefined {
  const sources: Record<string, VariableValues['sources'][string]> = { __proto__: null } as never;
  const coerced: Record<string, unknown> = { __proto__: null } as never;
  for (const { node, signature } of definitions) {
    const { name, type } = signature;
    const value = valueOf(given, name);
    if (value !== undefined) {
      const taken = coercerOf(type)(value);
      if (taken === undefined) return undefined;
      sources[name] = { signature, value };
      coerced[name] = taken;
    } else if (signature.default !== undefined) {
      const { variableValues } = byGraphqlJs(schema, [node], {});
      if (!variableValues) return undefined;
      sources[name] = { signature };
      if (name in variableValues.coerced) coerced[name] = variableValues.coerced[name];
    } else if (isNonNullType(type)) return undefined;
    else sources[name] = { signature };
  }
  return { sources, coerced };
}

function faultsOf(definitions: readonly Definition[], given: Given): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const add = (error: GraphQLError) => {
    if (errors.length >= ERRORS)
      throw new GraphQLError(
        'Too many errors processing variables, error limit reached. Execution aborted.',
      );
    errors.push(error);
  };
  try {
    for (const { node, signature } of definitions) {
      const value = valueOf(given, signature.name);
      if (value === undefined && signature.default !== undefined) continue;
      findFaults(value, signature.type, (error, at) =>
        add(
          new GraphQLError(
            `Variable "$${signature.name}" has invalid value${printKeys(at)}: ${error.message}`,
            { nodes: node, originalError: error },
          ),
        ),
      );
    }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    errors.push(error);
  }
  return errors;
}

const printKeys = (keys: readonly (string | number)[]) =>
  keys.length === 0
    ? ''
    : ` at ${keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
