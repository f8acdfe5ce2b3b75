import { Kind, valueFromASTUntyped } from 'graphql';
import type { ConstDirectiveNode, ConstValueNode } from 'graphql';
import { type Arguments, text } from './arguments.ts';

/** Directives for fields that count related rows, or say whether there are any. */
export const aggregateDirectives = `"""
How many related rows there are, as far as the caller may see them. No column; read-only.

    approvedCount: Int! @count(relation: "comments", where: { approved: true })
"""
directive @count(
  "The field of this type that leads to the rows."
  relation: String!
  "A filter over the fields and keys of the related type. CALLER is the id of the signed-in user."
  where: TwofoldValue
) on FIELD_DEFINITION

"""
Whether there is a related row that the caller may see. No column; read-only.

    favorited: Boolean! @exists(relation: "favoritedBy", where: { id: CALLER })
"""
directive @exists(
  "The field of this type that leads to the rows."
  relation: String!
  "A filter over the fields and keys of the related type. CALLER is the id of the signed-in user."
  where: TwofoldValue
) on FIELD_DEFINITION
`;

/** Stands for the id of the signed-in user. No other value of a filter is this object. */
export const CALLER = Object.freeze({ caller: true });

export interface AggregateUse {
  readonly relation: string;
  /** Filter words by name; a plain value means `eq`. */
  readonly where: Readonly<Record<string, unknown>>;
  readonly node: ConstDirectiveNode;
}

/** The values of `@count` or `@exists`. */
export function aggregate(args: Arguments, node: ConstDirectiveNode): AggregateUse {
  const where = node.arguments?.find(({ name }) => name.value === 'where')?.value;
  const value = where && constant(where);
  return {
    relation: text(args, 'relation') ?? '',
    where: isObject(value) ? value : {},
    node,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function constant(node: ConstValueNode): unknown {
  if (node.kind === Kind.ENUM && node.value === 'CALLER') return CALLER;
  if (node.kind === Kind.LIST) return node.values.map(constant);
  if (node.kind === Kind.OBJECT)
    return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, constant(value)]));
  return valueFromASTUntyped(node);
}
