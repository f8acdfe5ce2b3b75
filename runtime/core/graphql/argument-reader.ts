import {
  type ConstValueNode,
  type FieldNode,
  getArgumentValues,
  getNamedType,
  GraphQLError,
  type GraphQLField,
  isRequiredArgument,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import { isGraphqlError } from './errors.ts';
import { hasCallersOrder, inOrder } from './input-coercer.ts';

export type Arguments = Record<string, unknown>;

/** The arguments of one field of a document, for the variables of a request. @throws GraphQLError */
export type ArgumentReader = (variables: VariableValues) => Arguments;

/** One argument: a constant, or the variable that holds it. */
type Slot =
  | { readonly name: string; readonly variable: string; readonly required: boolean }
  | { readonly name: string; readonly value: unknown };

/**
 * Reads arguments as graphql-js does, which compares the document with the definition for every object. Where each of them is
 * a variable or a plain constant, that is done once; everything else, and whatever is wrong, is graphql-js's.
 */
export function createArgumentReader(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ArgumentReader {
  const ordered = orderedArguments(definition, node);
  const read: ArgumentReader = (variables) => {
    try {
      const values = getArgumentValues(definition, node, variables, undefined, true);
      for (const { name, value } of ordered) values[name] = asWritten(values[name], value);
      return values;
    } catch (thrown) {
      throw asInputError(thrown);
    }
  };
  if (definition.args.length === 0) return () => ({});
  if ((node.arguments ?? []).some(({ value }) => isComposed(value))) return read;
  let slots: readonly Slot[] | null | undefined;
  return (variables) => {
    const known = slots && fill(slots, variables);
    if (known) return known;
    const values = read(variables);
    if (slots === undefined) slots = slotsOf(definition, node, values);
    return values;
  };
}

/** Arguments whose members have an order that counts, with what the document, or else the schema, gives them. */
function orderedArguments(definition: GraphQLField<unknown, unknown>, node: FieldNode) {
  return definition.args.flatMap(({ name, type, default: otherwise }) => {
    if (!hasCallersOrder(getNamedType(type))) return [];
    const given = node.arguments?.find((argument) => argument.name.value === name);
    const value = given?.value ?? otherwise?.literal;
    return value && isComposed(value) ? [{ name, value }] : [];
  });
}

/** What graphql-js made of a literal, in the order of the literal. */
function asWritten(value: unknown, literal: ConstValueNode | ValueNode): unknown {
  if (literal.kind === 'ListValue' && Array.isArray(value))
    return value.map((item, index) => asWritten(item, literal.values[index] as ValueNode));
  if (literal.kind !== 'ObjectValue') return value;
  // A single object in the place of a list is a list of one.
  if (Array.isArray(value)) return value.map((item) => asWritten(item, literal));
  return inOrder(
    value,
    literal.fields.map(({ name }) => name.value),
  );
}

/** graphql-js says nothing of whose mistake it is: an argument is the caller's. */
function asInputError(thrown: unknown): unknown {
  if (!isGraphqlError(thrown) || thrown.extensions['code'] !== undefined) return thrown;
  const { message, nodes } = thrown;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { code: 'BAD_USER_INPUT' },
  });
}

/** It may hold variables, or user code may change it: it is made anew each time. */
const isComposed = ({ kind }: ValueNode) => kind === 'ListValue' || kind === 'ObjectValue';

/** `values` are what graphql-js made of one set of variables; null where a default is an object. */
function slotsOf(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: Arguments,
): readonly Slot[] | null {
  const given = new Map((node.arguments ?? []).map(({ name, value }) => [name.value, value]));
  const slots: Slot[] = [];
  for (const argument of definition.args) {
    const { name } = argument;
    const value = given.get(name);
    const hasDefault = argument.default !== undefined;
    if (value?.kind === 'Variable')
      slots.push({
        name,
        variable: value.name.value,
        required:
          hasDefault || isRequiredArgument(argument) || argument.type.toString().endsWith('!'),
      });
    else if (typeof values[name] === 'object' && values[name] !== null) return null;
    else if (name in values) slots.push({ name, value: values[name] });
  }
  return slots;
}

/** Undefined when a variable is not there, or null, and that matters. */
function fill(slots: readonly Slot[], { coerced }: VariableValues): Arguments | undefined {
  const values: Arguments = { __proto__: null } as never;
  for (const slot of slots) {
    if ('value' in slot) values[slot.name] = slot.value;
    else {
      const value = coerced[slot.variable];
      if (slot.required && (value === undefined || value === null)) return undefined;
      if (value !== undefined || slot.variable in coerced) values[slot.name] = value;
    }
  }
  return values;
}
