import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/**
 * A definition in which every selection but an operation's root has `__typename`, as caches add it
 * before they send a document: so theirs is the same text, with the same hash.
 */
export function withTypenames<Node extends OperationDefinitionNode | FragmentDefinitionNode>(
  definition: Node,
): Node {
  return visit(definition, {
    SelectionSet: (node, _key, parent) =>
      isOperation(parent) || hasMeta(node)
        ? undefined
        : { ...node, selections: [...node.selections, TYPENAME] },
  }) as Node;
}

const isOperation = (parent: unknown) =>
  (parent as { readonly kind?: string } | undefined)?.kind === Kind.OPERATION_DEFINITION;

/** Whether a selection has `__typename` already, or belongs to introspection. */
const hasMeta = ({ selections }: SelectionSetNode) =>
  selections.some((each) => each.kind === Kind.FIELD && each.name.value.startsWith('__'));
