import { texts, type Arguments } from './arguments.ts';
import type { ConstDirectiveNode } from 'graphql';

/** The operations that can be added for a type, in the order of the API. */
export const CRUD_OPERATIONS = [
  ...(['GET', 'LIST', 'CONNECTION', 'AGGREGATE', 'GROUP'] as const),
  ...(['CREATE', 'UPDATE', 'DELETE', 'UPSERT'] as const),
  ...(['CREATE_MANY', 'UPDATE_MANY', 'DELETE_MANY'] as const),
] as const;

export type CrudOperation = (typeof CRUD_OPERATIONS)[number];

/** The directive that has operations written for one type. */
export const crudDirective = `"""
Writes the operations of a type, with their inputs, to src/generated/crud.graphql. What your schema declares is not written again.

    type Post @crud(operations: [GET, LIST, CREATE]) { id: ID! title: String! }
"""
directive @crud(
  "Which ones. Absent: GET LIST CONNECTION AGGREGATE CREATE UPDATE DELETE, or what api.crud lists. []: none, although api.crud is on."
  operations: [TwofoldCrud!]
) on OBJECT

"An operation that is written for a type."
enum TwofoldCrud {
${CRUD_OPERATIONS.map((name) => `  ${name}`).join('\n')}
}
`;

/** The values of `@crud`. */
export function crud(args: Arguments, node: ConstDirectiveNode) {
  const operations = texts(args, 'operations') as readonly CrudOperation[] | undefined;
  return { ...(operations && { operations }), node };
}
