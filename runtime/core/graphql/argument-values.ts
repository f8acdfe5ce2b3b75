import {
  type FieldNode,
  getArgumentValues,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  valueFromASTUntyped,
  type VariableValues,
} from 'graphql';
import { hasCallersOrder, restoreOrder } from './caller-order.ts';
import { isGraphqlError } from './errors.ts';

type Arguments = Record<string, unknown>;

/**
 * The arguments of one field of a document as graphql-js reads them, with the members of an order
 * as the caller wrote them.
 *
 * @throws GraphQLError with the code `BAD_USER_INPUT`.
 */
export function argumentValues(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: VariableValues,
): Arguments {
  if (definition.args.length === 0) return {};
  try {
    const values = getArgumentValues(definition, node, variables, undefined, true);
    for (const argument of definition.args)
      if (hasCallersOrder(argument.type)) keepOrder(values, argument, node, variables);
    return values;
  } catch (thrown) {
    throw asInputError(thrown);
  }
}

function keepOrder(
  values: Arguments,
  { name, default: otherwise }: GraphQLArgument,
  node: FieldNode,
  { coerced }: VariableValues,
): void {
  const given = node.arguments?.find((argument) => argument.name.value === name);
  const literal = given?.value ?? otherwise?.literal;
  if (literal && name in values)
    values[name] = restoreOrder(values[name], valueFromASTUntyped(literal, coerced));
}

/**
 * graphql-js does not tell who caused the error. Here it is always the caller, by a wrong argument.
 */
function asInputError(thrown: unknown): unknown {
  if (!isGraphqlError(thrown) || thrown.extensions['code'] !== undefined) return thrown;
  const { message, nodes } = thrown;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { code: 'BAD_USER_INPUT' },
  });
}
