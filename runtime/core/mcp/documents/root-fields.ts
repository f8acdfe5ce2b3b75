import { type FieldNode, Kind, type SelectionSetNode } from 'graphql';
import type { PreparedOperation } from '../../graphql/document-cache.ts';

/** The root fields of an operation, also those in fragments. */
export function rootFieldsOf(operation: PreparedOperation): readonly FieldNode[] {
  return [...fieldsIn(operation.node.selectionSet, operation)];
}

function* fieldsIn(
  { selections }: SelectionSetNode,
  operation: PreparedOperation,
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      yield* fieldsIn(selection.selectionSet, operation);
    else {
      const fragment = operation.fragments.get(selection.name.value);
      if (fragment) yield* fieldsIn(fragment.selectionSet, operation);
    }
  }
}
