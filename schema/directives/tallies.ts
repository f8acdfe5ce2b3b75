import type { ConstDirectiveNode, ConstValueNode } from 'graphql';
import { type Arguments, text } from './arguments.ts';

/** Directives for fields that count related rows, or say whether there are any. */
export const tallyDirectives = `"""
How many related rows there are, as far as the caller may see them. No column; read-only.

    approvedCount: Int! @count(relation: "comments", where: { approved: true })
"""
directive @count(
  "The field of this type that leads to the rows."
  relation: String!
  "A filter over the related type: its fields, keys and relations, with and, or, not. CALLER is the id of the signed-in user."
  where: TwofoldValue
) on FIELD_DEFINITION

"""
Whether there is a related row that the caller may see. No column; read-only.

    favorited: Boolean! @exists(relation: "favoritedBy", where: { id: CALLER })
"""
directive @exists(
  "The field of this type that leads to the rows."
  relation: String!
  "A filter over the related type: its fields, keys and relations, with and, or, not. CALLER is the id of the signed-in user."
  where: TwofoldValue
) on FIELD_DEFINITION
`;

export interface TallyUse {
  readonly relation: string;
  readonly where?: ConstValueNode;
  readonly node: ConstDirectiveNode;
}

/** The values of `@count` or `@exists`. */
export function tally(args: Arguments, node: ConstDirectiveNode): TallyUse {
  const where = node.arguments?.find(({ name }) => name.value === 'where')?.value;
  return { relation: text(args, 'relation') ?? '', ...(where && { where }), node };
}
