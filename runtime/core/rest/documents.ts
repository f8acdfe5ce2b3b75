import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { PreparedOperation } from '../graphql/document-cache.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';

/**
 * Prepares our own operations by their text, so that plans and statements are made once for each
 * form of request.
 */
export type Documents = (text: string) => PreparedOperation;

/**
 * A client that varies `fields` makes many operations. Their plans weigh more than their texts, so
 * only the number is limited.
 */
const MAX_DOCUMENTS = 500;

export function createDocuments(entries = MAX_DOCUMENTS): Documents {
  const kept = createBoundedCache<PreparedOperation>({ entries, bytes: Infinity });
  return (text) => {
    const known = kept.get(text);
    if (known) return known;
    const prepared = prepare(text);
    kept.set(text, prepared, text.length);
    return prepared;
  };
}

/** Skips validation, because we wrote the text. */
function prepare(text: string): PreparedOperation {
  const document = parse(text, { noLocation: false });
  const node = document.definitions.find(
    (definition): definition is OperationDefinitionNode =>
      definition.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  return { document, node, fragments: new Map(), conditions: [], plans: new Map() };
}
