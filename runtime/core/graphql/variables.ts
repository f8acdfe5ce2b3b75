import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromASTUntyped,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { Constraint } from '@twofold/schema';
import { problemsOf } from './input-types.ts';
import { hasCallersOrder, restoreOrder } from './caller-order.ts';
import { INPUT_VALUES, inputSize, tooLarge, ownMembers } from './input-size.ts';

type Given = Readonly<Record<string, unknown>>;
export type ReadVariables = ReturnType<typeof getVariableValues>;

/** More errors than this would not help a caller. */
const MAX_ERRORS = 20;

/** What is needed to check variables. */
interface Checking {
  readonly schema: GraphQLSchema;
  /** Constraints by field: `NewPost.title`. */
  readonly constraints?: Readonly<Record<string, Constraint>> | undefined;
}

const NO_VARIABLES: ReadVariables = { variableValues: { sources: {}, coerced: {} } };

/** The variables of a request as graphql-js coerces them, or their errors. */
export function readVariables(
  checking: Checking,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Given,
): ReadVariables {
  if (variableDefinitions.length === 0) return NO_VARIABLES;
  const { schema } = checking;
  const given = ownMembers(schema, variables);
  const over = findTooLarge(schema, variableDefinitions, given);
  if (over) return { errors: [over] };
  const read = getVariableValues(schema, variableDefinitions, given, {
    maxErrors: MAX_ERRORS,
    hideSuggestions: true,
  });
  if (read.errors)
    return { errors: withProblems(checking, variableDefinitions, given, read.errors) };
  for (const definition of variableDefinitions) keepOrder(definition, given, read.variableValues);
  return read;
}

/** Writes all problems of the variables into the first error, as errors of `@constraint` do. */
function withProblems(
  { schema, constraints }: Checking,
  definitions: readonly VariableDefinitionNode[],
  given: Given,
  [first, ...others]: readonly GraphQLError[],
): GraphQLError[] {
  if (!first) return [];
  const problems = definitions.flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && defaultValue) return [];
    return problemsOf(typeFromAST(schema, type) as GraphQLInputType, value, name, constraints);
  });
  const [problem] = problems;
  if (!problem) return [first, ...others];
  const extensions = {
    code: 'BAD_USER_INPUT',
    field: problem.field,
    errors: problems.slice(0, MAX_ERRORS),
  };
  const { message, nodes = null } = first;
  return [new GraphQLError(message, { nodes, extensions }), ...others];
}

function findTooLarge(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Given,
): GraphQLError | undefined {
  let counted = 0;
  for (const node of definitions) {
    const name = node.variable.name.value;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof value !== 'object' || value === null) continue;
    counted = inputSize(value, typeFromAST(schema, node.type) as GraphQLInputType, counted);
    if (counted > INPUT_VALUES)
      return new GraphQLError(tooLarge(`Variable "$${name}"`), {
        nodes: node,
        extensions: { code: 'BAD_USER_INPUT', value: counted, limit: INPUT_VALUES },
      });
  }
  return undefined;
}

function keepOrder(
  { variable, defaultValue }: VariableDefinitionNode,
  given: Given,
  { sources, coerced }: VariableValues,
): void {
  const name = variable.name.value;
  const source = sources[name];
  if (!source || !hasCallersOrder(source.signature.type) || !(name in coerced)) return;
  const written =
    'value' in source ? given[name] : defaultValue && valueFromASTUntyped(defaultValue);
  (coerced as Record<string, unknown>)[name] = restoreOrder(coerced[name], written);
}
